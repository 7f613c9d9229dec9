"""Derivatives that drown beside others: the differences are carried along, op by op.

Of a sum that is 1e18 the quotients of an element of 1 show nothing but rounding, and a bar that is
larger than the derivative passes any claim, one of the other sign too. What the steps change is
carried from op to op by itself then (`subject/carry/carried_changes.py`), and has all its digits in
the end. It must agree with what the quotients say, within their bars; or with the claim, where the
quotients would refute that: then they lost more than they knew. Without this
`test_what_a_huge_element_hides` and `test_quotients_that_lost_more_than_they_knew` fail.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, stepping, tolerances
from gradcheck.checker.budget import current
from gradcheck.checker.numerics.estimate import Estimate, Moves
from gradcheck.checker.numerics.step_choice import HALVINGS, first_steps
from gradcheck.checker.numerics.step_sequence import judge
from gradcheck.checker.numerics.vectors import largest
from gradcheck.checker.subject.batching import Calls, Carried
from gradcheck.checker.subject.probe_points import unrelated
from gradcheck.checker.subject.repeated import are_equal

if TYPE_CHECKING:
    from gradcheck.checker.numerics.choose_coordinates import Part
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array


def surfaced(
    derivatives: Derivatives, part: Part, estimate: Estimate, claimed: Array, whole: Estimate
) -> tuple[Derivatives, Estimate] | None:
    """What is known once those that drown are differentiated by changes that are carried.

    None if that is no more than was known.

    Args:
        derivatives: the numeric side.
        part: the coordinates of one input.
        estimate: what is known along these.
        claimed: what the derivatives along them are said to be.
        whole: what is known along all of them.
    """
    columns = part.columns
    drowned = np.flatnonzero(_drowns(derivatives, columns, estimate, claimed))
    point = derivatives.point
    shared = point.evaluator.is_batched and not point.evaluator.is_traced
    if not len(drowned) or derivatives.is_rough or not shared:
        return None
    best = estimate.copy()
    carried = np.zeros(len(derivatives.plan.coordinates.space.unit), dtype=bool)
    try:
        calls = Calls(point.problem, point.values)
        by_change = Carried(calls)
        if not _is_seen(point, calls, by_change):
            return None
        numbers = 2 * stepping.STEPS * (len(point.at) + len(point.base))
        chunk = max(1, limits.NUMBERS_AT_ONCE // numbers)
        for start in range(0, len(drowned), chunk):
            rows = drowned[start : start + chunk]
            known = estimate.take(rows)
            told = _told(derivatives, by_change, columns[rows], known.kink)
            agrees = np.abs(told.value - known.value) <= told.error + known.error
            agrees &= (told.error < known.error) & ~known.kink
            as_claimed = np.abs(told.value - claimed[rows]) <= told.error
            as_claimed &= told.error <= tolerances.GOOD * np.abs(told.value)
            closer = np.flatnonzero((agrees | as_claimed) & ~told.kink)
            best.put(rows[closer], told.take(closer))
            carried[columns[rows[closer]]] = True
    except Exception:  # noqa: S110  (what this function does is not to be had so, or no more of it)
        pass
    if not carried.any():
        return None
    whole = whole.copy()
    whole.put(part.span, best)
    return replace(derivatives, carried=carried), whole


def _is_seen(point: Point, calls: Calls, carried: Carried) -> bool:
    """Whether all that the function does is carried, as it is at two other points.

    At one nearby, and, if some are huge, at one where no number is: there nothing hides what numpy
    does with a tensor. Without it `test_what_numpy_does_unseen` and
    `test_what_is_added_where_nobody_sees_it` fail.
    """
    ends = [point.at]
    if tolerances.PLAINLY * largest(point.at) > 1:
        ends.append(np.sign(point.at) * np.minimum(np.abs(point.at), 1.0))
    others = [unrelated(at, calls.domain) for at in ends]
    together = carried(_stacked(point, np.stack(others)))
    for row, other in enumerate(others):
        one = [array[0] for array in _stacked(point, other[np.newaxis])]
        alone = point.outputs.flatten(calls.once(one))
        found = point.outputs.flatten([each[row] for each in together])
        if not are_equal(found, alone, tolerances.BATCHED * largest(alone)):
            return False
    return True


def _stacked(point: Point, rows: Array) -> list[Array]:
    """Rows as values of the moved operands, in the precision of each."""
    return [
        array.astype(dtype, copy=False)
        for array, dtype in zip(point.inputs.unflatten_rows(rows), point.dtypes, strict=True)
    ]


def _drowns(derivatives: Derivatives, columns: Array, estimate: Estimate, claimed: Array) -> Array:
    """By coordinate: the bar would let pass what is plainly wrong, or does not let pass the claim.

    (Of these, few.)
    """
    space, point = derivatives.plan.coordinates.space, derivatives.point
    if point.precision is not None or point.is_exact:
        return np.zeros(len(columns), dtype=bool)
    with np.errstate(all="ignore"):
        size = np.fmax(np.abs(claimed), np.abs(estimate.numeric))
        # (Beside the largest of the input what is far below its last digits matters to nobody.)
        least = tolerances.ROUGH * largest(size)
        poor = (estimate.bound > np.maximum(tolerances.PLAINLY * size, least)) & ~estimate.kink
        off = np.abs(claimed - estimate.numeric) > tolerances.BOUND_SAFETY * estimate.bound
        # (What quotients know to eight digits they have not lost: else
        # `test_a_place_takes_few_calls` fails.)
        off &= (estimate.bound > tolerances.GOOD * np.abs(estimate.numeric)) | estimate.kink
        if int(off.sum()) <= limits.CONFIRMED:
            poor |= off
        poor &= np.isfinite(estimate.error) & np.isfinite(claimed)
        inside = (space.room_down[columns] > 0) & (space.room_up[columns] > 0)
    return np.asarray(poor & inside & ~estimate.diverges)


def _told(derivatives: Derivatives, by_change: Carried, columns: Array, kink: Array) -> Estimate:
    """One sequence of steps along each of these, by the changes that are carried.

    Where quotients show a kink, it may be one beside an element that is tiny: there steps are
    smaller than it, which no round-off forbids. Without it `test_a_cusp_beside_a_tiny_element`
    fails.
    """
    current().must_be_left()
    point, space = derivatives.point, derivatives.plan.coordinates.space
    first = first_steps(space)[columns]
    own = stepping.ODD * stepping.FIRST_STEP * np.abs(space.point[space.position[columns]])
    first = np.where(kink & (own > 0), np.minimum(own, first), first)
    deltas = first[:, np.newaxis, np.newaxis] * HALVINGS * np.array([[1.0], [-1.0]])
    per_column = deltas[0].size
    points, actual = space.points(np.repeat(columns, per_column), deltas.ravel())
    with np.errstate(all="ignore"):
        pairs = by_change.changes(_stacked(point, points))
        change = point.outputs.flatten_rows([by for by, _ in pairs])
        noise = point.outputs.flatten_rows([off for _, off in pairs])
        weighed = change * point.weights
        noise = (noise + tolerances.LAST_DIGIT * np.abs(change)) @ np.abs(point.weights)
        shape = deltas.shape
        up_down = actual.reshape(shape)
        by, size, off = (
            array.reshape(shape) for array in (weighed.sum(1), np.abs(weighed).sum(1), noise)
        )
        return judge(
            Moves(
                first=first,
                right=by[:, 0],
                left=by[:, 1],
                up=up_down[:, 0],
                down=up_down[:, 1],
                size=np.maximum(size[:, 0], size[:, 1]),
                noise=np.maximum(off[:, 0], off[:, 1]),
            )
        )
