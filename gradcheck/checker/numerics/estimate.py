"""The nouns of numeric differentiation: a function on rows, its noise, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from operator import attrgetter

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import everywhere_so, somewhere_so
from gradcheck.model import Array
from gradcheck.model.frozen import frozen

Evaluate = Callable[[Array], Array]
"""Points, one a row, to outputs, one row each; all real float64."""


@frozen()
class Noise:
    """The noise of a function around a point."""

    level: Array
    """Standard deviation, by output."""
    relative: float
    """The share of an output's size that is noise, typical of this function."""
    lost: float = 0.0
    """The share of an output as it is, which may have cancelled: how ill-conditioned it all is."""
    rounds_to: float = 0.0
    """The relative spacing of the values that the function rounds to inside, if it does."""
    assumed: bool = False
    """Not measured."""
    ceiling: Array | None = None
    """By output: how large it counts at most. One that depends on nothing hides nothing, however
    large it is; None where all count as they are."""

    parts: Array | None = None
    """By output: the size of what it is made of, where little is left of that; None if unknown."""

    @property
    def is_fine(self) -> bool:
        """Whether the function keeps most digits of double precision, and rounds to no less."""
        return self.relative <= tolerances.ROUGH and not self.rounds_to

    def counted(self, base: Array) -> Array:
        """The outputs, as large as they count."""
        return base if self.ceiling is None else np.clip(base, -self.ceiling, self.ceiling)

    @classmethod
    def ideal(cls, base: Array) -> Noise:
        """That of a function that loses nothing: the last digits of its outputs."""
        size = np.abs(base)
        if not everywhere_so(np.isfinite(size)):
            size = np.where(np.isfinite(size), size, 0.0)
        return cls(tolerances.LAST_DIGIT * size, tolerances.LAST_DIGIT, assumed=True)


@frozen()
class Moves:
    """How the scalar moves when coordinates move: a row per coordinate, a column per step."""

    first: Array
    """By coordinate: the step that the sequence was to start with."""
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

    @property
    def slopes(self) -> tuple[Array, Array]:
        """The quotients to the right and to the left."""
        return self.right / self.up, self.left / self.down

    @property
    def central(self) -> Array:
        """The quotients across."""
        return np.asarray((self.right - self.left) / (self.up - self.down))

    @property
    def ladder(self) -> Array:
        """The steps."""
        return np.asarray(np.fmax(self.up, -self.down))

    @property
    def roundoff(self) -> Array:
        """A bound on the noise of a quotient."""
        return self.noise / self.ladder

    def join(self, other: Moves) -> Moves:
        """These coordinates with more steps."""
        pairs = zip(_BY_STEP(self), _BY_STEP(other), strict=True)
        return Moves(self.first, *[np.concatenate(pair, axis=1) for pair in pairs])

    def steps(self, which: slice) -> Moves:
        """These coordinates with some of the steps."""
        return Moves(self.first, *[array[:, which] for array in _BY_STEP(self)])

    def take(self, rows: Array | slice) -> Moves:
        """Some of the coordinates."""
        return Moves(self.first[rows], *[array[rows] for array in _BY_STEP(self)])


_BY_STEP = attrgetter(*(field.name for field in fields(Moves) if field.name != "first"))


@frozen()
class Estimate:
    """What is known of each coordinate, `numeric ± bound`, and how it was found."""

    value: Array
    """The derivative; where it diverges, what the quotients had grown to."""
    error: Array
    """A bound on the error of `value`."""
    roundoff: Array
    """The part of it that smaller steps would make larger."""
    step: Array
    """The smallest step that the value was made of."""
    scale: Array
    """How much the outputs move per unit, before the upstream makes them cancel."""
    below: Array
    above: Array
    """What the quotients of either side tend to; of no meaning but at a kink."""
    kink: Array
    """Where the one-sided derivatives differ."""
    contrast: Array
    """By how much a kink stands out, to be compared with round-off; infinite for a jump."""
    diverges: Array
    """Where one-sided quotients have no limit, at the edge of a domain."""
    finest: Array
    coarsest: Array
    """The smallest and the largest first step of all the sequences of steps that were taken."""
    change: Array
    """The most that the outputs moved in any of them."""

    @classmethod
    def unknown(cls, count: int) -> Estimate:
        """Nothing is known of so many coordinates."""
        numbers, flags = np.zeros((11, count)), np.zeros((2, count), dtype=bool)
        value, error, roundoff, step, scale, below, above, contrast, finest, coarsest, change = (
            numbers
        )
        value[:], error[:], finest[:] = np.nan, np.inf, np.inf
        sides = (below, above, flags[0], contrast, flags[1])
        return cls(value, error, roundoff, step, scale, *sides, finest, coarsest, change)

    @classmethod
    def smooth(
        cls,
        value: Array,
        error: Array,
        roundoff: Array,
        step: Array,
        scale: Array,
        first: Array,
        change: Array,
    ) -> Estimate:
        """One sequence of steps that starts with `first`, along coordinates that are smooth."""
        kink, diverges = np.zeros((2, len(value)), dtype=bool)
        sides = (value.copy(), value.copy(), kink, np.zeros(len(value)), diverges)
        return cls(value, error, roundoff, step, scale, *sides, first, first.copy(), change)

    @cached_property
    def numeric(self) -> Array:
        """The derivative; infinite where it diverges."""
        if not somewhere_so(self.diverges):
            return self.value
        return np.where(self.diverges, np.copysign(np.inf, self.value), self.value)

    @cached_property
    def bound(self) -> Array:
        """The true derivative lies within `numeric ± bound`."""
        if not somewhere_so(self.diverges):
            return self.error
        return np.where(self.diverges, 0.0, self.error)

    @cached_property
    def left(self) -> Array:
        """The derivative to the left; `numeric` where the function is smooth."""
        return np.where(self.kink, self.below, self.numeric) if self.kink.any() else self.numeric

    @cached_property
    def right(self) -> Array:
        """The derivative to the right; `numeric` where the function is smooth."""
        return np.where(self.kink, self.above, self.numeric) if self.kink.any() else self.numeric

    def take(self, rows: Array | slice) -> Estimate:
        """The estimate of some coordinates."""
        return Estimate(*[array[rows] for array in _ARRAYS(self)])

    def copy(self) -> Estimate:
        """A copy with arrays of its own."""
        return Estimate(*[array.copy() for array in _ARRAYS(self)])

    def without(self, unseen: Array) -> Estimate:
        """The same, with no number and no bar where nobody can see a coordinate move.

        Without it `test_no_number_for_what_reaches_none` fails.
        """
        if not unseen.any():
            return self
        told = self.copy()
        told.put(unseen, Estimate.unknown(int(unseen.sum())))
        told.change[unseen] = self.change[unseen]
        return told

    def put(self, rows: Array | slice, other: Estimate) -> None:
        """Replace what is known of some coordinates, in arrays that nobody has seen yet."""
        for mine, theirs in zip(_ARRAYS(self), _ARRAYS(other), strict=True):
            mine[rows] = theirs


_ARRAYS = attrgetter(*(field.name for field in fields(Estimate)))
