from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradcheck.model import Element
from gradcheck.report import numbers
from tests.report.examples import compared


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        (0.0, "0"),
        (1.23e-14, "1.2e-14"),
        (0.0123, "0.0123"),
        (999.4, "999"),
        (1234.0, "1.2e+03"),
        (math.nan, "nan"),
        (math.inf, "inf"),
    ],
)
def test_an_error_takes_few_characters(value: float | None, expected: str) -> None:
    assert numbers.error(value) == expected


def test_scalars_may_be_complex_or_of_numpy() -> None:
    assert numbers.scalar(0.25 - 1j) == "0.25-1j"
    narrow: list[Any] = [np.complex64(1 + 2j), np.float32(0.5)]
    assert [numbers.scalar(value) for value in narrow] == ["1+2j", "0.5"]
    assert numbers.scalar(complex(math.nan, math.inf)) == "nan+infj"
    assert numbers.scalar(None) == "–"


@pytest.mark.parametrize("difference", [1e-3, 1e-7, 1e-11, 4e-16])
def test_digits_suffice_to_see_the_difference(difference: float) -> None:
    element = Element((0,), 1.0, 1.0 + difference, 1.0, 1e-16)
    digits = numbers.digits_to_tell([element])
    assert numbers.scalar(element.analytic, digits) != numbers.scalar(element.numeric, digits)
    assert digits <= 17


@pytest.mark.parametrize("analytic", [math.nan, math.inf, 2.0, 0.0])
def test_digits_exist_for_every_number(analytic: float) -> None:
    assert numbers.digits_to_tell([Element((0,), 1.0, analytic, 2.0, 0.0)]) == 6


def test_indices_and_shapes() -> None:
    assert numbers.index(()) == "scalar"
    position: Any = (np.int64(0), 12)
    assert numbers.index(position) == "[0, 12]"
    assert numbers.named_shape("x", ()) == "x"
    assert numbers.named_shape("x", (3, 4)) == "x[3,4]"


def test_elements_say_when_not_all_were_judged() -> None:
    assert numbers.elements(compared("x")) == "12"
    assert numbers.elements(compared("x", judged=5)) == "5 of 12"
    assert numbers.elements(compared("x", judged=5, directions=1)) == "5 of 12 + 1 direction"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0213, "0.02 s"), (12.34, "12.3 s"), (123.4, "123 s"), (3725.0, "62 min 05 s")],
)
def test_seconds(value: float, expected: str) -> None:
    assert numbers.seconds(value) == expected


def test_nan_is_the_largest() -> None:
    assert numbers.largest([1.0, None, 3.0, 2.0]) == 3.0
    assert numbers.largest([None]) is None
    for values in ([math.nan, 3.0], [3.0, math.nan]):
        worst = numbers.largest(values)
        assert worst is not None
        assert math.isnan(worst)
