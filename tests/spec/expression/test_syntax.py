"""Texts that Python's parser does not read, or reads too well."""

from __future__ import annotations

import pytest

from gradcheck.spec.expression.expression import parse_tf
from tests.spec.expression.refusals import NAMES, is_refused_at, refused


@pytest.mark.parametrize(
    ("text", "marked", "words"),
    [
        ("s + ", "+", "ends too early"),
        ("s t", "t", "not a valid expression"),
        ("(s", "(", "never closed"),
        ("s = t", "=", "not a valid expression"),
        ("s # and t", "# and t", "comment"),
        ("s\0", "\0", "not allowed"),
        ("", "", "empty"),
        ("  \n ", "", "empty"),
    ],
)
def test_what_is_no_expression_is_refused_at_its_place(text: str, marked: str, words: str) -> None:
    is_refused_at(text, marked, words)


def test_length_is_bounded() -> None:
    assert "4,000" in str(refused(parse_tf, "s + " * 1000 + "s"))


def test_python_advice_on_style_is_not_heard() -> None:
    parse_tf(r"tf.einsum('\d', s)", NAMES)
