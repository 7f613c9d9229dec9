"""Expressions that a user may type, right and wrong ones, and options for `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.spec.expression import allowlist

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

_NAMES = ("x", "y", "z", "G", "out", "pi", "e", "tf", "undefined")
_CONSTANTS = (
    "0", "1", "-1", "2", "3", "0.5", "1e-300", "1e300", "1e400", "10000000", "9" * 30, "9" * 400,
    "True", "None", "'x'", "[]", "[1]", "[1, 2, 3]", "[[1, 2], [3]]", "()", "(1,)", "...", "1j",
    "tf.newaxis", "float('nan')", "b'x'",
)  # fmt: skip
_OPERATORS = ("+", "-", "*", "/", "**", "@", "%", "//", "<", ">=", "==", "&", "|", "and", "<<")
_ARGUMENTS = (
    "axis", "keepdims", "name", "perm", "shift", "shape", "paddings", "values", "equation",
    "transpose_a", "transpose_b", "adjoint_a", "exclusive", "reverse", "k", "indices", "depth",
    "num_or_size_splits", "nothing",
)  # fmt: skip
_SHAPES = ("", "1", "2", "3", "2,3", "3,3", "2,3,4", "0", "3,0", "1,1,1,1,1,1,1,1", "1000000", "-1",
           "99999999999", "x", "3,,3", "9" * 400)  # fmt: skip
_VALUES = (
    "1", "[1, 2, 3]", "[[1, 2, 3], [4, 5, 6], [7, 8, 9]]", "[]", "[[1], [2, 3]]", "nan", "1e400",
    "'x'", "None",
    "[" * 50 + "]" * 50, "[" * 2000 + "]" * 2000, "9" * 5000, "{1: 2}", "[1, 2", "--1", "1+1j",
)  # fmt: skip

_OPS = ops.all_ops()
_OTHERS = sorted(allowlist.CALLABLE)
_TAME = ("1", "2", "0.5", "-1.5", "3")
_TAME_OPERATORS = ("+", "-", "*", "/", "*", "@", "<", "**")
_TAME_VALUES = ("0", "1", "-1", "2", "[0]", "[1, 0]", "True", "False", "None", "[[0, 1], [1, 0]]")


class Expressions:
    """Makes expressions; `wild` is how often something stands where it makes no sense."""

    def __init__(self, random: Random, wild: float) -> None:
        self._random = random
        self._wild = wild

    def any(self, depth: int = 4) -> str:
        """An expression."""
        random, kind = self._random, self._random.random()
        if depth == 0 or kind < 0.12:
            return random.choice(self._mostly("xyxyx", (*_NAMES, *_CONSTANTS)))
        if kind < 0.2:
            return random.choice(self._mostly(_TAME, _CONSTANTS))
        if kind < 0.4:
            operator = random.choice(self._mostly(_TAME_OPERATORS, _OPERATORS))
            return f"({self.any(depth - 1)} {operator} {self.any(depth - 1)})"
        if kind < 0.45:
            return f"{random.choice(self._mostly('-', '-+~'))}{self.any(depth - 1)}"
        if kind < 0.5:
            indices = self._mostly(
                ("0", "-1", ":", "::2", "..., 0", "None"), ("99", "x", "'a'", "1:0", "")
            )
            return f"{self.any(depth - 1)}[{random.choice(indices)}]"
        if kind < 0.54:
            times = random.choice((2, 8, 28, 60))
            functions = ("tf.square", "tf.exp", "tf.sin", "tf.reduce_sum", "tf.transpose")
            return f"{random.choice(functions)}(" * times + self.any(1) + ")" * times
        if kind < 0.6:
            powers = ("2", "0.5", "-1", "3", "100", "10000000", "1e9", "y", "0.1", "12.3456789")
            return f"({self.any(depth - 1)}) ** {random.choice(powers)}"
        return self._call(depth)

    def _mostly(self, tame: Sequence[str], wild: Sequence[str]) -> Sequence[str]:
        return wild if self._random.random() < self._wild else tame

    def _call(self, depth: int) -> str:
        random, op = self._random, self._random.choice(_OPS)
        function, count = op.tf, len(op.inputs)
        if random.random() < self._wild:
            function = random.choice(_OTHERS)
            count = random.choice((0, 1, 2, 3, 5))
        given = [self.any(depth - 1) for _ in range(count)]
        if op.variadic:
            given = [self.any(depth - 1) for _ in range(random.choice((1, 2, 3)))]
            equations = self._mostly(
                ("ij,jk->ik", "i,i", "ij->ji", "ij,ij->i"), ("ii", "...i", "", "é")
            )
            listed = [f"[{', '.join(given)}]"]
            given = [repr(random.choice(equations)), *given] if op.name == "einsum" else listed
        named = [*op.required, *(a for a in op.args if random.random() < 0.3)]
        if random.random() < self._wild:
            named.append(random.choice(_ARGUMENTS))
        example = op.example.args if op.example else {}
        for name in named:
            value = random.choice(self._mostly(_TAME_VALUES, _CONSTANTS))
            if name in example and random.random() < 0.7:
                value = repr(example[name])
            given.append(f"{name}={value}")
        return f"{function}({', '.join(given)})"


def command(random: Random) -> list[str]:
    """A call of `gradcheck explain`."""
    wild = random.choice((0.0, 0.0, 0.02, 0.1, 0.4))
    if random.random() < 0.25:
        op = random.choice(_OPS)
        words = ["explain", op.name]
        for name in [*op.required, *op.args, *(_ARGUMENTS if random.random() < wild else ())]:
            if random.random() < 0.6:
                values = (*_TAME_VALUES, *_CONSTANTS) if random.random() < 0.5 else _TAME_VALUES
                words += ["--arg", f"{name}={random.choice(values)}"]
    else:
        words = ["explain", "--expr", Expressions(random, wild).any(random.choice((2, 3, 4)))]
    names = ("x", "y") if "--expr" in words else tuple(p.name for p in op.inputs)
    share = 1.0 if "--expr" in words else 0.3
    for name in names:
        shapes = ("3", "3,3", "") if random.random() >= wild else _SHAPES
        if random.random() < share:
            words += ["--shape", f"{name}={random.choice(shapes)}"]
        if random.random() < wild:
            words += ["--at", f"{name}={random.choice(_VALUES)}"]
        elif random.random() < 0.1:
            words += ["--at", f"{name}={random.choice(_VALUES[:3])}"]
    return [*words, "--format", random.choice(("text", "markdown", "latex", "json"))]
