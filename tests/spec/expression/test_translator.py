"""The nodes of Python that an expression may not have."""

from __future__ import annotations

import pytest

from gradcheck.spec.expression.expression import parse_tf
from tests.spec.expression.refusals import is_refused_at, refused


@pytest.mark.parametrize(
    ("text", "marked", "words"),
    [
        ("lambda: s", "lambda: s", "lambda"),
        ("[s for s in t]", "[s for s in t]", "comprehension"),
        ("tf.add_n(s for s in t)", "(s for s in t)", "comprehension"),
        ("f'{s}'", "f'{s}'", "f-string"),
        ("tf.square(*s)", "*s", "`*`"),
        ("tf.square(**s)", "s", "`**`"),
        ("(s := t)", "s := t", "`:=`"),
        ("s and t", "s and t", "& or |"),
        ("not s", "not s", "~"),
        ("s if t else s", "s if t else s", "where"),
        ("s < t < s", "s < t < s", "chain of comparisons"),
        ("s is t", "s is t", "`is`"),
        ("s in t", "s in t", "`in`"),
        ("{1: s}", "{1: s}", "dictionary"),
        ("s << 2", "s << 2", "<<"),
        ("s + ...", "...", "`...`"),
        ("b'x'", "b'x'", "bytes"),
        ("await s", "await s", "`await`"),
    ],
)
def test_what_python_has_and_an_expression_has_not(text: str, marked: str, words: str) -> None:
    is_refused_at(text, marked, words)


@pytest.mark.parametrize(
    "text",
    ["-" * 3900 + "s", "[" * 3000, "s" + "+s" * 150, "s" + "[0]" * 150, "tf.abs(" * 500 + "s"],
)
def test_depth_is_bounded(text: str) -> None:
    error = refused(parse_tf, text)
    assert "deep" in str(error) or "too many nested parentheses" in str(error)
