from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradcheck.model import Comparison, Verdict
from gradcheck.report.error_shades import MOST_SHADED, SHADES, error_shades
from tests.report import examples


def shaded(analytic: object, numeric: object, bound: float = 1e-9) -> str:
    right, found = np.asarray(numeric), np.asarray(analytic)
    told = examples.compared("x", Verdict.MISMATCH, right.shape)
    bars = np.full(right.shape, bound)
    return error_shades(replace(told, analytic=found, numeric=right, bound=bars))


def test_shades_are_shares_of_the_largest_derivative() -> None:
    assert shaded([10.0, 1.0 + 5e-6, 1.5, 9.0], [10.0, 1.0, 1.0, 1.0]) == "0134"
    assert shaded([[1.0, 2.0], [3.0, np.nan]], [[1.0, 2.0], [3.0, 4.0]]) == "0005"
    assert shaded([1.0, np.inf], [1.0, 1.0]) == "05"
    assert shaded([1.0, 0.0], [0.0, 0.0]) == "50"
    assert shaded([1.0, 0.0], [1.0, np.nan]) == "06"
    assert shaded([1 + 1j], [1 - 1j]) == "5"


def test_every_digit_has_a_meaning() -> None:
    assert len(SHADES) == 7


def test_what_a_report_told_stands() -> None:
    told = replace(examples.compared("x", Verdict.MISMATCH, (2,)), shades="05")
    assert error_shades(told) == "05"


@pytest.mark.parametrize(
    "told",
    [
        examples.compared("x", Verdict.MISMATCH, (2,)),
        replace(
            examples.compared("x", Verdict.DISCONNECTED, (1,), analytic=np.ones(1)),
            bound=np.ones(1),
        ),
        replace(
            examples.compared("x", shape=(MOST_SHADED + 1,), analytic=np.ones(MOST_SHADED + 1)),
            bound=np.ones(MOST_SHADED + 1),
        ),
        replace(examples.compared("x", shape=(3,), analytic=np.ones(3)), bound=np.ones(2)),
    ],
    ids=["unknown", "disconnected", "too many", "of another shape"],
)
def test_there_are_none(told: Comparison) -> None:
    assert error_shades(told) == ""
