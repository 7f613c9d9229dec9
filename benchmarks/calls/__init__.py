"""The calls of the broad set, in the proportions in which people check gradients."""

from __future__ import annotations

from benchmarks.calls import (
    algebra,
    elementwise,
    indexing,
    layers,
    losses,
    network,
    programs,
    reductions,
    signals,
    special,
)
from benchmarks.calls.declaration import Call, Prepared

BROAD: tuple[Call, ...] = (
    *elementwise.CALLS,
    *special.CALLS,
    *reductions.CALLS,
    *indexing.CALLS,
    *algebra.CALLS,
    *network.CALLS,
    *losses.CALLS,
    *programs.CALLS,
    *signals.CALLS,
    *layers.CALLS,
)

__all__ = ["BROAD", "Call", "Prepared"]
