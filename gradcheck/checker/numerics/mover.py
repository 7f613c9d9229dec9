"""Moving coordinates and seeing how the scalar moves, with as few calls as the function allows.

Every output is differenced first and weighed afterwards: outputs may hold huge or infinite elements
that do not move. Coordinates that reach different outputs can be moved in the same call; `sparsity`
tells which do.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.dependents import dependents
from gradcheck.checker.numerics.safe_norms import changed, largest, norms, norms_of_some
from gradcheck.checker.numerics.step_sequence import Moves

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.noise import Evaluate, Noise
    from gradcheck.checker.numerics.sparsity import Colouring
    from gradcheck.model import Array


SINGLE_NOISE = (2.0**-40, 2.0**-16)
"""Relative noise between which a function counts as one of those. (What is coarser is mostly
computed in float32 and then rounded once.)"""


_BOTH_SIDES = np.array([[1.0], [-1.0]])


class Mover:
    """Moves the coordinates of a space."""

    def __init__(
        self,
        evaluate: Evaluate,
        base: Array,
        weights: Array,
        noise: Noise,
        space: Space,
        colouring: Colouring | None = None,
    ) -> None:
        """Set up; the arguments are those of Differentiator."""
        self.space = space
        self.colouring = colouring
        self.evaluations = 0
        self.base = base
        self._evaluate = evaluate
        self._weights = weights
        self._noise = noise
        self._safety = tolerances.ROUNDOFF_SAFETY
        if SINGLE_NOISE[0] < noise.relative < SINGLE_NOISE[1]:
            self._safety = tolerances.SINGLE_SAFETY
        if noise.lost > tolerances.ILL_CONDITIONED and not noise.rounds_to:
            self._safety = tolerances.ILL_CONDITIONED_SAFETY
        self._sizes = np.abs(weights)
        self._finite = bool(np.isfinite(base).all())
        self._has_edges = not ((space.room_up > 0) & (space.room_down > 0)).all()
        self.trustworthy = noise.lost < tolerances.COARSE or noise.rounds_to > 0
        """Whether the function keeps enough digits to refute anything."""
        self._dependents: dict[int, Array] = {}
        self._independent: set[int] = set()
        self._hidden: dict[int, float] = {}
        """Coordinates that outputs depend on and yet stand still over such a move."""

    @cached_property
    def size(self) -> float:
        """The size of the scalar's terms."""
        with np.errstate(over="ignore", invalid="ignore"):
            return largest(self._weights * self.base)

    def calls(self, count: int) -> int:
        """How many points move so many coordinates by a step."""
        return count if self.colouring is None else min(count, len(self.colouring.owner))

    def moves(self, columns: Array, ladder: Array, *, alone: bool = False) -> Moves:
        """Move each of the columns up and down by the steps of its row of the ladder.

        Args:
            columns: which coordinates.
            ladder: a row of steps for each.
            alone: each in calls of its own, whatever the colouring says.
        """
        deltas = ladder[:, np.newaxis] * _BOTH_SIDES
        if self._has_edges:
            deltas[:, 0][self.space.room_up[columns] <= 0] = 0.0
            deltas[:, 1][self.space.room_down[columns] <= 0] = 0.0
        if self.colouring is None or alone:
            actual, change, size, noise = self._apart(columns, deltas)
        elif self.calls(len(columns)) * ladder.shape[1] * len(self.base) <= limits.OUTPUTS_AT_ONCE:
            actual, change, size, noise = self._together(self.colouring, columns, deltas)
        else:
            # A step at a time, to hold less in memory.
            steps = np.split(deltas, ladder.shape[1], axis=2)
            parts = [self._together(self.colouring, columns, step) for step in steps]
            actual, change, size, noise = (
                np.concatenate(part, axis=2) for part in zip(*parts, strict=True)
            )
        if self._has_edges:
            actual, change = (np.where(deltas == 0, np.nan, a) for a in (actual, change))
        return Moves(
            right=change[:, 0],
            left=change[:, 1],
            up=actual[:, 0],
            down=actual[:, 1],
            size=np.maximum(size[:, 0], size[:, 1]),
            noise=self._safety * np.maximum(noise[:, 0], noise[:, 1]),
        )

    def look_for_dependents(self, columns: Array) -> None:
        """See which outputs far moves of these coordinates reach.

        An output may depend on a coordinate and yet stand still over small steps, where its last
        digit is larger than its change. Its noise is part of the bound all the same.
        """
        allowed = np.stack([self.space.room_down[columns], self.space.room_up[columns]], axis=1)
        moves = np.outer(self.space.unit[columns], limits.FAR_MOVES)
        beyond = 2 * largest(self.space.point) * np.array([[1.0, -1.0]])
        moves = np.concatenate([moves, np.repeat(beyond, len(columns), axis=0)], axis=1)
        moves = np.clip(moves, -0.5 * allowed[:, :1], 0.5 * allowed[:, 1:])
        points, _ = self.space.points(np.repeat(columns, moves.shape[1]), moves.ravel())
        seen = self._see(points, len(columns))
        reached = seen.moved
        sizes = (seen.sizes @ self._sizes).reshape(moves.shape).max(axis=1)
        noise = seen.noise.reshape(-1, len(self.base)).max(axis=0)
        hiding = (~reached & (noise > tolerances.NEGLIGIBLE * sizes[:, np.newaxis])).any(axis=1)
        hiding = np.flatnonzero(hiding | (sizes == 0))
        if len(hiding):
            # Outputs that stand still and are so large that they might hide a change. A huge move
            # shows in whatever depends on it, however little.
            with suppress(Exception):  # some functions refuse it; then nothing is learnt
                reached[hiding] |= dependents(
                    self._evaluate, self.space, columns[hiding], self.base
                )
                still = hiding[~reached[hiding].any(axis=1)]
                self._independent.update(columns[still].tolist())
        hidden = (sizes == 0) & reached.any(axis=1)
        reaches = np.abs(moves).max(axis=1)
        self._hidden.update(zip(columns[hidden].tolist(), reaches[hidden], strict=True))
        self._dependents.update(zip(columns.tolist(), reached, strict=True))

    def independent(self, columns: Array) -> Array:
        """Whether nothing depends on these coordinates, as was seen before blame."""
        return np.array([c in self._independent for c in columns.tolist()], dtype=bool)

    def may_hide(self, columns: Array, claimed: Array) -> Array:
        """Whether a derivative might be lost in the function, which does not move at all.

        As that of 1 − cos x close to zero, where the cosine is rounded to one.
        """
        reach = np.array([self._hidden.get(c, np.inf) for c in columns.tolist()])
        return np.asarray(np.abs(claimed) * reach <= tolerances.LAST_DIGITS * max(1.0, self.size))

    def _apart(self, columns: Array, deltas: Array) -> tuple[Array, Array, Array, Array]:
        """A call per move."""
        shape = deltas.shape
        points, actual = self.space.points(np.repeat(columns, shape[1] * shape[2]), deltas.ravel())
        seen = self._see(points, len(columns))
        outputs = len(self.base)
        # Only outputs that depend on the coordinate add noise; where none moves, any of them may
        # have hidden a change that is smaller than its noise.
        depends = seen.moved | ~seen.moved.any(axis=1, keepdims=True)
        if self._dependents:
            nobody = np.zeros(outputs, dtype=bool)
            depends |= np.stack([self._dependents.get(c, nobody) for c in columns.tolist()])
        if seen.noise.ndim == 1:
            noise = norms_of_some(seen.noise, depends)[:, np.newaxis, np.newaxis]
        else:
            noise = norms(seen.noise.reshape(*shape, outputs) * depends[:, np.newaxis, np.newaxis])
        return (
            actual.reshape(shape),
            (seen.change @ self._weights).reshape(shape),
            (seen.sizes @ self._sizes).reshape(shape),
            noise + np.zeros(shape),
        )

    def _together(
        self, colouring: Colouring, columns: Array, deltas: Array
    ) -> tuple[Array, Array, Array, Array]:
        """A call per colour: each output tells of the coordinate of that colour it depends on."""
        wanted = np.zeros(len(colouring.owner), dtype=bool)
        wanted[colouring.colour[columns]] = True
        colours = np.flatnonzero(wanted)
        row = (np.cumsum(wanted) - 1)[colouring.colour[columns]]
        _, sides, steps = deltas.shape
        per_colour = sides * steps
        point, position = self.space.point, colouring.position[columns]
        points = np.repeat(point[np.newaxis], len(colours) * per_colour, axis=0)
        rows = row[:, np.newaxis] * per_colour + np.arange(per_colour)
        moved_to = point[position][:, np.newaxis] + deltas.reshape(len(columns), per_colour)
        points[rows, position[:, np.newaxis]] = moved_to
        points = self.space.rounded(points)
        actual = points[rows, position[:, np.newaxis]] - point[position][:, np.newaxis]
        seen = self._see(points, len(colours))
        changes = seen.change * self._weights

        # Sum the outputs of each row by the coordinate that they belong to.
        outputs, count = len(self.base), len(columns)
        place = np.full(len(colouring.colour) + 1, count)  # the last: outputs of nobody here
        place[columns] = np.arange(count)
        owner = place[colouring.owner[colours]]

        def split(values: Array) -> Array:
            """(colours, rows, outputs) to (coordinates, rows)."""
            width = values.shape[1]
            target = owner[:, np.newaxis]
            if width > 1:
                target = target * width + np.arange(width)[:, np.newaxis]
            summed = np.bincount(target.reshape(-1), values.reshape(-1), (count + 1) * width)
            return np.asarray(summed[: count * width].reshape(count, width))

        def by_move(values: Array) -> Array:
            return split(values.reshape(len(colours), per_colour, outputs)).reshape(deltas.shape)

        top = float(seen.noise.max(initial=0.0)) or 1.0
        noisy = (seen.noise / top).reshape(-1, per_colour if seen.noise.ndim > 1 else 1, outputs)
        variance = split((noisy * seen.moved[:, np.newaxis]) ** 2)
        # As above: where nothing moves, anything may have hidden a change.
        still = np.ones(count + 1, dtype=bool)
        still[owner[seen.moved]] = False
        variance[still[:count]] = float((noisy[0] ** 2).sum(axis=-1).max())
        noise = np.broadcast_to(top * np.sqrt(variance), (count, per_colour))
        return (
            actual.reshape(deltas.shape),
            by_move(changes),
            by_move(seen.sizes * self._sizes),
            noise.reshape(deltas.shape),
        )

    def _see(self, points: Array, groups: int) -> _Seen:
        """What the outputs do at these points, so many groups of them that follow each other."""
        outputs = self._evaluate(points)
        self.evaluations += len(points)
        change = outputs - self.base
        if not self._finite:
            # Outputs may be infinite or NaN in places that do not move: that is no change.
            change = np.where(changed(outputs, self.base), change, 0.0)
        sizes = np.abs(change)
        most = sizes.reshape(groups, len(points) // groups, len(self.base)).max(axis=1)
        assumed = self._noise.assumed
        top = np.abs(self.base) + most.max(axis=0) if assumed else np.abs(outputs)
        noise = np.maximum(self._noise.level, self._noise.relative * top) * self._sizes
        if not np.isfinite(noise).all():
            noise = np.where(np.isfinite(noise), noise, 0.0)
        # (A change to NaN is one.)
        return _Seen(change, sizes, ~(most == 0), noise)


class _Seen(NamedTuple):
    """By point and output."""

    change: Array
    sizes: Array
    """Of the changes."""
    moved: Array
    """By group of points: whether any of them changes the output."""
    noise: Array
    """Weighed; by output alone where it is only assumed."""
