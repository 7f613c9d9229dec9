"""The numeric derivative of a scalar `Σ weights·f(x)` along each coordinate, with error bars.

Central differences over halving steps, extrapolated, with a bound made of truncation and measured
round-off. Most coordinates are done after four steps; one suffices where a function is linear and
its gradient says so. The others get more stages: smaller steps where the truncation dominates or a
kink shows, larger ones where the round-off does. Where two stages contradict each other, the one
with the smaller steps is right: smaller steps can only reduce the truncation, and the round-off is
in the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.numerics.step_choice import HALVINGS, first_steps, next_steps, roundoff_at
from gradcheck.checker.numerics.step_sequence import Moves, Stage, as_claimed, judge
from gradcheck.model import Array, Estimate

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.noise import Evaluate, Noise
    from gradcheck.checker.numerics.sparsity import Colouring


class Differentiator:
    """Differentiates along the coordinates of a space; keeps the best that is known of each."""

    def __init__(
        self,
        evaluate: Evaluate,
        base: Array,
        weights: Array,
        noise: Noise,
        space: Space,
        colouring: Colouring | None = None,
    ) -> None:
        """Set up.

        Args:
            evaluate: the function, on rows of points.
            base: its outputs at the point of the space.
            weights: the cotangent: what is differentiated is `weights @ outputs`.
            noise: of the outputs.
            space: the coordinates.
            colouring: which of them may be moved together.
        """
        self._mover = Mover(evaluate, base, weights, noise, space, colouring)
        self._space = space
        size = len(space.unit)
        self._best = Stage.unknown(size)
        self._finest = np.full(size, np.inf)
        self._coarsest, self._largest_change = np.zeros((2, size))
        per_column = 2 * limits.STEPS * (len(space.point) + 4 * len(base))
        self._at_once = max(1, limits.NUMBERS_AT_ONCE // max(1, per_column))
        """How many coordinates one chunk takes, unless they are moved together."""

    @property
    def moves_together(self) -> bool:
        """Whether coordinates share a move."""
        return self._mover.colouring is not None

    def run(self, known: Estimate | None = None, doubtful: Array | None = None) -> Estimate:
        """Differentiate along every coordinate, as well as the function allows.

        Args:
            known: an estimate that is good for all but some coordinates.
            doubtful: which those are.
        """
        with np.errstate(all="ignore"):
            columns = np.arange(len(self._finest))
            if known is not None and doubtful is not None:
                self._take_over(known, np.flatnonzero(~doubtful))
                columns = np.flatnonzero(doubtful)
            self._stage(columns, first_steps(self._space)[columns])
            if not self._best.scale.any() and np.isinf(self._space.room_down).all():
                # Nothing moves over the size of the inputs: look over the size of one.
                self._stage(columns, np.full(len(columns), tolerances.ODD * tolerances.UNIT_STEP))
        return self.refine(np.ones(len(self._finest), dtype=bool))

    def glance(self, claimed: Array) -> Estimate:
        """Differentiate along every coordinate with one stage of steps.

        Args:
            claimed: what the derivatives are said to be. Where the first step, to either side,
                gives just that but for round-off, there are no others.
        """
        columns = np.arange(len(self._space.unit))
        with np.errstate(all="ignore"):
            first = first_steps(self._space)
            if self._at_once < len(columns) and not self.moves_together:
                self._stage(columns, first, claimed)
            else:
                moves, self._best = self._look(columns, first, claimed)
                self._finest, self._coarsest = first, first.copy()
                self._largest_change = moves.size.max(axis=1)
        return self.estimate()

    def refine(self, among: Array) -> Estimate:
        """More stages for those of these coordinates that leave much to be desired."""
        with np.errstate(all="ignore"):
            for _ in range(limits.SEQUENCES):
                columns, steps = next_steps(
                    self._best, self._finest, self._coarsest, self._space, self._mover.size, among
                )
                if not len(columns):
                    break
                self._stage(columns, steps)
        return self.estimate()

    def confirm(self, columns: Array, claimed: Array) -> Array:
        """Look again at these coordinates, each alone, with ever smaller steps.

        Goes on while the round-off of the smaller steps stays below the difference between what is
        claimed and what was found.

        Returns:
            Whether each claim is refuted. A claim that needs the function to vary over less than
            the steps is not, whatever they say.
        """
        refuted = np.zeros(len(columns), dtype=bool)
        with np.errstate(all="ignore"):
            self._mover.look_for_dependents(columns)
            rows = np.arange(len(columns))
            stage = self._stage(columns, first_steps(self._space)[columns], alone=True, afresh=True)
            for _ in range(limits.SEQUENCES):
                size = np.maximum(self._mover.size, self._largest_change[columns[rows]])
                within_reach = np.abs(claimed[rows]) * stage.step <= size
                low, high = np.fmin(stage.left, stage.right), np.fmax(stage.left, stage.right)
                nearest = np.where(stage.kink, np.clip(claimed[rows], low, high), stage.value)
                apart = ~(np.abs(claimed[rows] - nearest) <= stage.bound)
                refuted[rows] |= within_reach & apart & np.isfinite(stage.bound)
                steps = self._finest[columns[rows]] * tolerances.SMALLER
                useful = steps > tolerances.SMALLEST_STEP * self._space.unit[columns[rows]]
                difference = np.abs(claimed[rows] - self._best.value[columns[rows]])
                useful &= roundoff_at(self._best.take(columns[rows]), steps) < 0.3 * difference
                rows, steps = rows[useful], steps[useful]
                if not len(rows):
                    break
                stage = self._stage(columns[rows], steps, alone=True)
        refuted &= self._mover.trustworthy & ~self._mover.may_hide(columns, claimed)
        return refuted | self._mover.independent(columns)

    def estimate(self) -> Estimate:
        """What is known so far."""
        best = self._best
        value, bound = best.value, best.bound
        if best.diverges.any():
            value = np.where(best.diverges, np.copysign(np.inf, value), value)
            bound = np.where(best.diverges, 0.0, bound)
        kinks = best.kink.any()
        return Estimate(
            numeric=value,
            bound=bound,
            step=best.step,
            scale=best.scale,
            left=np.where(best.kink, best.left, value) if kinks else value,
            right=np.where(best.kink, best.right, value) if kinks else value,
            kink=best.kink,
            evaluations=self._mover.evaluations,
        )

    def _take_over(self, known: Estimate, columns: Array) -> None:
        """Believe another estimate of these coordinates."""
        first = first_steps(self._space)[columns]
        self._finest[columns], self._coarsest[columns] = first, first
        best = self._best
        best.value[columns], best.bound[columns] = known.numeric[columns], known.bound[columns]
        best.left[columns], best.right[columns] = known.left[columns], known.right[columns]
        best.step[columns], best.scale[columns] = known.step[columns], known.scale[columns]
        best.roundoff[columns] = known.bound[columns]

    def _stage(
        self,
        columns: Array,
        first: Array,
        claimed: Array | None = None,
        *,
        alone: bool = False,
        afresh: bool = False,
    ) -> Stage:
        """Run one sequence of steps and keep what it tells, a chunk of coordinates at a time."""
        if afresh:
            # What was known of these coordinates counts no more.
            self._best.put(columns, Stage.unknown(len(columns)))
            self._finest[columns], self._coarsest[columns] = np.inf, 0.0
        size = len(columns) if self.moves_together and not alone else self._at_once
        if 0 < len(columns) <= size:
            return self._chunk(columns, first, claimed, alone)
        told = Stage.unknown(len(columns))
        for start in range(0, len(columns), size):
            chunk = slice(start, start + size)
            mine = None if claimed is None else claimed[chunk]
            told.put(chunk, self._chunk(columns[chunk], first[chunk], mine, alone))
        return told

    def _chunk(self, columns: Array, first: Array, claimed: Array | None, alone: bool) -> Stage:
        finer = first <= self._finest[columns]
        self._finest[columns] = np.minimum(self._finest[columns], first)
        self._coarsest[columns] = np.maximum(self._coarsest[columns], first)
        moves, stage = self._look(columns, first, claimed, alone=alone)
        self._largest_change[columns] = np.fmax(
            self._largest_change[columns], moves.size.max(axis=1)
        )
        self._merge(columns, first, stage, finer)
        return stage

    def _look(
        self, columns: Array, first: Array, claimed: Array | None, *, alone: bool = False
    ) -> tuple[Moves, Stage]:
        """Move these coordinates and judge what comes of it."""
        ladder = first[:, np.newaxis] * HALVINGS
        numbers = len(self._space.point) + len(self._mover.base)
        if claimed is not None and self._mover.calls(len(columns)) * numbers > limits.ONE_STEP_PAYS:
            # Most functions that people check are linear in each input: one step tells.
            moves = self._mover.moves(columns, ladder[:, :1])
            stage, settled = as_claimed(moves, claimed)
            rest = np.flatnonzero(~settled)
            if len(rest):
                more = self._mover.moves(columns[rest], ladder[rest, 1:])
                stage.put(rest, judge(moves.take(rest).join(more)))
            return moves, stage
        moves = self._mover.moves(columns, ladder, alone=alone)
        return moves, judge(moves)

    def _merge(self, columns: Array, first: Array, stage: Stage, finer: Array) -> None:
        """Take over what the stage, which starts with these steps, knows better than those before.

        Args:
            columns: the coordinates.
            first: the first step of each.
            stage: what it tells.
            finer: for which of them its steps are the smallest so far.
        """
        best = self._best
        value, bound, kink = best.value[columns], best.bound[columns], best.kink[columns]
        contradicts = np.abs(stage.value - value) > tolerances.BOUND_SAFETY * (stage.bound + bound)
        better = np.where(contradicts, finer, stage.bound < bound)
        # A kink that smaller steps no longer show, though they could, was only near, not here.
        shows = roundoff_at(stage, first) < tolerances.RESOLVES * best.contrast[columns]
        better |= finer & kink & ~stage.kink & shows
        take = ~np.isfinite(bound) | (better & np.isfinite(stage.bound))
        if take.all():
            best.put(columns, stage)
        elif take.any():
            chosen = np.flatnonzero(take)
            best.put(columns[chosen], stage.take(chosen))
