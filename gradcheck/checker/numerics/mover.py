"""Moving coordinates and seeing how the scalar moves, with as few calls as the function allows.

Every output is differenced first and weighed afterwards: outputs may hold huge or infinite elements
that do not move. Coordinates that reach different outputs can be moved in the same call; `sparsity`
tells which do.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.coordinates import Elements
from gradcheck.checker.numerics.estimate import Moves
from gradcheck.checker.numerics.vectors import changed, everywhere_so, largest

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.estimate import Evaluate, Noise
    from gradcheck.checker.numerics.sparsity import Colouring
    from gradcheck.model import Array

_BOTH_SIDES = np.array([[1.0], [-1.0]])


class Mover:
    """Moves the coordinates of a space; keeps nothing of what it sees."""

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
        self.evaluate, self.base, self.space = evaluate, base, space
        self.colouring = colouring
        self.weight_sizes = np.abs(weights)
        self._weights = weights
        self._noise = noise
        self._safety = _safety(noise)
        self.is_fine = noise.is_fine
        self._finite = everywhere_so(np.isfinite(base))
        self._has_edges = not (space.is_boundless or (space.least_room > 0).all())

    @cached_property
    def size(self) -> float:
        """The size of the scalar's terms."""
        with np.errstate(over="ignore", invalid="ignore"):
            return largest(self._weights * self._noise.counted(self.base))

    @property
    def hides(self) -> bool:
        """Whether the function rounds off more than it shows."""
        return self._noise.parts is not None

    @property
    def size_of_parts(self) -> float:
        """The size of what these terms are made of, as far as it is known."""
        if self._noise.parts is None:
            return self.size
        return max(self.size, largest(self._weights * self._noise.parts))

    @property
    def can_refute(self) -> bool:
        """Whether the function keeps enough digits to refute anything.

        Without it `test_a_bad_condition_is_never_a_mismatch` fails.
        """
        return self._noise.lost < tolerances.COARSE or self._noise.rounds_to > 0

    def calls(self, count: int) -> int:
        """How many points move so many coordinates by a step."""
        return count if self.colouring is None else min(count, len(self.colouring.owner))

    def seems_linear(self, columns: Array, steps: Array) -> bool:
        """Whether moving all of these at once, up and down, changes the scalar by as much.

        Then each of them is worth a try with a single step. Without it
        `test_few_calls_where_each_is_dear` fails.
        """
        few = len(columns) <= limits.FEW_COORDINATES
        if self._has_edges or few or not isinstance(self.space, Elements):
            return False
        signs = np.where(np.arange(len(columns)) % 3, 1.0, -1.0)
        moved = self.space.points(columns, signs * steps)[0] - self.space.point
        points = self.space.point + moved.sum(axis=0) * _BOTH_SIDES
        seen = self.see(points, 1)
        up, down = seen.change @ self._weights
        noise = self._safety * float(np.linalg.norm(seen.noise))
        return bool(abs(up + down) <= tolerances.AS_CLAIMED * noise)

    def moves(
        self, columns: Array, ladder: Array, *, alone: bool = False, reached: Array | None = None
    ) -> Moves:
        """Move each of the columns up and down by the steps of its row of the ladder.

        Args:
            columns: which coordinates.
            ladder: a row of steps for each.
            alone: each in calls of its own, whatever the colouring says.
            reached: (columns, outputs), which outputs are known to depend on each that moves alone.
        """
        deltas = ladder[:, np.newaxis] * _BOTH_SIDES
        if self._has_edges:
            deltas[:, 0][self.space.room_up[columns] <= 0] = 0.0
            deltas[:, 1][self.space.room_down[columns] <= 0] = 0.0
        if self.colouring is None or alone:
            moved = self._apart(columns, deltas, reached)
        elif self.calls(len(columns)) * ladder.shape[1] * len(self.base) <= limits.OUTPUTS_AT_ONCE:
            moved = self._together(self.colouring, columns, deltas)
        else:
            # A step at a time, to hold less in memory.
            steps = np.split(deltas, ladder.shape[1], axis=2)
            parts = [self._together(self.colouring, columns, step) for step in steps]
            moved = _Moved(*(np.concatenate(part, axis=2) for part in zip(*parts, strict=True)))
        actual, change, size, noise = moved
        if self._has_edges:
            actual, change = (np.where(deltas == 0, np.nan, a) for a in (actual, change))
        return Moves(
            first=ladder[:, 0],
            right=change[:, 0],
            left=change[:, 1],
            up=actual[:, 0],
            down=actual[:, 1],
            size=np.maximum(size[:, 0], size[:, 1]),
            noise=self._safety * np.maximum(noise[:, 0], noise[:, 1]),
        )

    def see(self, points: Array, groups: int) -> Seen:
        """What the outputs do at these points, so many groups of them that follow each other."""
        outputs = self.evaluate(points)
        change = outputs - self.base
        if not self._finite:
            # Outputs may be infinite or NaN in places that do not move: that is no change.
            change = np.where(changed(outputs, self.base), change, 0.0)
        sizes = np.abs(change)
        by_group = sizes.reshape(groups, len(points) // groups, len(self.base))
        most = np.maximum.reduce(by_group, axis=1)
        if self._noise.assumed:  # (and so not less than its level)
            noise = self._noise.relative * (np.abs(self.base) + np.maximum.reduce(most, axis=0))
        else:
            top = self._noise.relative * self._noise.counted(np.abs(outputs))
            noise = np.maximum(self._noise.level, top)
        noise *= self.weight_sizes
        if not everywhere_so(np.isfinite(noise)):
            noise = np.where(np.isfinite(noise), noise, 0.0)
        # (A change to NaN is one.)
        return Seen(change, sizes, most != 0, noise)

    def _apart(self, columns: Array, deltas: Array, reached: Array | None) -> _Moved:
        """A call per move."""
        shape = deltas.shape
        points, actual = self.space.points(columns.repeat(shape[1] * shape[2]), deltas.ravel())
        seen = self.see(points, len(columns))
        # Only outputs that depend on the coordinate add noise; where none moves, any of them may
        # have hidden a change that is smaller than its noise. (Without this
        # `test_an_offset_that_leaves_none` fails.)
        depends = seen.moved if reached is None else seen.moved | reached
        depends |= ~np.logical_or.reduce(depends, axis=1, keepdims=True)
        if seen.noise.ndim == 1:
            noise = _norms_of_some(seen.noise, depends)[:, np.newaxis, np.newaxis]
        else:
            by_output = seen.noise.reshape(*shape, len(self.base))
            noise = _norms(by_output * depends[:, np.newaxis, np.newaxis])
        return _Moved(
            actual.reshape(shape),
            seen.change.dot(self._weights).reshape(shape),
            seen.sizes.dot(self.weight_sizes).reshape(shape),
            noise + np.zeros(shape),
        )

    def _together(self, colouring: Colouring, columns: Array, deltas: Array) -> _Moved:
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
        seen = self.see(points, len(colours))
        changes = seen.change * self._weights

        # Sum the outputs of each row by the coordinate that they belong to.
        outputs, count = len(self.base), len(columns)
        place = np.full(len(colouring.colour) + 1, count)  # the last: outputs of nobody here
        place[columns] = np.arange(count)
        owner = place[colouring.owner[colours]]

        def by_move(values: Array) -> Array:
            by_row = values.reshape(len(colours), per_colour, outputs)
            return _by_owner(by_row, owner, count).reshape(deltas.shape)

        top = float(seen.noise.max(initial=0.0)) or 1.0
        noisy = (seen.noise / top).reshape(-1, per_colour if seen.noise.ndim > 1 else 1, outputs)
        variance = _by_owner((noisy * seen.moved[:, np.newaxis]) ** 2, owner, count)
        # Where nothing moves, any output may have hidden a change. (Without this
        # `test_what_stands_still_has_a_bar_too` fails.)
        still = np.ones(count + 1, dtype=bool)
        still[owner[seen.moved]] = False
        variance[still[:count]] = float((noisy[0] ** 2).sum(axis=-1).max())
        noise = np.broadcast_to(top * np.sqrt(variance), (count, per_colour))
        return _Moved(
            actual.reshape(deltas.shape),
            by_move(changes),
            by_move(seen.sizes * self.weight_sizes),
            noise.reshape(deltas.shape),
        )


class Seen(NamedTuple):
    """What outputs do at some points, by point and output."""

    change: Array
    sizes: Array
    """Of the changes."""
    moved: Array
    """By group of points: whether any of them changes the output."""
    noise: Array
    """Weighed; by output alone where it is only assumed."""


class _Moved(NamedTuple):
    """What moves did, by coordinate, side and step."""

    actual: Array
    """How far the coordinate really moved."""
    change: Array
    """Of the scalar."""
    size: Array
    """Of the outputs' changes, without cancelling."""
    noise: Array
    """Standard deviation of the change."""


def _safety(noise: Noise) -> float:
    """How many standard deviations of this noise a bound allows for.

    Without it `test_an_ill_conditioned_function_passes_no_wrong_gradient` fails.
    """
    if noise.lost > tolerances.ILL_CONDITIONED and not noise.rounds_to:
        return tolerances.ILL_CONDITIONED_SAFETY
    # (What is coarser is mostly computed in float32 and then rounded once.)
    computes_in_single = tolerances.ROUGH < noise.relative < tolerances.COARSE
    return tolerances.SINGLE_SAFETY if computes_in_single else tolerances.ROUNDOFF_SAFETY


def _by_owner(values: Array, owner: Array, count: int) -> Array:
    """(colours, rows, outputs) to (coordinates, rows): sums over the outputs of each coordinate.

    Args:
        values: what is summed.
        owner: (colours, outputs), whom an output belongs to; `count` for nobody.
        count: how many coordinates there are.
    """
    width = values.shape[1]
    target = owner[:, np.newaxis]
    if width > 1:
        target = target * width + np.arange(width)[:, np.newaxis]
    summed = np.bincount(target.reshape(-1), values.reshape(-1), (count + 1) * width)
    return np.asarray(summed[: count * width].reshape(count, width))


def _norms(values: Array) -> Array:
    """Norms of sizes along the last axis, also where squares would overflow or vanish."""
    top = values.max(axis=-1, initial=0.0, keepdims=True)
    safe = np.where(top > 0, top, 1.0)
    return np.asarray(safe[..., 0] * np.sqrt(((values / safe) ** 2).sum(axis=-1)))


def _norms_of_some(values: Array, chosen: Array) -> Array:
    """By row of choices: the norm of the sizes that are chosen."""
    top = float(np.maximum.reduce(values, axis=None, initial=0.0)) or 1.0
    squares = (values / top) ** 2
    if np.count_nonzero(squares) < np.count_nonzero(values):
        return _norms(values * chosen)
    return np.asarray(top * np.sqrt(chosen.dot(squares)))
