"""When a suspect explains a gradient, and when the right derivative does as well."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.diagnose.fit import broadcast_axes, explains, how_well
from gradcheck.checker.diagnose.view import View
from tests.checker.planted import cause, first, planted, subject


class TestDiagnosis:
    @pytest.mark.parametrize("name", ["tanh", "broadcast add"])
    def test_a_small_error_is_not_taken_for_something_grand(self, name: str) -> None:
        # What the mistakes above would give is here what is right.
        which = subject(name)
        change = first(lambda g: g + 1e-7 * np.arange(1.0, 1 + np.size(g)).reshape(g.shape) ** 2)
        result = gradcheck.check(planted(which.function, change), *which.inputs, upstream="ones")
        assert result.verdict == "mismatch"
        assert cause(result) is None


@pytest.mark.parametrize(
    ("given", "wanted", "axes"),
    [
        ((3,), (5, 3), [0]),
        ((5, 1), (5, 3), [1]),
        ((), (2, 3), [0, 1]),
        ((5, 3), (5, 3), []),
        ((4,), (5, 3), []),
        ((5, 3), (3,), []),
    ],
)
def test_axes_that_were_repeated(
    given: tuple[int, ...], wanted: tuple[int, ...], axes: list[int]
) -> None:
    assert broadcast_axes(given, wanted) == axes


def test_an_explanation_is_what_the_gradient_is_and_the_derivative_is_not() -> None:
    numeric = np.array([1.0, 2.0])
    wrong = View("x", np.array([3.0, 1.0]), numeric, np.zeros(2), cast("Any", None))
    assert explains(np.array([3.0, 1.0]), wrong) == 0.0
    assert explains(numeric, wrong) is None
    assert explains(np.array([np.inf, 1.0]), wrong) is None


def test_how_well_in_words() -> None:
    assert how_well(0.0) == "exactly"
    assert how_well(2.3e-12) == "to 2e-12"
