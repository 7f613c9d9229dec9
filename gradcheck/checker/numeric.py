"""The numeric derivative of a scalar `Σ weights·f(x)` along each coordinate, with error bars.

Central differences over halving steps, extrapolated, with a bound made of truncation and measured
round-off. Most coordinates are done after two or four steps. The others get more stages: smaller
steps where the truncation dominates or a kink shows, larger ones where the round-off does. Where
two stages contradict each other, the one with the smaller steps is right: smaller steps can only
reduce the truncation, and the round-off is in the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.richardson import extrapolate
from gradcheck.checker.space import Space, power_of_two
from gradcheck.model import Array, Estimate

if TYPE_CHECKING:
    from gradcheck.checker.noise import Evaluate, Noise

FIRST_STEP = 2.0**-4
"""The first step, in units of the coordinate: with three halvings and extrapolation the truncation
is near 2⁻⁴⁷ for a function with a singularity one unit away, the round-off near 2⁻⁴⁵."""

ROUNDOFF_SAFETY = 4.0
"""How many standard deviations of the measured noise a bound allows for."""

GOAL = 2.0**-31
"""Relative bound that ends the search for better steps, well below an error of 1e-8."""

CANCELLATION = 2.0**-10
"""Elements that cancel to less than this share of their parts are not pursued to `GOAL`."""

SMALLER, LARGER, MUCH_SMALLER = 2.0**-6, 2.0**4, 2.0**-10
"""By what the steps change from stage to stage: truncation, round-off, kink."""

MAX_STAGES = 9
STEPS = 4
"""Steps of one stage."""

SMALLEST_STEP = 2.0**-46
"""In units of the coordinate; below, a step has no digits left."""

CHUNK = 2**22
"""How many numbers (points and outputs) are held in memory at once."""


@dataclass(eq=False)
class _Moves:
    """How the scalar moves when coordinates move: a row per coordinate, a column per step."""

    right: Array
    left: Array
    """Change of the scalar to either side; NaN where that side is not to be entered."""
    up: Array
    down: Array
    """How far the coordinate really moved (`down` is negative)."""
    scale: Array
    """How much the outputs moved per unit, without cancelling."""
    variance: Array
    """Variance of the noise of a change."""

    def join(self, other: _Moves) -> _Moves:
        """The same coordinates with more steps."""
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return _Moves(*(np.concatenate(pair, axis=1) for pair in pairs))

    def take(self, rows: Array) -> _Moves:
        """Some of the coordinates."""
        return _Moves(*(getattr(self, f.name)[rows] for f in fields(self)))


@dataclass(eq=False)
class _Stage:
    """What one sequence of steps tells about some coordinates."""

    value: Array
    bound: Array
    roundoff: Array
    """The part of the bound that smaller steps would make larger."""
    step: Array
    scale: Array
    left: Array
    right: Array
    kink: Array
    contrast: Array
    """By how much a kink stands out, to be compared with round-off; infinite for a jump."""
    diverges: Array
    linear: Array
    """Whether all the steps agree to round-off."""


class Differentiator:
    """Differentiates along the coordinates of a space; keeps the best that is known of each."""

    def __init__(
        self, evaluate: Evaluate, base: Array, weights: Array, noise: Noise, space: Space
    ) -> None:
        """Set up.

        Args:
            evaluate: the function, on rows of points.
            base: its outputs at the point of the space.
            weights: the cotangent: what is differentiated is `weights @ outputs`.
            noise: of the outputs.
            space: the coordinates.
        """
        self._evaluate = evaluate
        self._base = base
        self._weights = weights
        self._noise = noise
        finite = np.where(np.isfinite(base), base, 0.0)
        self._size = float(np.linalg.norm(weights * finite))
        self._space = space
        size = len(space.unit)
        self.evaluations = 0
        self._best = _Stage(*(np.zeros(size) for _ in fields(_Stage)))
        self._best.value[:] = np.nan
        self._best.bound[:] = np.inf
        self._best.kink = np.zeros(size, dtype=bool)
        self._best.diverges = np.zeros(size, dtype=bool)
        self._best.linear = np.zeros(size, dtype=bool)
        self._finest = np.full(size, np.inf)
        self._coarsest = np.zeros(size)

    def run(self) -> Estimate:
        """Differentiate along every coordinate, as well as the function allows."""
        with np.errstate(all="ignore"):
            columns = np.arange(len(self._finest))
            self._stage(columns, self._first_step(), may_stop_early=True)
            for _ in range(MAX_STAGES):
                columns, steps = self._next_stage()
                if not len(columns):
                    break
                self._stage(columns, steps)
        return self.estimate()

    def confirm(self, columns: Array, differences: Array) -> Estimate:
        """Look again at these coordinates with ever smaller steps.

        Goes on while the round-off of the smaller steps stays below the differences in question.
        """
        with np.errstate(all="ignore"):
            for _ in range(MAX_STAGES):
                steps = self._finest[columns] * SMALLER
                useful = steps > SMALLEST_STEP * self._space.unit[columns]
                useful &= self._roundoff_at(columns, steps) < 0.3 * differences
                columns, differences, steps = columns[useful], differences[useful], steps[useful]
                if not len(columns):
                    break
                self._stage(columns, steps)
        return self.estimate()

    def estimate(self) -> Estimate:
        """What is known so far."""
        best = self._best
        value = np.where(best.diverges, np.copysign(np.inf, best.value), best.value)
        return Estimate(
            numeric=value,
            bound=np.where(best.diverges, 0.0, best.bound),
            step=best.step,
            scale=best.scale,
            left=np.where(best.kink, best.left, value),
            right=np.where(best.kink, best.right, value),
            kink=best.kink,
            evaluations=self.evaluations,
        )

    def _first_step(self) -> Array:
        """A power of two inside the domain; a coordinate at an edge moves to one side only."""
        down, up = self._space.room_down, self._space.room_up
        room = np.where((down > 0) & (up > 0), np.minimum(down, up), np.maximum(down, up))
        # Half the room at most: right at the edge a function is at its worst.
        limit = np.where(room > 0, room / 2, np.inf)
        return power_of_two(np.minimum(self._space.unit * FIRST_STEP, limit))

    def _roundoff_at(self, columns: Array, steps: Array) -> Array:
        """What the round-off would be in a stage that starts with these steps."""
        last = steps * 0.5 ** (STEPS - 1)
        roundoff: Array = self._best.roundoff[columns] * self._best.step[columns] / last
        return roundoff

    def _next_stage(self) -> tuple[Array, Array]:
        """The coordinates that deserve another stage, and its first step for each."""
        best, everything = self._best, np.arange(len(self._finest))
        # Where nothing moves, there is only the size of the outputs to measure the bound by.
        still = np.where(best.scale == 0, self._size / self._space.unit, 0.0)
        reference = np.maximum(CANCELLATION * best.scale, still)
        poor = ~(best.bound <= GOAL * np.maximum(np.abs(best.value), reference))
        # Smaller steps help while their round-off stays below what they are to resolve.
        down = self._finest * np.where(best.kink, MUCH_SMALLER, SMALLER)
        roundoff = self._roundoff_at(everything, down)
        resolvable = np.where(
            best.kink, roundoff < 0.05 * best.contrast, ~(roundoff >= 0.5 * best.bound)
        )
        go_down = (best.kink | poor) & resolvable & (down >= SMALLEST_STEP * self._space.unit)
        up = np.minimum(self._coarsest * LARGER, self._space.reach)
        go_up = poor & ~go_down & ~best.kink & (best.roundoff > 0.25 * best.bound)
        room = np.minimum(self._space.room_down, self._space.room_up)
        go_up &= (up > self._coarsest) & (up <= room / 2)
        columns = np.flatnonzero(go_down | go_up)
        return columns, np.where(go_down, down, up)[columns]

    def _stage(self, columns: Array, first: Array, *, may_stop_early: bool = False) -> None:
        """Run one sequence of steps and keep what it tells, a chunk of coordinates at a time."""
        per_column = 2 * STEPS * (len(self._space.point) + 4 * len(self._base))
        size = max(1, CHUNK // per_column)
        for start in range(0, len(columns), size):
            chunk = slice(start, start + size)
            self._chunk(columns[chunk], first[chunk], may_stop_early)

    def _chunk(self, columns: Array, first: Array, may_stop_early: bool) -> None:
        finer = first <= self._finest[columns]
        self._finest[columns] = np.minimum(self._finest[columns], first)
        self._coarsest[columns] = np.maximum(self._coarsest[columns], first)
        ladder = first[:, np.newaxis] * 0.5 ** np.arange(STEPS)
        if not may_stop_early:
            self._merge(columns, _judge(self._moves(columns, ladder)), finer)
            return
        # Most functions that people check are linear in each input: two steps tell.
        half = self._moves(columns, ladder[:, :2])
        stage = _judge(half)
        self._merge(columns[stage.linear], _rows(stage, stage.linear), finer[stage.linear])
        rest = np.flatnonzero(~stage.linear)
        if len(rest):
            moves = half.take(rest).join(self._moves(columns[rest], ladder[rest, 2:]))
            self._merge(columns[rest], _judge(moves), finer[rest])

    def _moves(self, columns: Array, ladder: Array) -> _Moves:
        """Move each coordinate up and down by the steps of its ladder, in one evaluation."""
        allowed = np.stack([self._space.room_up[columns] > 0, self._space.room_down[columns] > 0])
        deltas = np.stack([ladder, -ladder], axis=1) * allowed.T[:, :, np.newaxis]
        shape = deltas.shape
        points, actual = self._space.points(np.repeat(columns, shape[1] * shape[2]), deltas.ravel())
        outputs = self._evaluate(points)
        self.evaluations += len(points)
        # Outputs may be infinite or NaN in places that do not move: that is no change.
        same = (outputs == self._base) | (np.isnan(outputs) & np.isnan(self._base))
        changes = np.where(same, 0.0, outputs - self._base)
        up, down = np.where(deltas == 0, np.nan, actual.reshape(shape)).transpose(1, 0, 2)
        change = (changes @ self._weights).reshape(shape)
        size = (np.abs(changes) @ np.abs(self._weights)).reshape(shape)
        # Only outputs that depend on the coordinate add noise; where none moves, any of them may
        # have hidden a change that is smaller than its noise.
        depends = (~same).reshape(len(columns), shape[1] * shape[2], len(self._base)).any(axis=1)
        depends |= ~depends.any(axis=1, keepdims=True)
        noise = np.maximum(self._noise.level, self._noise.relative * np.abs(outputs))
        noisy = ((noise * self._weights) ** 2).reshape(*shape, len(self._base))
        noisy = np.where(np.isfinite(noisy), noisy, 0.0) * depends[:, np.newaxis, np.newaxis]
        return _Moves(
            right=np.where(deltas[:, 0] == 0, np.nan, change[:, 0]),
            left=np.where(deltas[:, 1] == 0, np.nan, change[:, 1]),
            up=up,
            down=down,
            scale=np.nanmax(size / np.abs(np.where(deltas == 0, np.nan, deltas)), axis=1),
            variance=noisy.sum(axis=3).max(axis=1),
        )

    def _merge(self, columns: Array, stage: _Stage, finer: Array) -> None:
        """Take over what the stage knows better than the stages before it."""
        value, bound = self._best.value[columns], self._best.bound[columns]
        useful = np.isfinite(stage.bound)
        contradicts = np.abs(stage.value - value) > stage.bound + bound
        take = ~np.isfinite(bound) | np.where(contradicts, finer, stage.bound < bound)
        # A kink that smaller steps no longer show was only near, not here.
        take |= finer & self._best.kink[columns]
        take &= useful | ~np.isfinite(bound)
        for field in fields(_Stage):
            getattr(self._best, field.name)[columns[take]] = getattr(stage, field.name)[take]


def _rows(stage: _Stage, rows: Array) -> _Stage:
    return _Stage(*(getattr(stage, f.name)[rows] for f in fields(stage)))


def _judge(moves: _Moves) -> _Stage:
    """Extrapolate the quotients of one stage and see what kind of point this is."""
    right, left = moves.right / moves.up, moves.left / moves.down
    central = (moves.right - moves.left) / (moves.up - moves.down)
    only_right = np.asarray(np.isnan(left).all(axis=1))
    only_left = np.asarray(np.isnan(right).all(axis=1))
    both = ~(only_right | only_left)
    ladder = np.fmax(moves.up, -moves.down)
    steps = ladder.shape[1]
    deviation = ROUNDOFF_SAFETY * np.sqrt(moves.variance)
    noise = deviation / ladder
    middle = extrapolate(central, noise, ratio=4)
    from_right = extrapolate(right, 2 * noise, ratio=2)
    from_left = extrapolate(left, 2 * noise, ratio=2)
    value, bound, level = (
        np.where(both, m, np.where(only_right, r, s))
        for m, r, s in zip(middle, from_right, from_left, strict=True)
    )
    rows = np.arange(len(value))
    step = ladder[rows, level]
    roundoff = noise[rows, level]
    scale = moves.scale[:, -1]
    gap = np.abs(from_right.value - from_left.value)
    gap_bound = from_right.bound + from_left.bound
    kink = both & (gap > 3 * gap_bound + 4 * noise[:, -1]) & (gap > 1e-6 * scale)
    # Across a jump the quotients double with every halving; between points of one side they do not.
    growth = np.abs(central[:, -1]) / np.abs(central[:, 0])
    jump = both & (steps > 2) & (growth > 0.99 * 2.0 ** (steps - 1))
    jump &= np.abs(central[:, -1]) > 10 * noise[:, -1]
    inner_right = np.diff(moves.right, axis=1)[:, -1] / np.diff(moves.up, axis=1)[:, -1]
    inner_left = np.diff(moves.left, axis=1)[:, -1] / np.diff(moves.down, axis=1)[:, -1]
    slope_right = np.where(jump, inner_right, from_right.value)
    slope_left = np.where(jump, inner_left, from_left.value)
    outward = np.where(only_left[:, np.newaxis], left, right)
    diverges = ~both & (np.abs(outward[:, -1]) > 1.3 ** (steps - 1) * np.abs(outward[:, 0]))
    spread = np.ptp(central, axis=1) + np.ptp(right, axis=1) + np.ptp(left, axis=1)
    return _Stage(
        value=np.where(jump, (slope_right + slope_left) / 2, value),
        bound=np.where(jump, np.abs(slope_right - slope_left) / 2 + noise[:, -1], bound),
        roundoff=np.where(jump, noise[:, -1], roundoff),
        step=np.where(jump, ladder[:, -1], step),
        scale=scale,
        left=slope_left,
        right=slope_right,
        kink=kink | jump,
        contrast=np.where(jump, np.inf, gap),
        diverges=diverges,
        linear=np.asarray(both & (spread <= noise.sum(axis=1)) & (gap <= 2 * noise[:, -1])),
    )
