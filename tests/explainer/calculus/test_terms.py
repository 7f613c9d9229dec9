"""Equal terms are one term."""

from __future__ import annotations

from fractions import Fraction

from gradcheck.explainer.calculus.einstein import Number, Product, Sum, Tensor, Total
from gradcheck.explainer.calculus.indices import Space
from gradcheck.explainer.calculus.simplify import simplify

I = "_1:2"  # noqa: E741  (the name that an index has)


def test_equal_terms_are_added_whatever_their_indices_are_called() -> None:
    terms = Sum((Total((I,), Tensor("x", (I,))), Total(("_7:2",), Tensor("x", ("_7:2",)))))
    found = simplify(terms, Space(10))
    assert isinstance(found, Total)
    assert found.body == Product((Number(Fraction(2)), Tensor("x", found.indices)))


def test_opposite_terms_cancel() -> None:
    minus = Product((Number(Fraction(-1)), Tensor("x", (I,))))
    assert simplify(Sum((Tensor("x", (I,)), minus)), Space(10)) == Number(Fraction(0))
