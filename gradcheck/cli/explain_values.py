"""What `gradcheck explain` is given by name: arguments, shapes and values, as people type them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from gradcheck.model import Array, Shape

_WORDS = {"true": True, "false": False, "none": None, "null": None}


def pairs(given: tuple[str, ...], option: str) -> list[tuple[str, str]]:
    """Names and what is given for them; UsageError where there is no `=`."""
    pairs = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{option} takes NAME=VALUE, not {text!r}")
        pairs.append((name.strip(), value.strip()))
    return pairs


def begins_with_minus(word: str) -> bool:
    """Whether a word is an expression that begins with a minus, and no option."""
    single = word.startswith("-") and not word.startswith("--")
    return single and re.fullmatch(r"[\w-]*", word) is None and _is_python(word)


def _is_python(text: str) -> bool:
    from gradcheck.errors import ExpressionError
    from gradcheck.spec.expression.syntax import parse_tree

    try:
        parse_tree(text)
    except ExpressionError:
        return False
    return True


_UNREADABLE = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError)
"""What Python's parser raises at texts of all kinds: a thousand brackets, a number without end."""


def literal(text: str) -> Any:
    """A value as a spec or Python writes it; what is neither is text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except _UNREADABLE:
        return text
    if "..." in text:
        # An index, which is text here, and not a value of Python.
        return text
    return list(value) if isinstance(value, tuple) else value


def shape_of(name: str, text: str) -> Shape:
    """A shape as people write it: `3,4`, `3x4`, `[3, 4]`."""
    inner = text.strip("[]() ")
    try:
        sizes = tuple(int(part) for part in re.split(r"[,×\s]+|(?<=\d)x(?=\d)", inner) if part)
    except ValueError:
        raise UsageError(f"--shape {name}={text}: a shape is whole numbers, such as 3,4") from None
    from gradcheck.explainer.compose import checked_shape

    return checked_shape(name, sizes)


def values_of(given: tuple[str, ...]) -> dict[str, Array]:
    """The values of the inputs; UsageError where they are no numbers."""
    import numpy as np

    from gradcheck.explainer.compose import checked_value

    found = {}
    for name, text in pairs(given, "--at"):
        try:
            array = np.asarray(ast.literal_eval(text))
        except _UNREADABLE:
            array = np.asarray(None)
        found[name] = checked_value(name, array, text)
    return found
