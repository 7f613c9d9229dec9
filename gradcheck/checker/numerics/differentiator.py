"""The numeric derivative of a scalar `Σ weights·f(x)` along each coordinate, with error bars.

Central differences over halving steps, extrapolated, with a bound made of truncation and measured
round-off. Most coordinates are done after four steps; one suffices where a function is linear and
its gradient says so. The others get more sequences: smaller steps where the truncation dominates or
a kink shows, larger ones where the round-off does. Where two sequences contradict each other, the
one with the smaller steps is right: smaller steps can only reduce the truncation, and the round-off
is in the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, stepping
from gradcheck.checker.budget import Spent, current
from gradcheck.checker.numerics.dependence import Dependents, find_dependents
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.merge_sequences import merged_with
from gradcheck.checker.numerics.step_choice import (
    HALVINGS,
    first_steps,
    next_steps,
)
from gradcheck.checker.numerics.step_sequence import as_claimed, judge, twice_as_claimed
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.mover import Mover
    from gradcheck.model import Array


def glance(mover: Mover, claimed: Array, *, sparing: bool = False) -> Estimate:
    """Differentiate along every coordinate with one sequence of steps.

    Args:
        mover: of the coordinates.
        claimed: what the derivatives are said to be. Where the first step, to either side, gives
            just that but for round-off, there are no others.
        sparing: every point costs a call: where two small steps give just that, there are no
            others.
    """
    columns = np.arange(len(mover.space.unit))
    first = first_steps(mover.space)
    with np.errstate(all="ignore"):
        if not sparing:
            return sequence(mover, columns, first, claimed)
        linear = mover.seems_linear(columns, first)

        def chunk(rows: slice) -> Estimate:
            mine, steps = columns[rows], first[rows, np.newaxis]
            if linear:
                told, settled = as_claimed(mover.moves(mine, steps), claimed[rows])
            else:
                near = steps * stepping.NEAR * HALVINGS[:2]
                told, settled = twice_as_claimed(mover.moves(mine, near), claimed[rows])
            rest = np.flatnonzero(~settled)
            if len(rest):
                told.put(rest, sequence(mover, mine[rest], first[rows][rest]))
            return told

        return _by_chunks(len(columns), _affordable(mover) or len(columns), chunk)


def differentiate(
    mover: Mover, known: Estimate | None = None, doubtful: Array | None = None
) -> Estimate:
    """Differentiate along every coordinate, as well as the function allows.

    Args:
        mover: of the coordinates.
        known: an estimate that is good for all but some coordinates.
        doubtful: which those are.
    """
    count = len(mover.space.unit)
    best, columns = Estimate.unknown(count), np.arange(count)
    with np.errstate(all="ignore"):
        first = first_steps(mover.space)
        if known is not None and doubtful is not None:
            settled, columns = np.flatnonzero(~doubtful), np.flatnonzero(doubtful)
            best.put(settled, _taken_over(known.take(settled), first[settled]))
        best = merged_with(best, columns, sequence(mover, columns, first[columns]))
        lost = not best.scale.any() or mover.hides
        if lost and np.isinf(mover.space.room_down).all():
            # Nothing moves over the size of the inputs, or is lost: look over the size of one.
            far = np.full(len(columns), stepping.ODD * stepping.UNIT_STEP)
            best = merged_with(best, columns, sequence(mover, columns, far))
    return refine(mover, best, np.ones(count, dtype=bool))


def refine(mover: Mover, best: Estimate, among: Array, *, rounds: bool = False) -> Estimate:
    """More sequences for those of these coordinates that leave much to be desired.

    Args:
        mover: of all the coordinates.
        best: what is known of them.
        among: which of them are meant.
        rounds: the function may round: where other steps do not help, that is what they show.
            Without it `test_a_function_that_rounds_is_looked_at_once` fails.
    """
    with np.errstate(all="ignore"):
        for _ in range(stepping.SEQUENCES):
            columns, steps = next_steps(best, mover.space, mover.size, among)
            if not len(columns):
                break
            try:
                told = _closer(mover, best, columns, steps)
            except Spent:
                break
            before, best = best, merged_with(best, columns, told)
            if rounds:
                # (A kink that is near takes steps that are smaller still.)
                helped = best.kink[columns] | (2 * best.error[columns] < before.error[columns])
                among = among.copy()
                among[columns[~helped]] = False
    return best


def _closer(mover: Mover, best: Estimate, columns: Array, steps: Array) -> Estimate:
    """One more sequence of steps.

    Over the short steps that a kink asks for, a function that rounds may stand still on its flat
    side. Then it counts which outputs may have hidden a change: those that depend on the element.

    Without it `test_beside_a_switch_of_what_rounds` fails.
    """
    kinked = np.flatnonzero(best.kink[columns])
    if mover.is_fine or mover.colouring is not None or not len(kinked):
        return sequence(mover, columns, steps)
    told, others = Estimate.unknown(len(columns)), np.flatnonzero(~best.kink[columns])
    dependents = find_dependents(mover, columns[kinked])
    told.put(kinked, sequence(mover, columns[kinked], steps[kinked], dependents=dependents))
    if len(others):
        told.put(others, sequence(mover, columns[others], steps[others]))
    return told


def _taken_over(known: Estimate, first: Array) -> Estimate:
    """What another mover found, as if it came from a sequence of steps of this one."""
    smooth = np.zeros((2, len(first)), dtype=bool)
    return altered(
        known,
        value=known.numeric,
        error=known.bound,
        roundoff=known.bound,
        below=known.left,
        above=known.right,
        kink=smooth[0],
        diverges=smooth[1],
        contrast=np.zeros(len(first)),
        finest=first,
        coarsest=first,
        change=known.change,
    )


def sequence(
    mover: Mover,
    columns: Array,
    first: Array,
    claimed: Array | None = None,
    dependents: Dependents | None = None,
) -> Estimate:
    """What one sequence of steps tells of each of these coordinates, a chunk of them at a time."""
    space = mover.space
    together = mover.colouring is not None and dependents is None
    per_column = 2 * stepping.STEPS * (len(space.point) + 4 * len(mover.base))
    size = len(columns) if together else max(1, limits.NUMBERS_AT_ONCE // max(1, per_column))
    size = min(size, _affordable(mover) or size)

    def chunk(rows: slice) -> Estimate:
        mine = None if claimed is None else claimed[rows]
        return _chunk(mover, columns[rows], first[rows], mine, dependents)

    return _by_chunks(len(columns), size, chunk)


def _affordable(mover: Mover) -> int | None:
    """Of how many coordinates a sequence costs so little that some of them may follow; None: any.

    Without it `test_a_dear_function_says_what_is_known_when_the_budget_is_spent` fails.
    """
    points = None if mover.colouring is not None else current().at_once()
    return None if points is None else max(1, points // (2 * stepping.STEPS))


def _by_chunks(count: int, size: int, tell: Callable[[slice], Estimate]) -> Estimate:
    """What is told of so many coordinates, some at a time, as far as the budget goes."""
    if 0 < count <= size:
        return tell(slice(0, count))
    told = Estimate.unknown(count)
    for start in range(0, count, size or 1):
        rows = slice(start, start + size)
        try:
            told.put(rows, tell(rows))
        except Spent:
            # What is known so far is worth having.
            if not start:
                raise
            break
    return told


def _chunk(
    mover: Mover,
    columns: Array,
    first: Array,
    claimed: Array | None,
    dependents: Dependents | None,
) -> Estimate:
    """Move these coordinates and judge what comes of it."""
    ladder = first[:, np.newaxis] * HALVINGS
    numbers = len(mover.space.point) + len(mover.base)
    if claimed is not None and mover.calls(len(columns)) * numbers > stepping.ONE_STEP_PAYS:
        # Most functions that people check are linear in each input: one step tells.
        moves = mover.moves(columns, ladder[:, :1])
        told, settled = as_claimed(moves, claimed)
        rest = np.flatnonzero(~settled)
        if len(rest):
            more = mover.moves(columns[rest], ladder[rest, 1:])
            told.put(rest, judge(moves.take(rest).join(more)))
        return told
    if dependents is None:
        return judge(mover.moves(columns, ladder))
    reached = dependents.reached[dependents.rows(columns)]
    return judge(mover.moves(columns, ladder, alone=True, reached=reached))
