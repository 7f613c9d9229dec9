"""Coefficients and terms as people write them."""

from __future__ import annotations

import math

import pytest

from gradcheck.checker.diagnose.term_text import Factor, coefficient, product, total


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "x"),
        (-1.0, "−x"),
        (2 / 3, "2·x/3"),
        (-0.25, "−x/4"),
        (0.137, "0.137·x"),
        (1 / math.sqrt(2 * math.pi), "x/√(2π)"),
        (2 / math.sqrt(math.pi), "2·x/√(π)"),
    ],
)
def test_a_coefficient(value: float, text: str) -> None:
    found = coefficient(value)
    assert found is not None
    assert found.value == pytest.approx(value, rel=1e-12)
    assert product(found, (("x", 1),)) == text


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf, 0.123456789, 1234.56789])
def test_what_nobody_would_write(value: float) -> None:
    assert coefficient(value) is None


@pytest.mark.parametrize(
    ("factors", "text"),
    [
        ((("x", 2), ("1 − y", -1)), "x²/(1 − y)"),
        ((("x", -1), ("y", -2)), "1/(x·y²)"),
        ((("1 + x", 2),), "(1 + x)²"),
        ((("x²", 2),), "(x²)²"),
    ],
)
def test_a_product(factors: tuple[Factor, ...], text: str) -> None:
    one = coefficient(1.0)
    assert one is not None
    assert product(one, factors) == text


def test_a_sum() -> None:
    one, less = coefficient(1.0), coefficient(-2.0)
    assert one is not None
    assert less is not None
    terms = [(less, (("x", 1),)), (one, ())]
    assert total(terms, (("G", 1),)) == "G·(1 − 2·x)"
    assert total(terms, ()) == "1 − 2·x"
    assert total(terms[:1], (("G", 1),)) == "−2·G·x"
