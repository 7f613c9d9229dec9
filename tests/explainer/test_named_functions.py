"""Hand-written functions get their names, and are the same functions."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.named_functions import length_of, named

FOUND = {
    "1 / (1 + exp(-x))": "sigmoid(x)",
    "1.0 / (exp(-x) + 1.0)": "sigmoid(x)",
    "exp(x) / (1 + exp(x))": "sigmoid(x)",
    "1 / (1 + exp(-y * x))": "sigmoid(y * x)",
    "log(1 + exp(x))": "softplus(x)",
    "log1p(exp(x))": "softplus(x)",
    "log(sigmoid(x))": "-softplus(-x)",
    "log(1 - sigmoid(x))": "-softplus(x)",
    "sinh(x) / cosh(x)": "tanh(x)",
    "(exp(x) - exp(-x)) / (exp(x) + exp(-x))": "tanh(x)",
    "exp(x) / sum(exp(x), -1, True)": "softmax(x, -1)",
}
"""By formula: what it is called."""

LEFT = (
    "1 / (2 + exp(-x))",
    "2 / (1 + exp(-x))",
    "exp(x) / (1 + exp(y))",
    "log(1 + exp(x) + y)",
    "log(2 - sigmoid(x))",
    "sinh(x) / cosh(y)",
    "(exp(x) - exp(y)) / (exp(x) + exp(y))",
    "(exp(x) + exp(-x)) / (exp(x) - exp(-x))",
)
"""Formulas that look like those, and are others."""


@pytest.mark.parametrize("text", FOUND)
def test_what_has_a_name_gets_it(text: str) -> None:
    found = named(trees.read(text))
    assert trees.text_of(found) == FOUND[text]
    rng = np.random.default_rng(len(text))
    for size in (2, 5):
        values = {"x": rng.standard_normal(size), "y": rng.standard_normal(size)}
        np.testing.assert_allclose(trees.run(found, values), trees.run(text, values), rtol=1e-12)


@pytest.mark.parametrize("text", LEFT)
def test_what_is_another_function_keeps_its_form(text: str) -> None:
    assert trees.text_of(named(trees.read(text))) == trees.text_of(trees.read(text))


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("total(square(x - y))", "x - y"),
        ("sum(x ** 2)", "x"),
        ("sum(x ** 3)", None),
        ("sum(square(x), 0)", None),
        ("total(abs(x))", None),
    ],
)
def test_a_norm_is_over_everything_and_of_squares(text: str, inside: str | None) -> None:
    found = length_of(trees.read(text))
    assert (None if found is None else trees.text_of(found)) == inside
