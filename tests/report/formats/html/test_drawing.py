from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.report.formats.html import drawing
from tests.report.formats.html.pages import parse


def test_a_scale() -> None:
    x = drawing.Scale(-1.0, 3.0, 0.0, 100.0)
    assert [x(v) for v in (-1.0, 0.0, 3.0)] == [0.0, 25.0, 100.0]
    assert [x(v) for v in (-9.0, 9.0, math.inf)] == [0.0, 100.0, 100.0]
    assert [text for _, text in x.ticks()] == ["-1", "0", "3"]


def test_a_scale_of_powers() -> None:
    x = drawing.powers([1e-8, 2e-3], 0.0, 60.0)
    assert (x.low, x.high) == (-8, -2)
    assert x(1e-5) == 30.0
    assert x(0.0) == 0.0
    assert [text for _, text in x.ticks()] == ["1e-8", "1e-6", "1e-4", "1e-2"]


@pytest.mark.parametrize("values", [[5e-324, 1e-323], [0.0, 5e-324], [-5e-324], [1.7e308] * 2])
def test_the_smallest_and_the_largest_numbers(values: list[float]) -> None:
    scale = drawing.across(values)
    assert all(0 <= scale(value) <= drawing.WIDTH for value in values)


@given(st.lists(st.floats()), st.floats(), st.booleans())
def test_any_numbers_have_a_place(values: list[float], value: float, logarithmic: bool) -> None:
    scale = drawing.across(values, logarithmic=logarithmic)
    assert 0 <= scale(0.0 if math.isnan(value) else value) <= drawing.WIDTH
    parse(drawing.axes(scale, drawing.upward(values, logarithmic=logarithmic), "x", "y"))


def test_paths() -> None:
    assert drawing.line([(1.0, 2.04), (3.25, 4.0)]) == "M1 2L3.2 4"
    assert drawing.line([(1.0, 2.0)]) == ""
    # (Dots on the same pixel are drawn once.)
    assert drawing.dots([(1.1, 2.0), (1.2, 2.1), (5.0, 6.0)]) == "M1 2h0M5 6h0"
    assert drawing.path("x", "") == ""


def test_cells_in_a_row_are_drawn_together() -> None:
    chosen = np.array([[True, True, False, True], [False, False, False, False]])
    assert drawing.cells_path(chosen) == "M0 0h2v1h-2zM3 0h1v1h-1z"
