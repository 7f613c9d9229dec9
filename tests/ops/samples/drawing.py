"""What the tests of samples draw, and from which shapes, seeds and domains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from gradcheck.ops import ANYWHERE, Domain
from gradcheck.ops.samples.registry import SAMPLES, draw, parse_sample

if TYPE_CHECKING:
    from gradcheck.model import Array

GENERAL = [name for name, kind in SAMPLES.items() if kind.structure == "general"]

shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
seeds = st.integers(0, 2**32)
# Edges and kinks: on a grid, so that there is room between them.
domains = st.builds(
    lambda points, low, high: Domain(
        low=points[0] if low else -math.inf,
        high=points[-1] if high else math.inf,
        kinks=tuple(points[1:-1]),
    ),
    st.lists(st.integers(-6, 6), min_size=2, max_size=5, unique=True).map(
        lambda points: sorted(point / 2 for point in points)
    ),
    st.booleans(),
    st.booleans(),
)


def drawn(
    name: str, shape: tuple[int, ...], seed: int, domain: Domain = ANYWHERE, complex_: bool = False
) -> Array:
    return draw(parse_sample(name), shape, complex_, np.random.default_rng(seed), domain)
