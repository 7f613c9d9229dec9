"""Arithmetic between plain values: bounded, so that no spec can hang or fill the memory."""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.errors import ExpressionError
from gradcheck.ops.language.vocabulary import lookup
from gradcheck.spec.expression.expression import parse_formula, parse_tf
from tests.spec.expression.refusals import refused


@pytest.mark.parametrize(
    "text",
    [
        "10**10**10",
        "s + 10**10**10",
        "2**63",
        "(-2)**64",
        "9" * 50,
        "9223372036854775807 + 1",
        "'a' * 10**9",
        "'%1000000000d' % 1",
        "'a' + 'b'",
        "None + 1",
        "1 / 0",
        "10.0 ** 400",
        "1 @ 2",
        "-'a'",
        "~True",
        "1 < 'a'",
    ],
)
def test_arithmetic_on_literals_is_bounded_when_read(text: str) -> None:
    refused(parse_tf, text)


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("[0] * 10**9", 0),
        ("[0] * x", 10**9),
        ("x * (0, 0)", np.int64(10**9)),
        ("'%1000000000d' % x", np.ones(2)),
        ("x * 10**9", "a"),
        ("x ** x", 10**9),
        ("x * x * x", 2**40),
        ("[1] + [2]", 0),
    ],
)
def test_arithmetic_on_given_values_is_bounded_when_run(text: str, x: Any) -> None:
    with pytest.raises(ExpressionError):
        parse_tf(text, ("x",)).evaluate({"x": x}, lookup)


def test_numpy_scalars_keep_their_own_arithmetic() -> None:
    with np.errstate(divide="ignore"):
        values = {"x": np.float64(0.0)}
        assert parse_formula("1 / x", ("x",)).evaluate(values, lookup) == math.inf


@given(st.text(alphabet=string.digits + "+-*/%.e() j", max_size=25))
def test_no_arithmetic_does_more_than_be_refused(text: str) -> None:
    try:
        result = parse_tf(text, ()).evaluate({}, lookup)
    except ExpressionError:
        return
    assert not isinstance(result, int) or -(2**63) <= result < 2**63
