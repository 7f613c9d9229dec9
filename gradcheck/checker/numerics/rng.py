"""Generators of random numbers, one for each purpose, that depend on nothing but the seed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


def generator(seed: int, purpose: int) -> np.random.Generator:
    """What `np.random.default_rng([seed, purpose])` gives, for less."""
    return np.random.Generator(np.random.PCG64(_sequence(seed, purpose)))


@lru_cache(maxsize=256)
def _sequence(seed: int, purpose: int) -> np.random.SeedSequence:
    # It holds no state that drawing would change, so it can be shared.
    return np.random.SeedSequence([seed, purpose])
