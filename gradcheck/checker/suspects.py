"""What the suspects of a diagnosis have in common."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradcheck.model import Array, Comparison

FIT = 1e-6
"""How well a suspect must explain the numeric derivative, relative to its largest element."""

Suspects = Iterator[tuple[str, str, Array | None]]
"""Cause, sentence, and what the gradient would be without the fault, which is then compared with
the numeric derivative; None where that was done already."""


def how_well(fit: float) -> str:
    """How well two gradients agree, relative to the largest element."""
    return f"to {fit:.0e}" if fit > 0 else "exactly"


def arrays(comparison: Comparison) -> tuple[Array, Array]:
    """The two gradients, which `diagnose` has seen to be there."""
    return np.asarray(comparison.analytic), np.asarray(comparison.numeric)
