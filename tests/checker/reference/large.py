"""Inputs of more elements than are moved whatever it costs."""

from __future__ import annotations

from typing import Any

SIZE = 5000
"""Elements, more than are moved whatever it costs."""


def entangled(tf: Any) -> Any:
    """A function whose outputs depend on all the elements, so that none can be moved together."""
    return lambda x: tf.sin(x) * tf.reduce_mean(x * x)
