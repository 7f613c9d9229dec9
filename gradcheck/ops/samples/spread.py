"""Keeping drawn values inside a domain and away from its edges and kinks, without redrawing.

Both maps are fixed and keep the order of neighbours, so a draw depends on the seed alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gradcheck.model import Array
    from gradcheck.ops.declaration import Domain

MARGIN = 0.05
"""How far values of order one stay from an edge or a kink: about as far as the first step of the
differences, a sixteenth of the value, so that the steps after it lie on one side."""


def fold_inside(values: Array, domain: Domain) -> Array:
    """The values mirrored at the edges of the domain until they lie inside."""
    low, high = domain.low, domain.high
    if np.isfinite(low) and np.isfinite(high):
        width = high - low
        phase = np.mod(values - low, 2 * width)
        folded: Array = low + np.where(phase > width, 2 * width - phase, phase)
    elif np.isfinite(low):
        folded = low + np.abs(values - low)
    elif np.isfinite(high):
        folded = high - np.abs(values - high)
    else:
        return values
    inside = (values > low) & (values < high)
    return np.where(inside, values, folded)


def squeeze_inside(values: Array, domain: Domain) -> Array:
    """The values moved, and where need be shrunk, as a whole: their order and distinctness stay."""
    low, high = domain.low, domain.high
    if not values.size or (values.min() > low and values.max() < high):
        return values
    if np.isfinite(low) and np.isfinite(high):
        centre, half = (low + high) / 2, (high - low) / 2
        return np.asarray(centre + values * (half / np.abs(values).max()))
    if np.isfinite(low):
        return np.asarray(values + (low - values.min()))
    return np.asarray(values + (high - values.max()))


def keep_clear(values: Array, domain: Domain, scale: float) -> Array:
    """The values pushed off the domain's edges and kinks, by a share of the sample's scale.

    Around a point k the 2m next to it are pressed into the outer m, which keeps the order. The
    share shrinks where points lie so close together that there is no room.
    """
    points = sorted(p for p in {domain.low, *domain.kinks, domain.high} if np.isfinite(p))
    if not points:
        return values
    margin = MARGIN * min(1.0, scale)
    gaps = np.diff(points)
    if gaps.size:
        margin = min(margin, float(gaps.min()) / 8)
    for point in points:
        distance = values - point
        side = np.where(distance < 0, -1.0, 1.0)
        # At an edge there is one side only, whatever rounding says.
        if point in (domain.low, domain.high):
            side = np.full_like(values, 1.0 if point == domain.low else -1.0)
        near = np.abs(distance) < 2 * margin
        values = np.where(near, point + side * (margin + np.abs(distance) / 2), values)
    return values
