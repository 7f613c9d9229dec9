from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gradcheck.model import CloseUp, Comparison, Element, Verdict
from gradcheck.report.formats.html.pictures.kink_sides import kink_sides
from tests.report import examples
from tests.report.formats.html.pages import Node, parse


def drawn(comparison: Comparison) -> Node:
    made = kink_sides(comparison)
    assert made is not None
    return parse(made)


def test_the_function_and_both_slopes() -> None:
    tree = drawn(examples.pictured_kink().comparisons[0])
    assert "slope -1 from the left and 2 from the right" in tree.text
    assert "the gradient 0.5 lies between them" in tree.text
    (curve,) = (node.attributes["d"] or "" for node in tree.all("path", "curve"))
    assert curve.count("L") == 24  # twelve steps to either side, and the point
    assert tree.all("path", "fine")


def test_a_gradient_outside_of_them() -> None:
    tree = drawn(examples.broken_kink().comparisons[0])
    assert "lies outside of them" in tree.text
    assert tree.all("path", "wrong")
    # Nobody looked closer: the slopes alone are drawn.
    assert not tree.all("path", "curve")


def test_nothing_to_draw() -> None:
    assert kink_sides(examples.compared("x")) is None
    element = Element((), 0.0, 1j, 0.0, 1.0, left=-1j, right=1j)
    assert kink_sides(examples.compared("x", Verdict.KINK, worst=(element,))) is None


numbers = st.floats()


@given(st.lists(st.tuples(numbers, numbers, numbers), max_size=5), numbers, numbers, numbers)
def test_any_numbers(
    rows: list[tuple[float, float, float]], left: float, right: float, analytic: float
) -> None:
    element = Element((1,), 0.0, analytic, 0.0, 1.0, left=left, right=right)
    steps, ups, downs = (tuple(row[i] for row in rows) for i in range(3))
    seen = CloseUp((1,), False, analytic, 0.0, 1.0, 1.0, steps, ups, ups, downs)
    told = replace(examples.compared("x", Verdict.KINK, worst=(element,)), close_up=seen)
    made = kink_sides(told)
    if made is not None:
        parse(made)
