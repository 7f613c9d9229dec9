"""What eager ops are given: tensors, variables and attributes, by themselves or in lists."""

from __future__ import annotations

from functools import cache
from typing import Any

ATTRIBUTES: frozenset[type] = frozenset((str, bytes, int, bool, float, type(None)))
"""The classes of most of what an op is given beside tensors."""


@cache
def plain_inputs() -> frozenset[type]:
    """The classes of most of what an op is given; none of these is a variable, or a list."""
    import tensorflow as tf

    return ATTRIBUTES | {type(tf.constant(0))}


@cache
def precision_of(dtype: Any) -> str:
    """The floating-point dtype of what a tensor of this dtype holds; empty if that is no such."""
    return str(dtype.real_dtype.name) if dtype.is_floating or dtype.is_complex else ""


def listed(given: Any) -> Any:
    """What a list holds, and what is none."""
    return given if isinstance(given, list | tuple) else (given,)
