"""Expressions in Einstein notation: other indices, conditions."""

from __future__ import annotations

import numpy as np

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Delta,
    Number,
    Product,
    Select,
    Tensor,
    Total,
    rename,
    select,
)
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.calculus.indices import form

I, J, SHORT = "_1:4", "_2:4", "_3:2"  # noqa: E741  (the names that indices have)


def test_a_bound_index_does_not_catch_one_from_outside() -> None:
    inner = Apply("exp", (Total((J,), Product((Tensor("a", (I, J)),))),))
    moved = rename(inner, {I: J})
    assert isinstance(moved, Apply)
    total = moved.args[0]
    assert isinstance(total, Total)
    assert total.indices != (J,)
    values = {"a": np.arange(16.0).reshape(4, 4) / 16}
    np.testing.assert_allclose(evaluate(moved, values, (J,)), np.exp(values["a"].sum(axis=1)))


def test_what_always_or_never_holds_is_a_number() -> None:
    assert select("<=", SHORT, 1) == Number(1)
    assert select("=", SHORT, form(I) + 2) == Number(0)
    assert select("=", I, J) == Delta(I, J)
    assert isinstance(select("=", SHORT, I), Select)
