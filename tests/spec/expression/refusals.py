"""How the tests of expressions look at what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import ExpressionError
from gradcheck.spec.expression.expression import parse_tf

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.spec.expression.expression import Expression

NAMES = ("s", "t", "target")


def refused(parse: Callable[..., Expression], text: str) -> ExpressionError:
    """Why a text over NAMES is no expression."""
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    return caught.value


def is_refused_at(
    text: str, marked: str, words: str, parse: Callable[..., Expression] = parse_tf
) -> None:
    """Check what is said about a text, and which characters of it are blamed."""
    error = refused(parse, text)
    assert words in f"{error}\n{error.hint}"
    if marked:
        assert text[error.offset : error.offset + error.length] == marked
