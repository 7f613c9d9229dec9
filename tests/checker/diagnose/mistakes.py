"""A mistake that people make, and that the report has to name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import gradcheck
from gradcheck.checker.api import describe

if TYPE_CHECKING:
    from gradcheck.model import Array

Make = Callable[[Any], Callable[..., Any]]
"""From TensorFlow to a function with a wrong gradient."""


def draw(*shape: int) -> Array:
    return np.random.default_rng([len(shape), *shape]).standard_normal(shape)


def complex_(*shape: int) -> Array:
    return np.asarray(draw(*shape) + 1j * draw(*shape)[::-1])


@dataclass(frozen=True)
class Mistake:
    name: str
    make: Make
    inputs: tuple[Array, ...]
    where: int
    """The position of the input whose gradient is wrong."""
    cause: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def must_be_named(tf: Any, mistake: Mistake) -> None:
    """The report names it, in these words."""
    result = gradcheck.check(mistake.make(tf), *mistake.inputs)
    diagnosis = result.comparisons[mistake.where].diagnosis
    assert diagnosis is not None, describe(result)
    assert (diagnosis.cause, result.verdict) == (mistake.cause, "mismatch"), diagnosis.text
    for words in mistake.words:
        assert words in diagnosis.text
    assert diagnosis.text in describe(result)
