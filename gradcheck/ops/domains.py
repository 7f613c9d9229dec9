"""The domains that more than one family draws its inputs from."""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain

NONZERO = Domain(sample=Sample("nonzero"), kinks=(0.0,))
"""Divisors: the kink keeps steps from crossing the pole."""
BEND_AT_ZERO = Domain(kinks=(0.0,))
POSITIVE = Domain(low=0.0, sample=Sample("positive"))
UNIT = Domain(low=-1.0, high=1.0, sample=Sample("unit"))
SPD = Domain(sample=Sample("spd"))
"""Symmetric positive definite matrices."""
