"""The checkers that are compared, each with the defaults that its users get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any

import numpy as np

import gradcheck
from benchmarks.frameworks import installed, load
from benchmarks.subjects import Function

TENSORFLOW_LIMIT = 1e-3
"""tf.test.compute_gradient has no verdict of its own; this is what its users compare with."""


class Judgement(Enum):
    """What a checker says about a gradient."""

    RIGHT = "right"
    WRONG = "wrong"
    UNSURE = "unsure"


Judge = Callable[[Function, Sequence[Any]], Judgement]


@dataclass(frozen=True)
class Checker:
    """A checker under its own name."""

    name: str
    framework: str
    judge: Judge


def available() -> list[Checker]:
    """The checkers whose framework is installed."""
    return [checker for checker in _ALL if installed(checker.framework)]


def _gradcheck(function: Function, inputs: Sequence[Any]) -> Judgement:
    verdict = gradcheck.check(function, *inputs).verdict
    if verdict is gradcheck.Verdict.MISMATCH:
        return Judgement.WRONG
    return Judgement.RIGHT if verdict.acceptable else Judgement.UNSURE


def _tensorflow(function: Function, inputs: Sequence[Any]) -> Judgement:
    theoretical, numeric = load("tensorflow").test.compute_gradient(function, list(inputs))
    worst = max(float(np.abs(t - n).max()) for t, n in zip(theoretical, numeric, strict=True))
    return _told(worst < TENSORFLOW_LIMIT)


def _torch(function: Function, inputs: Sequence[Any], *, fast: bool = False) -> Judgement:
    check = load("torch").autograd.gradcheck
    return _told(check(function, tuple(inputs), raise_exception=False, fast_mode=fast))


def _torch_fast(function: Function, inputs: Sequence[Any]) -> Judgement:
    return _torch(function, inputs, fast=True)


def _jax(function: Function, inputs: Sequence[Any]) -> Judgement:
    load("jax")
    # A function with a custom_vjp has no forward mode to check.
    try:
        import_module("jax.test_util").check_grads(function, tuple(inputs), 1, modes=("rev",))
    except AssertionError:
        return Judgement.WRONG
    return Judgement.RIGHT


def _told(right: bool) -> Judgement:
    return Judgement.RIGHT if right else Judgement.WRONG


_ALL = (
    Checker("gradcheck", "tensorflow", _gradcheck),
    Checker("tf.test.compute_gradient, < 1e-3", "tensorflow", _tensorflow),
    Checker("torch.autograd.gradcheck", "torch", _torch),
    Checker("the same, fast mode", "torch", _torch_fast),
    Checker("jax.test_util.check_grads", "jax", _jax),
)
