"""A declared function of several ops that was called: one step, by its declaration.

That it is the call which the declaration describes is not taken from its name: the step has to give
the numbers that the function gave.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradcheck import ops
from gradcheck.errors import GradcheckError
from gradcheck.explainer import trees
from gradcheck.explainer.traced.op_texts import CONSTANT_OPS, PASSED_OPS
from gradcheck.explainer.traced.read_texts import NoRule, must

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.explainer.derive.read_graph import Reader
    from gradcheck.explainer.traced.called_functions import Called
    from gradcheck.explainer.traced.ran_ops import Ran, Watched
    from gradcheck.model import Array, Shape

__all__ = ["CompositeSteps"]

FEWEST_OPS = 2
"""A function that runs one op is that op."""
LARGEST_GIVEN = 1000
"""Elements of an argument that is written out: lengths, axes, permutations."""
ROUNDED = {"float64": 1e-9, "float32": 1e-4}
"""By precision: how far the step may be from the function, by the largest number."""


class _Page(Protocol):
    reader: Reader

    def x(self, tensor: Any, *, typed: bool = True) -> str:
        """A tensor as it is written."""

    def moves(self, tensor: Any) -> bool:
        """Whether it depends on the inputs."""

    def read(self, text: str, shape: Shape) -> ast.expr:
        """The steps of a text; NoRule where it has another shape."""

    def forget(self, count: int) -> None:
        """Take back the steps behind so many."""

    def known(self) -> Mapping[str, Array]:
        """By name on the page: its value."""


class CompositeSteps:
    """The calls that were seen, by the op with which each begins."""

    def __init__(self, page: _Page, watched: Watched) -> None:
        self.page, self.watched = page, watched
        self.at: dict[int, list[Called]] = {}
        places = [ran.place for ran in watched.ran if ran.kind not in PASSED_OPS | CONSTANT_OPS]
        for call in watched.calls:
            inside = [place for place in places if call.begin <= place < call.end]
            if len(inside) >= FEWEST_OPS:
                first = min(r.place for r in watched.ran if call.begin <= r.place < call.end)
                self.at.setdefault(first, []).append(call)
        for calls in self.at.values():
            calls.sort(key=lambda call: call.end, reverse=True)

    def step(self, ran: Ran) -> tuple[dict[int, ast.expr], int] | None:
        """What the outputs of a call are that begins here, and where it ends; None for none."""
        for call in self.at.get(ran.place, ()):
            before = len(self.page.reader.steps)
            try:
                return self._outputs(call), call.end
            except (NoRule, GradcheckError, ValueError, TypeError, IndexError, ArithmeticError):
                self.page.forget(before)
        return None

    def _outputs(self, call: Called) -> dict[int, ast.expr]:
        several = isinstance(call.returned, list | tuple)
        outputs: Sequence[Any] = call.returned if several else [call.returned]
        wanted = {i: out for i, out in enumerate(outputs) if id(out) in self.watched.needed}
        must(bool(wanted) and all(out.dtype.is_floating for out in wanted.values()))
        must(not self._escapes(call, {id(out) for out in wanted.values()}))
        text = self._text(call)
        found = {}
        for i, out in wanted.items():
            before = len(self.page.reader.steps)
            name = self.page.read(f"{text}[{i}]" if several else text, tuple(out.shape))
            must(isinstance(name, ast.Name) and self._gives(before, name.id, out))
            found[id(out)] = name
        return found

    def _escapes(self, call: Called, kept: set[int]) -> bool:
        """Whether something else than the outputs goes on from inside of it."""
        made = {id(o) for r in self.watched.ran if call.begin <= r.place < call.end
                for o in r.outputs}  # fmt: skip
        behind = {id(given) for r in self.watched.ran if r.place >= call.end for given in r.inputs}
        behind |= {id(out) for out in self.watched.outputs}
        return bool((made & behind) - kept)

    def _gives(self, before: int, name: str, out: Any) -> bool:
        """Whether the new steps give the numbers that the function gave."""
        known: dict[str, Any] = dict(self.page.known())
        with np.errstate(all="ignore"):
            for step in self.page.reader.steps[before:]:
                known[step.name] = trees.run(step.forward, known)
        wanted, found = np.asarray(out.numpy()), np.asarray(known[name])
        if not np.isfinite(wanted).all():
            return False
        largest = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
        rounds = ROUNDED.get(wanted.dtype.name, 1e-2)
        return bool(np.max(np.abs(found - wanted), initial=0.0) <= rounds * largest)

    def _text(self, call: Called) -> str:
        given, text = as_declared(call)
        op = ops.find(call.name) or ops.find_part(call.name, 0)
        must(op is not None)
        inputs = {parameter.name for parameter in op.inputs} if op is not None else set()
        parts = [
            f"{name}={self._input(value, text.get(name, str))}"
            if name in inputs
            else f"{name}={self._argument(value)}"
            for name, value in given.items()
        ]
        return f"{call.name}({', '.join(parts)})"

    def _input(self, value: Any, around: Callable[[str], str]) -> str:
        import tensorflow as tf

        tensor = value if isinstance(value, tf.Tensor) else tf.convert_to_tensor(value)
        must(not tensor.dtype.is_complex)
        return around(self.page.x(tensor))

    def _argument(self, value: Any) -> str:
        if value is None or isinstance(value, bool | int | float | str):
            return repr(value)
        must(not any(self.page.moves(each) for each in _leaves(value)))
        array = np.asarray(value)
        must(array.size <= LARGEST_GIVEN and array.dtype.kind in "iufb")
        return repr(array.tolist())


def _leaves(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def as_declared(call: Called) -> tuple[dict[str, Any], dict[str, Callable[[str], str]]]:
    """The arguments of a call in the words of the declaration, and what is put around inputs.

    A declaration has one layout for what a function takes in several.
    """
    given = dict(call.given)
    if given.get("logits_time_major") is False:
        del given["logits_time_major"]
        return given, {"logits": lambda text: f"tf.transpose({text}, [1, 0, 2])"}
    return given, {}
