"""What is known of places alone before any value is: polynomials through them, and local noise.

Everything that a fit says of its values is linear in them but for sizes, so it is worked out once
for all the elements whose points lie at the same places, and applied as products of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import stepping

if TYPE_CHECKING:
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class Polynomials:
    """Polynomials of one degree through places, a row of them each; the last axes are matrices."""

    basis: Array
    """(rows, places, terms), orthonormal."""
    slope: Array
    """(rows, places): what each value adds to the slope at zero."""
    full: Array
    """By row: the places are enough to tell all the terms apart."""

    @classmethod
    def of(cls, places: Array, degree: int, *, kink: bool = False) -> Polynomials:
        """Those through rows of places in [-1, 1]; with a kink at zero as a term of its own.

        The slope is then the size of that kink.
        """
        # (An input that is infinite cannot be moved: without places, nothing is told apart.)
        movable = np.isfinite(places).all(axis=1, keepdims=True)
        moves = np.where(movable, places, 0.0)
        terms = np.polynomial.legendre.legvander(moves, degree)
        at_zero = _slopes_at_zero(degree)
        if kink:
            terms = np.concatenate([terms, np.abs(moves)[..., np.newaxis]], axis=-1)
            at_zero = np.append(np.zeros(degree + 1), 2.0)
        left, sizes, right = np.linalg.svd(terms, full_matrices=False)
        kept = sizes > sizes[:, :1] * places.shape[1] * np.finfo(np.float64).eps
        inverse = np.where(kept, 1 / np.where(kept, sizes, 1.0), 0.0)
        slope = np.einsum("rpk,rk,rk->rp", left, inverse, right @ at_zero)
        return cls(left * kept[:, np.newaxis], slope, kept.all(axis=1))

    def rest(self, values: Array) -> Array:
        """(rows, places, things): what the polynomials leave of the values of each thing."""
        inner = np.matmul(np.swapaxes(self.basis, 1, 2), values)
        return np.asarray(values - np.matmul(self.basis, inner))


def _slopes_at_zero(degree: int) -> Array:
    """The slope at zero of each Legendre polynomial: of the odd ones alone."""
    unit = np.eye(degree + 1)
    return np.array(
        [
            np.polynomial.legendre.legval(0.0, np.polynomial.legendre.legder(unit[k]))
            for k in range(degree + 1)
        ]
    )


def local_noise(places: Array, values: Array) -> Array:
    """(rows, things): the standard deviation of each thing's values around their neighbours.

    Each value is compared with the cubic through two neighbours to either side. Half of the values
    decide: a kink or a jump between some of them does not count.

    Without it `test_a_fit_does_not_reach_across_a_switch` fails.

    Args:
        places: (rows, places) in order.
        values: (rows, places, things).
    """
    count = places.shape[1]
    window = [places[:, i : count - 4 + i] for i in range(5)]
    middle, sides = window[2], (0, 1, 3, 4)
    parts = []
    with np.errstate(all="ignore"):
        for i in sides:
            others = [window[j] for j in sides if j != i]
            top = np.prod([middle - other for other in others], axis=0)
            bottom = np.prod([window[i] - other for other in others], axis=0)
            parts.append(top / bottom)
        gain = np.sqrt(1 + np.sum(np.square(parts), axis=0))
        away = values[:, 2 : count - 2].copy()
        for part, i in zip(parts, sides, strict=True):
            away -= part[..., np.newaxis] * values[:, i : count - 4 + i]
        sizes = np.abs(away) / gain[..., np.newaxis]
    # (Places that coincide tell nothing.)
    told = np.isfinite(sizes)
    sizes = np.sort(np.where(told, sizes, np.inf), axis=1)
    half = np.minimum(told.sum(axis=1) // 2, sizes.shape[1] - 1)
    medians = np.take_along_axis(sizes, half[:, np.newaxis], axis=1)[:, 0]
    return np.where(np.isfinite(medians), medians, 0.0) / stepping.NORMAL_MEDIAN


def distinct(places: Array) -> Array:
    """By row: how many of its places, which are in order, differ."""
    return np.asarray(1 + np.count_nonzero(np.diff(places, axis=1), axis=1))


def spread_places(rng: np.random.Generator) -> Array:
    """Places in [-1, 1], one in each of equal parts: at no regular distance from any steps."""
    count = stepping.FIT_POINTS
    return np.asarray((np.arange(count) + rng.uniform(size=count)) * 2 / count - 1)
