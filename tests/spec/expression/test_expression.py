"""Expressions and formulas: what they mean, and what they reach."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.errors import ExpressionError
from gradcheck.ops.language import vocabulary
from gradcheck.spec.expression.allowlist import CALLABLE
from gradcheck.spec.expression.expression import (
    TF_CONSTANTS,
    Expression,
    parse_formula,
    parse_tf,
)
from tests.spec.expression.refusals import NAMES, is_refused_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


FAKE: Mapping[str, Any] = {
    "tf.square": np.square,
    "tf.reduce_sum": np.sum,
    "tf.cast": lambda x, dtype: np.asarray(x).astype(dtype),
    "tf.float32": np.float32,
    "tf.newaxis": None,
    "tf.transpose": np.transpose,
    "tf.concat": np.concatenate,
}


def value(text: str, **values: Any) -> Any:
    return parse_tf(text, tuple(values)).evaluate(values, FAKE.__getitem__)


def formula(text: str, **values: Any) -> Any:
    return parse_formula(text, tuple(values)).evaluate(values, vocabulary.lookup)


def test_an_expression_keeps_its_text() -> None:
    text = "tf.reduce_sum(tf.square(s * t - target))"
    assert parse_tf(text, NAMES).text == text


X = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tf.reduce_sum(tf.square(2 * x - 1))", 1 + 9 + 25 + 49),
        ("-x + +x", X * 0),
        ("x @ x", X @ X),
        ("x / 2 + x // 2 + x % 2 + x ** 2", X / 2 + X // 2 + X % 2 + X**2),
        ("x[0, 1]", 2.0),
        ("x[..., 0]", X[..., 0]),
        ("x[1:, None, ::-1]", X[1:, None, ::-1]),
        ("x[tf.newaxis]", X[None]),
        ("(x > 1) & (x <= 3) | ~(x == x)", (X > 1) & (X <= 3)),
        ("tf.cast(x, tf.float32)", X.astype(np.float32)),
        ("tf.cast(x, dtype='int32')", X.astype(np.int32)),
        ("tf.concat([x, x], axis=-1)", np.concatenate([X, X], -1)),
        ("tf.transpose(x, (1, 0))", X.T),
        ("x + [1.0, 2.0]", X + np.array([1.0, 2.0])),
        ("2 ** 10 * x", 1024 * X),
        ("x * 1j", X * 1j),
        (" x\n  + 1 ", X + 1),
    ],
)
def test_expressions_mean_what_python_says(text: str, expected: Any) -> None:
    np.testing.assert_array_equal(value(text, x=X), expected)


def test_a_formula_uses_the_numpy_language() -> None:
    result = formula("2 * sum(t * (s * t - 1)) + pi", s=3.0, t=X)
    assert result == pytest.approx(2 * np.sum(X * (3 * X - 1)) + math.pi)


@pytest.mark.parametrize(
    ("text", "marked", "words"),
    [
        ("__import__('os')", "__import__", "not a function known here"),
        ("__import__('os').system('ls')", "__import__", "not a function known here"),
        ("s + tf.io.write_file('a', s)", "tf.io.write_file", "not on the list of pure"),
        ("tf.py_function(s)", "tf.py_function", "not on the list of pure"),
        ("tf.map_fn(s, t)", "s", "a function is wanted here"),
        ("tf.squar(s)", "tf.squar", "did you mean `tf.square`?"),
        ("tf.raw_ops.rol(s)", "tf.raw_ops.rol", "did you mean `tf.raw_ops.Roll`?"),
        ("np.exp(s)", "np.exp", "did you mean `tf.exp`?"),
        ("sum(s)", "sum", "did you mean `tf.reduce_sum`?"),
        ("s.__class__", "s.__class__", "`.__class__` of a value"),
        ("s.numpy()", "s.numpy", "`.numpy` of a value"),
        ("s.T", "s.T", "tf.transpose"),
        ("().__class__.__bases__", "().__class__", "`.__class__` of a value"),
        ("tf.square.__globals__", "tf.square.__globals__", "not on the list of pure"),
        ("tf.square(s).op", "tf.square(s).op", "`.op` of a value"),
        ("tf.square", "tf.square", "is a function: call it"),
        ("tf.linalg", "tf.linalg", "is a module"),
        ("tf", "tf", "`tf` alone"),
        ("s(t)", "s", "is an input"),
        ("tf.square(s)(t)", "tf.square(s)", "only functions named"),
        ("1 + targt", "targt", "did you mean `target`?"),
        ("1 + zzz", "zzz", "known are: s, t, target"),
        ("é + ü + s", "é", "not an input"),
        ("s + 'é' + zzz", "zzz", "not an input"),
    ],
)
def test_an_expression_reaches_the_allowed_functions_alone(
    text: str, marked: str, words: str
) -> None:
    is_refused_at(text, marked, words)


@pytest.mark.parametrize(
    ("text", "marked", "words"),
    [
        ("2 * np.sum(t)", "np.sum", "did you mean `sum"),
        ("tf.reduce_sum(t)", "tf.reduce_sum", "did you mean `sum"),
        ("transpos(t)", "transpos", "did you mean `transpose"),
        ("t.T", "t.T", "transpose"),
        ("open('x')", "open", "not a function of the formula language"),
        ("sum", "sum", "is a function: call it"),
        ("targt", "targt", "did you mean `target`?"),
        ("sum(t)(t)", "sum(t)", "only functions"),
        ("G * 2", "G", "not known"),
    ],
)
def test_a_formula_reaches_its_language_alone(text: str, marked: str, words: str) -> None:
    is_refused_at(text, marked, words, parse_formula)


def test_the_text_is_read_once_and_evaluated_often(monkeypatch: pytest.MonkeyPatch) -> None:
    expression = parse_tf("s * s + 1", ("s",))
    monkeypatch.setattr("ast.parse", None)
    assert [expression.evaluate({"s": s}, FAKE.__getitem__) for s in (1, 2, 3)] == [2, 5, 10]


WORDS = r"s t tf tf.square lambda for in if ** // ... None 10 1e5 2j __class__ f' not yield :="
SNIPPETS = st.sampled_from([*"()[]{},.:+-*/%@&|~<>=#'\"\\\n \0", *WORDS.split()])


LANGUAGE: Mapping[Callable[..., Expression], frozenset[str]] = {
    parse_tf: CALLABLE | TF_CONSTANTS,
    parse_formula: frozenset({*vocabulary.FUNCTIONS, *vocabulary.CONSTANTS}),
}


def reached(expression: Expression) -> set[str]:
    """The functions and constants that it looks up, whatever comes of them."""
    names: set[str] = set()

    def lookup(name: str) -> Any:
        names.add(name)
        return lambda *_, **__: 1.0

    # Values of the wrong kind may raise anything; values of no name must not be asked for.
    with suppress(TypeError, ValueError, ArithmeticError, ExpressionError):
        expression.evaluate(dict.fromkeys(NAMES, 1.0), lookup)
    return names


@given(st.one_of(st.text(max_size=40), st.lists(SNIPPETS, max_size=15).map("".join)))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    for parse in (parse_tf, parse_formula):
        try:
            expression = parse(text, NAMES)
        except ExpressionError as refusal:
            place = (refusal.offset, refusal.length)
        else:
            place = (0, 1)
            assert reached(expression) <= LANGUAGE[parse]
        assert 0 <= place[0] <= len(text)
        assert place[1] >= 1
