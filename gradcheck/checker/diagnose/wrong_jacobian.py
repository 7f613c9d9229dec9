"""Gradients made of the wrong parts of the Jacobian: its transpose, its diagonal, another axis.

For a small function of real numbers the whole Jacobian is at hand, and with it what each of these
mistakes would give.

Without it `test_as_if_elements_did_not_interfere` and `test_summed_over_the_wrong_axis` fail.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.diagnose.fit import Suspects, broadcast_axes, with_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.diagnose.view import View
    from gradcheck.model import Array


def from_jacobian(view: View) -> Suspects:
    """What goes wrong between the Jacobian and the gradient."""
    if view.jacobian is None:
        return
    yield from _square(view)
    yield from _other_axes(view)


def _square(view: View) -> Suspects:
    """Mistakes that only a square Jacobian allows."""
    jacobian, name = view.jacobian, view.name
    if jacobian is None or jacobian.shape[0] != jacobian.shape[1]:
        return
    if view.evidence.point.outputs.shapes == (view.shape,):
        text = (
            f"the gradient of {name} counts only what each element does to the output at its own "
            "place: what it does to the others is missing, as if the function worked element by "
            "element"
        )
        yield with_fault("diagonal", text, _diagonal)
    text = f"the gradient of {name} is multiplied by the Jacobian, and not by its transpose"
    yield with_fault("jacobian", text, _without_transpose)


def _diagonal(view: View) -> Array | None:
    if view.jacobian is None:
        return None
    return np.asarray(np.diag(view.jacobian) * view.evidence.point.weights)


def _without_transpose(view: View) -> Array | None:
    return None if view.jacobian is None else view.jacobian @ view.evidence.point.weights


def _other_axes(view: View) -> Suspects:
    """Sums over other axes than those along which the input was broadcast."""
    shapes = view.evidence.point.outputs.shapes
    if len(shapes) != 1 or len(shapes[0]) > limits.SUMMED_RANK:
        return
    right = broadcast_axes(view.shape, shapes[0])
    for axes, kept in _sums(len(shapes[0]), right):

        def summed(view: View, axes: tuple[int, ...] = axes, kept: bool = kept) -> Array | None:
            if view.jacobian is None:
                return None
            point = view.evidence.point
            parts = (view.jacobian.sum(axis=1) * point.weights).reshape(point.outputs.shapes[0])
            found = parts.sum(axis=axes, keepdims=kept)
            return np.asarray(found) if found.shape == view.shape else None

        text = (
            f"the gradient of {view.name} is summed over {_named(axes)} of the output, but the "
            f"input was broadcast along {_named(right)}"
        )
        yield with_fault("axis", text, summed)


def _sums(rank: int, right: list[int]) -> Iterator[tuple[tuple[int, ...], bool]]:
    """As many axes as the input was broadcast along, but others; and whether they are kept."""
    for axes in combinations(range(rank), len(right)):
        if right and axes != tuple(right):
            yield axes, False
            yield axes, True


def _named(axes: tuple[int, ...] | list[int]) -> str:
    listed = " and ".join(map(str, axes))
    return f"axis {listed}" if len(axes) == 1 else f"axes {listed}"
