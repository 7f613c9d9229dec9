"""What depends on the inputs by a way that no op shows: NumPy, `.numpy()`, what is kept in state.

To a tape such a number is a constant, and a page that took it for one would print a wrong formula.
The function is called once more, a little beside its point: what no op makes of the inputs, and is
another number there all the same, came of them in a way that has no derivative here.

Without it `test_what_numpy_computes_is_no_constant` fails.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import GradcheckError
from gradcheck.explainer.traced.ran_ops import watch

if TYPE_CHECKING:
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.traced.ran_ops import Watched
    from gradcheck.model import Array

__all__ = ["NO_NUMBERS", "OUTSIDE", "with_outside"]

MOVES = (2.0**-10, 2.0**-18)
"""By how much the inputs are moved; less where the first takes another branch."""
NO_NUMBERS = frozenset(["resource", "variant", "string"])
"""Dtypes of tensors that hold none."""
OUTSIDE = (
    "computed from the inputs outside of TensorFlow's ops (by NumPy, by Python, or kept in a "
    "variable)"
)


def with_outside(problem: Problem, watched: Watched) -> Watched:
    """The call, and which of its numbers come of the inputs by no op; as it is where none do."""
    for size in MOVES:
        try:
            moved = watch(problem, partial(_moved, size))
        except GradcheckError:
            continue  # it cannot be called there
        if _are_alike(watched, moved):
            break
    else:
        return watched
    changed = _changed(watched, moved)
    if not changed:
        return watched
    # (What differs between two calls at one point, as of a clock, need not come of the inputs.)
    again = watch(problem, lines=True)
    by_itself = _changed(again, watched) if _are_alike(watched, again) else {}
    lines = [ran.line for ran in again.ran]
    return replace(
        watched,
        outside={
            key: lines[place] if place < len(lines) else ""
            for key, place in changed.items()
            if place not in by_itself.values()
        },
    )


def _moved(size: float, operand: Operand) -> Array:
    value = operand.value
    if not operand.differentiate or value.dtype.kind not in "fc":
        return value
    if operand.structure not in ("", "general"):
        return np.asarray(value * value.dtype.type(1 + size))
    signs = np.where(np.arange(value.size) % 3, 1.0, -1.0).reshape(value.shape)
    scale = max(1.0, float(np.max(np.abs(value), initial=0.0)))
    found = value + (size * scale * signs).astype(value.dtype)
    return np.asarray(
        found if value.dtype.kind == "c" else np.clip(found, operand.low, operand.high)
    )


def _are_alike(one: Watched, other: Watched) -> bool:
    """Whether the same ops ran."""
    return [ran.kind for ran in one.ran] == [ran.kind for ran in other.ran]


def _changed(one: Watched, other: Watched) -> dict[int, int]:
    """What is another in the other call, though no op makes it of the inputs.

    By id of the tensor: the number of the op that it came with.
    """
    found: dict[int, int] = {}
    moving = {id(given) for given in one.given}
    known: set[int] = set()

    def look(ours: Any, theirs: Any, place: int) -> None:
        if id(ours) not in moving | known and _is_another(ours, theirs):
            found[id(ours)] = place
            moving.add(id(ours))
        known.add(id(ours))

    for place, (ran, same) in enumerate(zip(one.ran, other.ran, strict=True)):
        for pair in zip(ran.inputs, same.inputs, strict=True):
            look(*pair, place)
        if any(id(given) in moving for given in ran.inputs):
            moving |= {id(out) for out in ran.outputs}
        for pair in zip(ran.outputs, same.outputs, strict=True):
            look(*pair, place)
    for pair in zip(one.outputs, other.outputs, strict=False):
        look(*pair, len(one.ran))
    return found


def _is_another(ours: Any, theirs: Any) -> bool:
    if ours.dtype.name in NO_NUMBERS:
        return False
    return not np.array_equal(ours.numpy(), theirs.numpy(), equal_nan=ours.dtype.is_floating)
