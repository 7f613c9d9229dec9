"""What a function of low precision rounds alike wherever one input is moved to.

`(exp(x) − 1)·y` is a straight line in y. In float32 its slope is off by the rounding of the
exponential, which is the same over all steps, and shows in no difference of values. It is another
one where x is a little different: so the slopes are taken at some points on a short line as well,
along which they change as good as evenly, but for that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import stepping, tolerances
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.step_choice import HALVINGS, first_steps
from gradcheck.checker.numerics.vectors import largest

if TYPE_CHECKING:
    from gradcheck.checker.numerics.choose_coordinates import Part
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.model import Array


def as_it_rounds_beside(
    derivatives: Derivatives, estimate: Estimate, part: Part, claimed: Array, among: Array
) -> Estimate:
    """The estimate; of claims that are off by little, with bars for what is rounded alike.

    Without it `test_a_slope_that_is_rounded_alike_at_all_steps` fails.

    Args:
        derivatives: of a function in its own precision; of others nothing changes.
        estimate: what is known of all the coordinates.
        part: the coordinates of an input.
        claimed: what these are said to be.
        among: which of them look wrong.
    """
    point, space = derivatives.point, derivatives.plan.coordinates.space
    if point.precision is None or not len(point.base):
        return estimate
    columns, claimed = part.columns[among], claimed[among]
    known = estimate.take(columns)
    size = largest(known.numeric) + largest(point.weights * point.base) / space.unit[columns]
    with np.errstate(all="ignore"):
        off = np.abs(claimed - known.numeric)
        asked = (off > known.bound) & (off <= tolerances.VACUOUS * size) & ~known.kink
    rows = np.flatnonzero(asked & (space.partners is None))
    if not len(rows):
        return estimate
    best, mine = estimate.copy(), columns[rows]
    best.error[mine] += _alike(derivatives, known.take(rows), mine, size[rows])
    return best


def _alike(derivatives: Derivatives, known: Estimate, columns: Array, size: Array) -> Array:
    """What is rounded alike along these coordinates, of slopes of these sizes."""
    point, space = derivatives.point, derivatives.plan.coordinates.space
    steps = np.minimum(known.step / HALVINGS[-1], known.coarsest)
    steps = np.fmax(steps, first_steps(space)[columns])
    rng, length = generator(point.problem.seed, 0x626573), np.abs(space.point)
    away = rng.choice([-1.0, 1.0], len(length)) * np.where(length == 0, 1.0, length)
    shares = stepping.FAR_BESIDE * rng.uniform(-1.0, 1.0, stepping.PLACES_BESIDE)
    found = [_slopes(derivatives, space.point + each * away, columns, steps) for each in shares]
    straight = np.stack([np.ones_like(shares), shares / stepping.FAR_BESIDE], axis=1)
    slopes = np.where(np.isfinite(found), found, known.numeric)
    left = slopes - straight @ np.linalg.lstsq(straight, slopes, rcond=None)[0]
    # (Not what is no rounding: a switch may be there.)
    left = np.where(np.abs(left) <= tolerances.VACUOUS * size, left, 0.0)
    spread = np.sqrt((left**2).sum(axis=0) / (len(shares) - straight.shape[1]))
    return np.asarray(tolerances.ROUNDOFF_SAFETY * spread)


def _slopes(derivatives: Derivatives, at: Array, columns: Array, steps: Array) -> Array:
    """The quotients over these steps along these coordinates, at another point."""
    point, space = derivatives.point, derivatives.plan.coordinates.space
    there = replace(space, point=space.rounded(at[np.newaxis])[0])
    base = point.evaluator(there.point[np.newaxis])[0]
    mover = Mover(point.evaluator, base, point.weights, derivatives.noise, there)
    with np.errstate(all="ignore"):
        return mover.moves(columns, steps[:, np.newaxis]).central[:, 0]
