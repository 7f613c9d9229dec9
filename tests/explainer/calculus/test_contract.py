"""Contraction of deltas, and sums over nothing."""

from __future__ import annotations

from fractions import Fraction

from gradcheck.explainer.calculus.einstein import Delta, Number, Product, Select, Tensor, Total
from gradcheck.explainer.calculus.indices import Space, form
from gradcheck.explainer.calculus.simplify import simplify

I, J, K = "_1:2", "_2:3", "_3:2"  # noqa: E741  (the names that indices have)


def test_a_delta_picks_its_index() -> None:
    node = Total((I,), Product((Delta(I, K), Tensor("x", (I, J)))))
    assert simplify(node, Space(10)) == Tensor("x", (K, J))


def test_a_sum_over_nothing_is_a_factor() -> None:
    assert simplify(Total((J,), Tensor("x", (I,))), Space(10)) == Product(
        (Number(Fraction(3)), Tensor("x", (I,)))
    )


def test_an_index_that_stands_in_conditions_alone_is_taken_out() -> None:
    # One j is i, and one is k: what is left says that i is k.
    conditions = (Select("=", form(J) - form(I)), Select("=", form(J) - form(K)))
    node = Total((J,), Product((Tensor("x", (I,)), *conditions)))
    assert simplify(node, Space(10)) == Product((Tensor("x", (I,)), Delta(I, K)))
