from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradcheck.model import Array, Comparison, Element, Verdict
from gradcheck.report.formats.html.pictures.agreement_plot import agreement_plot
from tests.report import examples
from tests.report.formats.html.pages import Node, parse


def plotted(
    analytic: Array, numeric: Array, bound: Array, verdict: Verdict = Verdict.MISMATCH
) -> Comparison:
    told = examples.compared("x", verdict, numeric.shape)
    return replace(told, analytic=analytic, numeric=numeric, bound=bound)


def drawn(comparison: Comparison) -> Node:
    made = agreement_plot(comparison)
    assert made is not None
    return parse(made)


def dots(node: Node, class_: str) -> list[tuple[float, float]]:
    paths = [p.attributes["d"] or "" for p in node.all("path") if p.classes == class_.split()]
    return [(float(x), float(y)) for p in paths for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", p)]


NUMERIC = np.array([-1.0, 0.0, 1.0])


def test_right_ones_lie_on_the_diagonal() -> None:
    tree = drawn(plotted(NUMERIC, NUMERIC, np.full(3, 1e-9), Verdict.PASS))
    (x1, y1), (x2, y2), (x3, y3) = dots(tree, "dots")
    assert x1 < x2 < x3
    assert y1 > y2 > y3  # (upward is less in SVG)
    assert dots(tree, "dots wrong") == []
    assert "3 elements, all within their error bars." in tree.text


def test_wrong_ones_are_told_apart() -> None:
    tree = drawn(plotted(NUMERIC * [1, 1, -1], NUMERIC, np.full(3, 1e-9)))
    assert len(dots(tree, "dots")) == 2
    assert len(dots(tree, "dots wrong")) == 1
    assert "3 elements: 1 off the diagonal" in tree.text


def test_what_was_granted_is_not_wrong() -> None:
    tree = drawn(plotted(NUMERIC + 1e-7, NUMERIC, np.full(3, 1e-9), Verdict.PASS))
    assert dots(tree, "dots wrong") == []
    assert "3 beyond the error bar, by no more than the check grants" in tree.text


def test_wide_bars_are_drawn() -> None:
    tree = drawn(plotted(NUMERIC, NUMERIC, np.array([0.5, 1e-9, np.inf])))
    bar = tree.one("path", "bars").attributes["d"] or ""
    assert bar.count("M") == 2


def test_what_is_not_finite_is_counted() -> None:
    tree = drawn(plotted(np.array([1.0, 2.0, 3.0, np.nan]), np.ones(4), np.zeros(4)))
    assert "1 more not finite" in tree.text


def test_complex_ones_have_two_numbers() -> None:
    values = np.array([1 + 2j, 3 - 4j])
    assert "4 numbers" in drawn(plotted(values, values, np.zeros(2), Verdict.PASS)).text


def test_where_only_the_worst_are_known() -> None:
    worst = tuple(Element((i,), 0.0, 2.0 * i, 1.0 * i, 1e-9) for i in range(4))
    told = replace(examples.compared("x", Verdict.MISMATCH, (100,)), worst=worst)
    assert "The 4 worst elements: 3 off" in drawn(told).text


@pytest.mark.parametrize("verdict", [Verdict.MISMATCH, Verdict.DISCONNECTED])
def test_nothing_to_draw(verdict: Verdict) -> None:
    assert agreement_plot(examples.compared("x", verdict)) is None
    assert agreement_plot(plotted(np.ones(2), np.ones(2), np.ones(2))) is None
    assert agreement_plot(plotted(NUMERIC * np.nan, NUMERIC, NUMERIC)) is None


def test_many_elements_stay_small() -> None:
    numeric = np.random.default_rng(0).normal(size=4096)
    made = agreement_plot(plotted(-numeric, numeric, np.zeros(4096)))
    assert made is not None
    assert len(made) < 8000


@given(st.data())
def test_any_numbers(data: st.DataObject) -> None:
    analytic, numeric, bound = (data.draw(hnp.arrays(np.float64, 5)) for _ in range(3))
    made = agreement_plot(plotted(analytic, numeric, bound))
    if made is not None:
        assert "nan" not in made.partition("<figcaption")[0].replace("finite", "")
        parse(made)
