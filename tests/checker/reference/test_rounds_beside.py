"""Slopes of functions of float32 alone, which are rounded alike over all steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.subject import in_either
from tests.checker.verdicts import verdict

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def _nothing_is_promoted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("promoted", "promoted_eagerly"):
        monkeypatch.setattr(in_either, name, lambda *_given, **_named: None)


def _cancels(tf: Any, factor: float = 1.0) -> Callable[..., Any]:
    """`(exp(x/100) − 1)·y` in float32 alone, with gradients as double precision has them."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def function(x: Any, y: Any) -> Any:
        if x.dtype != tf.float32:
            raise TypeError("float32 alone")

        def gradient(upstream: Any) -> list[Any]:
            wide, by, u = (tf.cast(each, tf.float64) for each in (x, y, upstream))
            slopes = u * by * tf.exp(wide / 100) / 100, factor * u * tf.math.expm1(wide / 100)
            return [tf.cast(slope, tf.float32) for slope in slopes]

        return (tf.exp(x / 100) - 1) * y, gradient

    returned: Callable[..., Any] = function
    return returned


def _drawn(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(4).astype(np.float32) for _ in range(2)]


SEEDS = [10, 11, 13, 33, 45, 47, 48, 65]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_slope_that_is_rounded_alike_at_all_steps(tf: Any, seed: int) -> None:
    assert verdict(_cancels(tf), *_drawn(seed), seed=seed) == "pass"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_slope_that_is_off_by_more(tf: Any, seed: int) -> None:
    assert verdict(_cancels(tf, 1.01), *_drawn(seed), seed=seed) == "mismatch"
