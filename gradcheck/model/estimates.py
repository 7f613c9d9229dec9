"""A numeric derivative with its error bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradcheck.model.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A numeric gradient with its error bars, one entry per coordinate that was moved."""

    numeric: Array
    bound: Array
    """The true derivative lies within `numeric ± bound`."""
    step: Array
    """The smallest step that the kept estimate used."""
    scale: Array
    """How much the outputs move per unit, before upstream makes them cancel."""
    left: Array
    right: Array
    """One-sided derivatives; equal to `numeric` where the function is smooth."""
    kink: Array
    """Where the two one-sided derivatives differ."""
    evaluations: int
