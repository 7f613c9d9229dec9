"""Gradients made of the wrong parts of the Jacobian: its transpose, its diagonal, another axis.

For a small function of real numbers the whole Jacobian is at hand, and with it what each of these
mistakes would give.

Without it `test_as_if_elements_did_not_interfere` and `test_summed_over_the_wrong_axis` fail.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.diagnose.fit import Suspects, arrays, broadcast_axes, explains, how_well

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.judge.evidence import Evidence
    from gradcheck.model import Array, Comparison, Shape


def from_jacobian(comparison: Comparison, evidence: Evidence) -> Suspects:
    """What goes wrong between the Jacobian and the gradient."""
    analytic, _ = arrays(comparison)
    name = comparison.name
    position = [operand.name for operand in evidence.point.moved].index(name)
    columns = evidence.plan.coordinates.parts[position].columns
    if (
        any(evidence.point.inputs.complex_)
        or any(evidence.point.outputs.complex_)
        or evidence.plan.coordinates.space.partners is not None
        or len(columns) != analytic.size
        or len(columns) * len(evidence.point.base) > limits.JACOBIAN_ENTRIES
    ):
        return
    jacobian = _jacobian(evidence, columns)
    weights, shapes = evidence.point.weights, evidence.point.outputs.shapes
    mistakes = [_square(jacobian, weights, analytic.shape, shapes)]
    if len(shapes) == 1:
        parts = jacobian.sum(axis=1) * weights
        mistakes.append(_other_axes(parts.reshape(shapes[0]), analytic.shape))
    for cause, text, candidate in (mistake for kind in mistakes for mistake in kind):
        fit = explains(candidate, comparison)
        if fit is not None:
            yield cause, f"the gradient of {name} {text} (that fits {how_well(fit)})", None


def _jacobian(evidence: Evidence, columns: Array) -> Array:
    """(outputs, coordinates): how each output moves with each of these coordinates."""
    space, outputs = evidence.plan.coordinates.space, len(evidence.point.base)
    moves = (
        np.array([1.0, -1.0, 0.5, -0.5])
        * tolerances.JACOBIAN_STEP
        * space.unit[columns, np.newaxis]
    )
    points, actual = space.points(np.repeat(columns, moves.shape[1]), moves.ravel())
    found = evidence.point.evaluator(points).reshape(*moves.shape, outputs)
    actual = actual.reshape(moves.shape)
    wide, narrow = (
        (found[:, i] - found[:, i + 1]) / (actual[:, i] - actual[:, i + 1])[:, np.newaxis]
        for i in (0, 2)
    )
    return np.asarray((4 * narrow - wide) / 3).T


def _square(
    jacobian: Array, weights: Array, given: Shape, outputs: tuple[Shape, ...]
) -> Iterator[tuple[str, str, Array]]:
    """Mistakes that only a square Jacobian allows."""
    if jacobian.shape[0] != jacobian.shape[1]:
        return
    if outputs == (given,):
        text = (
            "counts only what each element does to the output at its own place: what it does to "
            "the others is missing, as if the function worked element by element"
        )
        yield "diagonal", text, np.diag(jacobian) * weights
    text = "is multiplied by the Jacobian, and not by its transpose"
    yield "jacobian", text, jacobian @ weights


def _other_axes(parts: Array, given: Shape) -> Iterator[tuple[str, str, Array]]:
    """Sums over other axes than those along which the input was broadcast."""
    right = broadcast_axes(given, parts.shape)
    if not right or parts.ndim > limits.SUMMED_RANK:
        return
    for axes in combinations(range(parts.ndim), len(right)):
        for kept in (False, True):
            summed = parts.sum(axis=axes, keepdims=kept)
            if axes != tuple(right) and summed.shape == given:
                text = (
                    f"is summed over {_named(axes)} of the output, but the input was broadcast "
                    f"along {_named(right)}"
                )
                yield "axis", text, summed


def _named(axes: tuple[int, ...] | list[int]) -> str:
    listed = " and ".join(map(str, axes))
    return f"axis {listed}" if len(axes) == 1 else f"axes {listed}"
