"""The verdict on a function, and points to ask for it at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import gradcheck
from gradcheck.checker.api import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array


def verdict(function: Callable[..., Any], *inputs: Any, **options: Any) -> str:
    """The verdict of a check, as a word."""
    result = gradcheck.check(function, *inputs, **options)
    # Shown by pytest where an assertion about it fails.
    print(describe(result))
    return str(result.verdict)


def draw(*shape: int) -> Array:
    """Numbers of this shape, the same each time."""
    return np.random.default_rng(11).standard_normal(shape)


def draw_from(seed: int, *shape: int) -> Array:
    """Others for each seed."""
    return np.random.default_rng(seed).standard_normal(shape)
