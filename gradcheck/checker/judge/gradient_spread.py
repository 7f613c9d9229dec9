"""What a gradient is at several neighbours of a point, and what of that is rounding.

What a gradient says at the point alone, and nowhere around it, is not rounding: rounding differs
from one neighbour to the next as much as it differs from the point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.vectors import to_double

if TYPE_CHECKING:
    from gradcheck.model import Array


class Spread:
    """What a gradient is at neighbours of the point that differ in the last digits."""

    def __init__(self, base: Array) -> None:
        """No neighbour yet.

        Args:
            base: the gradient at the point.
        """
        self._base = to_double(base)
        self._first: Array | None = None
        self.all: list[Array] = []
        """Each of them, unless they are large."""
        self._change, self._apart = np.zeros(base.shape), np.zeros(base.shape)
        self._low = np.full(base.shape, np.inf, self._base.dtype)
        self._high = np.full(base.shape, -np.inf, self._base.dtype)
        if np.iscomplexobj(base):
            self._low.imag, self._high.imag = np.inf, -np.inf

    def add(self, gradient: Array) -> None:
        """The gradient at one more neighbour."""
        if self._first is None:
            self._first = gradient
        if gradient.size <= limits.LARGE_POINT:
            self.all.append(gradient)
        for most, other in ((self._change, self._base), (self._apart, self._first)):
            change = np.abs(gradient - other)
            np.fmax(most, np.where(np.isfinite(change), change, 0.0), out=most)
        for extreme, of in ((self._low, np.fmin), (self._high, np.fmax)):
            of(extreme.real, gradient.real, out=extreme.real)
            if np.iscomplexobj(extreme):
                of(extreme.imag, gradient.imag, out=extreme.imag)

    @property
    def size(self) -> Array:
        """By element: how far the gradient may be off by rounding.

        Without it `test_the_wrong_one_is_a_mismatch_there` fails.
        """
        return np.where(
            self._change > tolerances.STANDS_OUT * self._apart, 2 * self._apart, self._change
        )

    @property
    def ends(self) -> tuple[Array, Array]:
        """By element: the least and the largest that it was; of complex ones, by part."""
        return self._low, self._high
