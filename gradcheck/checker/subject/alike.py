"""Are two functions, or two passes of one, the same but for rounding?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import epsilon_of, largest, to_double
from gradcheck.checker.subject.tensors import is_low_precision, widen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Array


def alike(own: Sequence[Any], double: Sequence[Any], dtype: np.dtype[Any]) -> bool:
    """Whether two lists of results are the same but for rounding to this dtype.

    A function that draws other numbers in double precision, or whose kernels mean something else
    there, is another one. Without it `test_a_layer_that_draws_other_numbers_has_no_twin` and
    `test_a_kernel_that_means_something_else_in_float64_is_refused` fail.
    """
    return len(own) == len(double) and all(
        _same(np.asarray(mine), np.asarray(other), dtype, 0.0)
        for mine, other in zip(own, double, strict=True)
    )


def gradients_alike(
    own: Sequence[Array | None], double: Sequence[Array | None], dtype: np.dtype[Any]
) -> bool:
    """The same of gradients: what cancels in one of them is small against the others."""
    if [g is None for g in own] != [g is None for g in double]:
        return False
    found = [
        (np.asarray(a), np.asarray(b)) for a, b in zip(own, double, strict=True) if b is not None
    ]
    finite = [np.abs(b[np.isfinite(b)]).max(initial=0.0) for _, b in found]
    return all(_same(a, b, dtype, max(finite)) for a, b in found)


def passes_alike(
    shared: Sequence[Array | None],
    alone: Sequence[Array | None],
    drawn: Sequence[Sequence[Array | None]] = (),
) -> bool:
    """Whether gradients from a pass of many points are those of a pass of one, but for rounding.

    Args:
        shared: from the pass of many.
        alone: from the other one.
        drawn: the first ones in other roundings, which tell what rounding may do to them.
    """
    if [g is None for g in shared] != [g is None for g in alone]:
        return False
    for i, (ours, theirs) in enumerate(zip(shared, alone, strict=True)):
        if ours is None or theirs is None:
            continue
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return False
        a, b = to_double(ours), to_double(theirs)
        most: Array | float = tolerances.LARGEST_ULPS * epsilon_of(theirs.dtype) * largest(b)
        with np.errstate(all="ignore"):
            for gradients in drawn:
                most = np.fmax(most, np.abs(to_double(np.asarray(gradients[i])) - a))
            close = np.abs(a - b) <= most
        if not (close | (a == b) | (np.isnan(a) & np.isnan(b))).all():
            return False
    return True


def _same(own: Array, double: Array, dtype: np.dtype[Any], size: float) -> bool:
    """Whether one array is the other, rounded.

    Args:
        own: in low precision.
        double: what it should be.
        dtype: what is rounded to on the way.
        size: of numbers that matter, where these are smaller.
    """
    if own.shape != double.shape or is_low_precision(double.dtype):
        return False
    with np.errstate(all="ignore"):
        mine, rounded = widen(own), widen(double.astype(own.dtype))
        # (What is too large for its precision is infinite there, and rightly so.)
        equal = (mine == rounded) | (np.isnan(mine) & np.isnan(double))
        share = min(tolerances.TWIN_ROUNDING * epsilon_of(dtype), tolerances.ANOTHER_FUNCTION)
        top = np.abs(double[np.isfinite(double)]).max(initial=size)
        return bool((equal | (np.abs(mine - double) <= share * top)).all())
