"""The op at hand, in one call: its symbols, its forward and its formulas as trees."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError, UsageError
from gradcheck.explain import tree as trees
from gradcheck.explain.code import tensorflow_code
from gradcheck.explain.setting import Setting
from gradcheck.explain.translate import Value, tensor
from gradcheck.ops.declaration import Kind
from gradcheck.ops.rules import broadcast_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.explain.style import Style
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Op

__all__ = ["Subject", "is_elementwise", "make_call"]

_TRIED: tuple[Shape, ...] = ((3,), (2, 3), (3, 3), (2, 3, 3), ())


def is_elementwise(op: Op) -> bool:
    """Whether each element of the output depends on one element of each input."""
    return op.shape is broadcast_call


def make_call(op: Op, shapes: Mapping[str, Shape], args: Mapping[str, Any]) -> Call:
    """The call that was asked for, completed with the op's example; UsageError says what lacks."""
    known = {*op.args, *op.required}
    for name in args:
        if name not in known:
            raise UsageError(f"{op.name} has no argument {name!r}: {_those(known)}")
    example = op.example
    if not op.variadic:
        inputs = [parameter.name for parameter in op.inputs]
        for name in shapes:
            if name not in inputs:
                raise UsageError(
                    f"{op.name} has no input {name!r}: its inputs are {', '.join(inputs)}"
                )
        shapes = _completed(op, shapes, args)
    elif not shapes and example is not None:
        shapes = _variadic_shapes(args) or example.shapes
    given = {**(example.args if example and not set(args) & set(op.required) else {}), **args}
    missing = [name for name in op.required if name not in given]
    if missing:
        raise UsageError(f"{op.name} needs --arg {missing[0]}=…")
    call = op.call(shapes, {name: given[name] for name in given if name in known})
    op.shape(call)
    return call


def _those(names: set[str]) -> str:
    return f"there are {', '.join(sorted(names))}" if names else "it takes none"


def _completed(op: Op, shapes: Mapping[str, Shape], args: Mapping[str, Any]) -> Mapping[str, Shape]:
    """A shape for every input: as given, as in the example, or one that fits."""
    names = [p.name for p in op.inputs if not p.optional or p.name in shapes]
    if all(name in shapes for name in names):
        return {name: shapes[name] for name in names}
    candidates: list[dict[str, Shape]] = []
    if op.example is not None:
        candidates.append({**op.example.shapes, **shapes})
        # An argument such as transpose_b asks for the example turned.
        candidates += _turned({**op.example.shapes, **shapes}, shapes)
    candidates += [{name: shapes.get(name, shape) for name in names} for shape in _TRIED]
    given = {**(op.example.args if op.example else {}), **args}
    failure: Exception | None = None
    for candidate in candidates:
        try:
            op.shape(op.call({n: candidate[n] for n in names if n in candidate}, given))
        except (ShapeError, KeyError, TypeError, ValueError, IndexError) as error:
            failure = failure or error
            continue
        return {n: candidate[n] for n in names if n in candidate}
    if shapes:
        lacking = [name for name in names if name not in shapes]
        raise UsageError(f"{failure}; give --shape {lacking[0]}=… too")
    raise UsageError(f"{op.name}: {failure}; give the shapes with --shape")


def _turned(shapes: dict[str, Shape], fixed: Mapping[str, Shape]) -> list[dict[str, Shape]]:
    """The same shapes with the last two axes of some swapped."""
    free = [n for n, s in shapes.items() if n not in fixed and len(s) >= 2]
    found = []
    for mask in range(1, 2 ** min(len(free), 3)):
        chosen = {n for i, n in enumerate(free) if mask >> i & 1}
        found.append({n: (*s[:-2], s[-1], s[-2]) if n in chosen else s for n, s in shapes.items()})
    return found


def _variadic_shapes(args: Mapping[str, Any]) -> dict[str, Shape]:
    """For an einsum: an input per term, its sizes by letter."""
    equation = args.get("equation")
    if not isinstance(equation, str):
        return {}
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    sizes = {
        letter: 2 + i for i, letter in enumerate(dict.fromkeys(re.sub(r"[^A-Za-z]", "", equation)))
    }
    names = "abcdefgh"
    if len(terms) > len(names):
        raise UsageError("give the inputs with --shape: the equation has too many to name")
    shapes = {}
    for name, term in zip(names, terms, strict=False):
        # An ellipsis is shown with one batch axis.
        plain = term.replace("...", ".")
        shapes[name] = tuple(2 if letter == "." else sizes[letter] for letter in plain)
    return shapes


@dataclass(frozen=True)
class Subject:
    """One op in one call."""

    op: Op
    call: Call

    @property
    def differentiable(self) -> tuple[str, ...]:
        """The inputs that have a gradient."""
        kinds = {parameter.name: parameter.kind for parameter in self.op.inputs}
        return tuple(n for n in self.call.shapes if kinds.get(n, Kind.REAL) is Kind.REAL)

    @cached_property
    def shape(self) -> Any:
        """The shape of the output, or a list of shapes of several."""
        return self.op.output_shapes(self.call) if self.op.outputs else self.op.shape(self.call)

    @cached_property
    def symbols(self) -> dict[str, str]:
        """How each name is written."""
        op = self.op
        match = re.match(r"(\w) = ", op.summary)
        found = {"out": match[1] if match else "y", "G": "G", **op.symbols}
        for i, name in enumerate(op.output_names(self.call)):
            found[f"out[{i}]"], found[f"G[{i}]"] = name, f"G_{name}"
            found[f"dout[{i}]"] = f"d{name}"
        names = list(self.call.shapes)
        for name in names:
            if name not in found:
                taken = {*found.values()}
                short = (
                    "x" if len(self.differentiable) == 1 and name in self.differentiable else name
                )
                found[name] = name if len(name) == 1 or short in taken else short
        return found

    @property
    def loss(self) -> str:
        """The letter of the loss: L, unless the op has an L of its own."""
        return "ℓ" if "L" in self.symbols.values() else "L"

    def setting(self, style: Style) -> Setting:
        """Sets formulas of this op."""
        scalars = {n for n in self.call.args if n not in self.call.shapes}
        return Setting(style, self.symbols, frozenset(scalars), self.loss)

    def tree(self, text: str) -> ast.expr:
        """A formula of this call, for real inputs: arguments by their values."""
        return trees.real(self.complex_tree(text))

    def complex_tree(self, text: str) -> ast.expr:
        """A formula of this call as it is declared."""
        args = {k: v for k, v in self.call.args.items() if k not in self.call.shapes}
        return trees.substitute(trees.read(text), args)

    @cached_property
    def forward(self) -> ast.expr | None:
        """What the op computes; None where the language has no words."""
        text = self.op.forward_text(self.call)
        return self.tree(text) if text else None

    @cached_property
    def gradients(self) -> dict[str, ast.expr]:
        """By input: the formula for real inputs, not yet summed where the input was broadcast."""
        formulas = self.op.formulas(self.call)
        return {name: self.tree(formulas[name]) for name in self.differentiable if name in formulas}

    @cached_property
    def printed(self) -> dict[str, ast.expr]:
        """By input: the gradient of this very call, of the input's own shape."""
        return {name: self._summed_back(name, tree) for name, tree in self.gradients.items()}

    @cached_property
    def complex_gradients(self) -> dict[str, ast.expr]:
        """By input: the gradient where it differs for complex inputs."""
        formulas = self.op.formulas(self.call)
        return {
            name: self._summed_back(name, tree)
            for name in self.gradients
            if trees.text_of(tree := self.complex_tree(formulas[name]))
            != trees.text_of(self.gradients[name])
        }

    def _summed_back(self, name: str, gradient: ast.expr) -> ast.expr:
        """The formula, with the sum over the axes along which this very input was broadcast."""
        shape, out = self.call.shapes[name], tuple(self.shape)
        if is_elementwise(self.op) or self.op.name == "where":
            full = out
        elif self.op.name == "matmul":
            full = (*out[:-2], *shape[-2:])
        elif self.op.name == "matvec":
            full = (*out[:-1], *shape[-2 if name == "a" else -1 :])
        else:
            return gradient
        added = len(full) - len(shape)
        if added:
            axes = list(range(added))
            gradient = trees.call("sum", gradient, trees.read(repr(axes if added > 1 else 0)))
        stretched = [i for i, size in enumerate(shape) if size != full[added + i]]
        if stretched:
            axis = trees.read(repr(stretched if len(stretched) > 1 else stretched[0]))
            gradient = trees.call("sum", gradient, axis, trees.read("True"))
        return gradient

    @cached_property
    def tangent(self) -> ast.expr | None:
        """How the output changes with the inputs: declared, or generated."""
        declared = self.op.tangent_text(self.call)
        if declared:
            return self.tree(declared)
        if is_elementwise(self.op):
            parts = [
                trees.substitute(gradient, {"G": ast.Name(f"d{name}")})
                for name, gradient in self.gradients.items()
            ]
        elif self.forward is not None and self.op.family in (
            "array",
            "joining",
            "linalg",
            "reduce",
            "nn",
        ):
            if not self.is_linear:
                return None
            parts = [
                trees.substitute(self.forward, {name: ast.Name(f"d{name}")})
                for name in self.differentiable
            ]
            if self.op.variadic and self.op.name != "einsum":
                changes = {name: ast.Name(f"d{name}") for name in self.differentiable}
                parts = [trees.substitute(self.forward, changes)]
        else:
            return None
        total = parts[0]
        for part in parts[1:]:
            total = ast.BinOp(total, ast.Add(), part)
        return total

    @property
    def is_linear(self) -> bool:
        """Whether the output is linear in each input by itself: its differential follows."""
        bending = {
            "exp", "log", "sqrt", "square", "max", "min", "prod", "inv", "solve", "det", "abs",
            "cholesky", "power", "maximum", "minimum", "one_hot_max", "cumprod", "lgamma",
        }  # fmt: skip
        if self.forward is None:
            return False
        for node in ast.walk(self.forward):
            if trees.called(node) in bending or isinstance(node, ast.Pow | ast.Div):
                return False
        shapes = {
            id(inner)
            for n in ast.walk(self.forward)
            if trees.called(n) in ("shape", "size")
            for inner in ast.walk(n)
        }
        uses = [
            n.id for n in ast.walk(self.forward) if isinstance(n, ast.Name) and id(n) not in shapes
        ]
        return (
            all(uses.count(name) == 1 for name in self.differentiable) or self.op.name == "cumsum"
        )

    def code(self, name: str) -> str:
        """The gradient of an input as a line of TensorFlow; UnknownCode where there is none."""
        declared = self.op.codes(self.call)
        shapes = dict(self.call.shapes)
        if not self.op.outputs:
            shapes |= {"G": self.shape, "out": self.shape}
        return declared[name] if name in declared else tensorflow_code(self.printed[name], shapes)

    def known(self) -> dict[str, Value | Any]:
        """The names of formulas for the calculus."""
        arrays = {name: tensor(name, shape) for name, shape in self.call.shapes.items()}
        if self.op.outputs:
            return {**self.call.args, **arrays}
        upstream = {"G": tensor("G", self.shape), "out": tensor("out", self.shape)}
        return {**self.call.args, **arrays, **upstream}
