"""Indices, their letters, and the forms that are computed from them."""

from __future__ import annotations

from gradcheck.explainer.calculus.indices import Space, form, letters_for

I, SHORT = "_1:4", "_3:2"  # noqa: E741  (the names that indices have)


def test_a_condition_is_solved_for_an_index() -> None:
    assert (form(I) - (form(SHORT) + 1)).solved(I) == form(SHORT) + 1
    assert (form(I) * 2 - form(SHORT)).solved(I) is None


def test_a_form_knows_its_range() -> None:
    assert (form(I) * 2 - form(SHORT) + 1).range == (0, 7)


def test_an_axis_of_size_1_needs_no_index() -> None:
    space = Space()
    assert space.axes((1, 3)) == (0, "_1:3")


def test_an_index_keeps_the_letter_of_its_equation_if_that_is_free() -> None:
    assert letters_for(("k_1:3", "_2:3", 0)) == {"k_1:3": "k", "_2:3": "i"}
    assert letters_for(("k_1:3", "_2:3"), taken="ki") == {"k_1:3": "j", "_2:3": "l"}
