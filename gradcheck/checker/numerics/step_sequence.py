"""What one sequence of halving steps tells: a derivative with its bound, a kink, a jump, a pole."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.richardson import Extrapolated, extrapolate

if TYPE_CHECKING:
    from gradcheck.model import Array


@dataclass(eq=False)
class Moves:
    """How the scalar moves when coordinates move: a row per coordinate, a column per step."""

    right: Array
    left: Array
    """Change of the scalar to either side; NaN where that side is not to be entered."""
    up: Array
    down: Array
    """How far the coordinate really moved (`down` is negative)."""
    size: Array
    """How much the outputs moved, without cancelling."""
    noise: Array
    """A bound on the noise of a change."""

    @cached_property
    def slopes(self) -> tuple[Array, Array]:
        """The quotients to the right and to the left."""
        return self.right / self.up, self.left / self.down

    @cached_property
    def central(self) -> Array:
        """The quotients across."""
        return np.asarray((self.right - self.left) / (self.up - self.down))

    @cached_property
    def ladder(self) -> Array:
        """The steps."""
        return np.asarray(np.fmax(self.up, -self.down))

    @cached_property
    def roundoff(self) -> Array:
        """A bound on the noise of a quotient."""
        return self.noise / self.ladder

    def join(self, other: Moves) -> Moves:
        """The same coordinates with more steps."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in _names(Moves))
        return Moves(*(np.concatenate(pair, axis=1) for pair in pairs))

    def take(self, rows: Array | slice) -> Moves:
        """Some of the coordinates."""
        return Moves(*(getattr(self, name)[rows] for name in _names(Moves)))


@dataclass(eq=False)
class Stage:
    """What is known of each coordinate."""

    value: Array
    bound: Array
    roundoff: Array
    """The part of the bound that smaller steps would make larger."""
    step: Array
    scale: Array
    """How much the outputs move per unit, without cancelling."""
    left: Array
    right: Array
    kink: Array
    contrast: Array
    """By how much a kink stands out, to be compared with round-off; infinite for a jump."""
    diverges: Array

    @classmethod
    def unknown(cls, count: int) -> Stage:
        """Nothing is known of so many coordinates."""
        numbers, flags = np.zeros((8, count)), np.zeros((2, count), dtype=bool)
        value, bound, roundoff, step, scale, left, right, contrast = numbers
        value[:], bound[:] = np.nan, np.inf
        kink, diverges = flags
        return cls(value, bound, roundoff, step, scale, left, right, kink, contrast, diverges)

    @classmethod
    def smooth(
        cls, value: Array, bound: Array, roundoff: Array, step: Array, scale: Array
    ) -> Stage:
        """The function is smooth along so many coordinates."""
        left, right, contrast = value.copy(), value.copy(), np.zeros(len(value))
        kink, diverges = np.zeros((2, len(value)), dtype=bool)
        return cls(value, bound, roundoff, step, scale, left, right, kink, contrast, diverges)

    def take(self, rows: Array) -> Stage:
        """Some of the coordinates."""
        return Stage(*(getattr(self, name)[rows] for name in _names(Stage)))

    def put(self, rows: Array | slice, other: Stage) -> None:
        """Replace what is known of some coordinates."""
        for name in _names(Stage):
            getattr(self, name)[rows] = getattr(other, name)


@cache
def _names(kind: type[Moves | Stage]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def as_claimed(moves: Moves, claimed: Array) -> tuple[Stage, Array]:
    """What a single step tells where it gives the derivatives that are claimed; and where it does.

    A step has a truncation error, but for a function that is linear. A claim that were wrong by
    just that, to all its digits, and on both sides, would be made of the same step.
    """
    right, left = (slopes[:, 0] for slopes in moves.slopes)
    value, noise, step = moves.central[:, 0], moves.roundoff[:, 0], moves.ladder[:, 0]
    settled = (np.abs(right - left) <= 3 * noise) & (np.abs(value - claimed) <= noise)
    # (Of its own, so that what is put there later changes nothing else.)
    own = (value.copy(), noise.copy(), noise.copy(), step.copy())
    return Stage.smooth(*own, moves.size[:, 0] / step), settled


def judge(moves: Moves) -> Stage:
    """Extrapolate the quotients of one sequence and see what kind of point this is."""
    count = len(moves.up)
    if count <= limits.COORDINATES_AT_ONCE:
        return _judge(moves)
    stage = Stage.unknown(count)
    for start in range(0, count, limits.COORDINATES_AT_ONCE):
        block = slice(start, start + limits.COORDINATES_AT_ONCE)
        stage.put(block, _judge(moves.take(block)))
    return stage


def _judge(moves: Moves) -> Stage:
    (right, left), ladder, noise = moves.slopes, moves.ladder, moves.roundoff
    value, bound, level = extrapolate(moves.central, noise, ratio=4)
    rows = np.arange(len(value))
    # The two sides of a smooth function differ by an amount that halves with the step.
    apart = np.abs(right - left)
    halves = (apart[:, 1:] <= tolerances.HALVES * apart[:, :-1] + 2 * noise[:, 1:]).all(axis=1)
    # And so does the change itself, even where the two sides of a jump are alike.
    first, last = (np.abs(moves.right[:, i] - moves.left[:, i]) for i in (0, -1))
    halves &= ~(last > tolerances.JUMPS * first)
    stage = Stage.smooth(
        value, bound, noise[rows, level], ladder[rows, level], moves.size[:, -1] / ladder[:, -1]
    )
    special = np.flatnonzero(~halves)
    if len(special):
        stage.put(special, _look_closer(stage.take(special), moves.take(special)))
    return stage


def _look_closer(stage: Stage, moves: Moves) -> Stage:
    """Tell the kinks, the jumps and the edges of a domain from what is smooth after all."""
    (right, left), ladder, noise = moves.slopes, moves.ladder, moves.roundoff
    only_right, only_left = np.isnan(left[:, -1]), np.isnan(right[:, -1])
    both = ~(only_right | only_left)
    steps = ladder.shape[1]
    from_right, from_left = _both_sides(right, left, 2 * noise)
    if not both.all():
        rows = np.arange(len(both))
        value, bound, level = (
            np.where(only_right, r, s) for r, s in zip(from_right, from_left, strict=True)
        )
        stage.value = np.where(both, stage.value, value)
        stage.bound = np.where(both, stage.bound, bound)
        stage.step = np.where(both, stage.step, ladder[rows, level])
        stage.roundoff = np.where(both, stage.roundoff, noise[rows, level])
        outward = np.where(only_left[:, np.newaxis], left, right)
        growing = np.abs(outward[:, -1]) > tolerances.DIVERGES ** (steps - 1) * np.abs(
            outward[:, 0]
        )
        stage.diverges = ~both & growing
    gap = np.abs(from_right.value - from_left.value)
    gap_bound = from_right.bound + from_left.bound
    stage.kink = both & (gap > 3 * gap_bound + 4 * noise[:, -1]) & (gap > 1e-6 * stage.scale)
    stage.contrast = gap
    # At a kink the central quotient means nothing: what counts are the two sides.
    stage.left, stage.right = from_left.value, from_right.value
    stage.bound = np.where(stage.kink, np.fmax(from_right.bound, from_left.bound), stage.bound)
    stage.value = np.where(stage.kink, (stage.left + stage.right) / 2, stage.value)
    if steps > 2:
        change = np.abs(moves.right - moves.left)
        jump = both & (change[:, -1] > tolerances.JUMPS * change[:, 0])
        jump &= change[:, -1] > 10 * moves.noise[:, -1]
        if jump.any():
            _across_jumps(stage, moves, np.flatnonzero(jump))
    return stage


def _both_sides(right: Array, left: Array, noise: Array) -> tuple[Extrapolated, Extrapolated]:
    """One-sided derivatives, both in one go."""
    count = len(right)
    sides = extrapolate(np.concatenate([right, left]), np.concatenate([noise, noise]), ratio=2)
    return (
        Extrapolated(*(part[:count] for part in sides)),
        Extrapolated(*(part[count:] for part in sides)),
    )


def _across_jumps(stage: Stage, moves: Moves, rows: Array) -> None:
    """Where the function jumps, take each side's derivative between points of that side."""
    up, down = moves.up[rows], moves.down[rows]
    right = np.diff(moves.right[rows], axis=1) / np.diff(up, axis=1)
    left = np.diff(moves.left[rows], axis=1) / np.diff(down, axis=1)
    noise = 2 * moves.noise[rows, 1:] / up[:, 1:]
    from_right, from_left = _both_sides(right, left, noise)
    stage.left[rows], stage.right[rows] = from_left.value, from_right.value
    stage.value[rows] = (from_left.value + from_right.value) / 2
    stage.bound[rows] = np.fmax(from_left.bound, from_right.bound)
    stage.roundoff[rows] = noise[:, -1]
    stage.step[rows] = up[:, -1]
    stage.kink[rows] = True
    stage.contrast[rows] = np.inf
