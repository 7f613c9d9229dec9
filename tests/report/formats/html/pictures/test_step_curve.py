from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.model import CloseUp, Comparison, Verdict
from gradcheck.report.formats.html.pictures import pictures_of
from gradcheck.report.formats.html.pictures.step_curve import step_curve
from tests.report import examples
from tests.report.formats.html.pages import parse


def curved(close_up: CloseUp | None, verdict: Verdict = Verdict.MISMATCH) -> Comparison:
    return replace(examples.compared("x", verdict, (3,)), close_up=close_up)


def test_the_curve_the_chosen_step_and_both_levels() -> None:
    made = step_curve(curved(examples.close_up()))
    assert made is not None
    tree = parse(made)
    classes = [node.attributes["class"] for node in tree.all("path")]
    assert classes == ["frame", "level bar", "level wrong", "curve", "dots", "chosen"]
    dots = tree.all("path", "dots")[0].attributes["d"] or ""
    heights = [int(dot.split()[1].removesuffix("h0")) for dot in dots.split("M")[1:]]
    # A V: down to its deepest point, and up again. (More is lower in SVG.)
    deepest = heights.index(max(heights))
    assert 0 < deepest < len(heights) - 1
    assert heights[: deepest + 1] == sorted(heights[: deepest + 1])
    assert heights[deepest:] == sorted(heights[deepest:], reverse=True)
    assert "x[1]: 2 ± 1.0e-12" in tree.text
    assert "the gradient is off by 4" in tree.text


def test_a_right_gradient_is_below_the_bar() -> None:
    made = step_curve(curved(replace(examples.close_up(), analytic=2.0 + 1e-14), Verdict.PASS))
    assert made is not None
    assert 'class="level fine"' in made


def test_at_a_kink_there_is_no_curve() -> None:
    (bent,) = examples.pictured_kink().comparisons
    assert step_curve(bent) is None
    assert step_curve(replace(bent, verdict=Verdict.MISMATCH)) is None
    assert step_curve(curved(None)) is None


numbers = st.floats()


@given(st.lists(st.tuples(numbers, numbers), max_size=8), numbers, numbers, numbers, numbers)
def test_any_numbers(
    pairs: list[tuple[float, float]], analytic: float, numeric: float, bound: float, chosen: float
) -> None:
    steps, errors = tuple(s for s, _ in pairs), tuple(e for _, e in pairs)
    told = CloseUp((1,), False, analytic, numeric, bound, chosen, steps, errors, errors, steps)
    for verdict in (Verdict.PASS, Verdict.MISMATCH, Verdict.KINK):
        for made in pictures_of(curved(told, verdict)):
            parse(made)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_without_a_derivative_there_is_no_curve(wrong: float) -> None:
    assert step_curve(curved(replace(examples.close_up(), numeric=wrong))) is None
