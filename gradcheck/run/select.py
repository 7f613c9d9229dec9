"""`-k EXPR` and `--tags TAG`: which cases to run.

The expression is in pytest's words: names joined by `and`, `or`, `not` and parentheses; a name
matches a case when it is a part of its id or of one of its tags, in upper or lower case. A tag
that is asked for by `--tags` is one that the case has, as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import NamedTuple, NoReturn

from gradcheck.errors import UsageError
from gradcheck.model import Case

Selector = Callable[[Case], bool]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_WORDS = frozenset({"and", "or", "not", "(", ")"})


class _Token(NamedTuple):
    text: str
    offset: int


def compile_selector(text: str, tags: Collection[str] = ()) -> Selector:
    """A function that says whether a case is selected; UsageError with a caret for a bad text.

    Args:
        text: the expression; empty for any case.
        tags: of these a case must have one; none for any case.
    """
    matches = _matching(text)
    if not tags:
        return matches
    wanted = frozenset(tags)
    return lambda case: not wanted.isdisjoint(case.tags) and matches(case)


def _matching(text: str) -> Selector:
    if not text.strip():
        return lambda _: True
    try:
        return _Parser(text).parse()
    except RecursionError:
        raise UsageError("bad -k expression: it is nested too deeply") from None


class _Parser:
    """Recursive descent, one method per rule: or, and, not, name."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [_Token(m.group(), m.start()) for m in _TOKEN.finditer(text)]
        self._tokens.append(_Token("", len(text.rstrip())))
        self._next = 0

    def parse(self) -> Selector:
        selector = self._either()
        if self._peek() == ")":
            self._fail('this ")" closes nothing')
        if self._peek():
            self._fail('expected "and" or "or" before this')
        return selector

    def _either(self) -> Selector:
        parts = [self._both()]
        while self._accept("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda case: any(p(case) for p in parts)

    def _both(self) -> Selector:
        parts = [self._negated()]
        while self._accept("and"):
            parts.append(self._negated())
        return parts[0] if len(parts) == 1 else lambda case: all(p(case) for p in parts)

    def _negated(self) -> Selector:
        if self._accept("not"):
            inner = self._negated()
            return lambda case: not inner(case)
        if self._accept("("):
            inner = self._either()
            if not self._accept(")"):
                self._fail('expected ")"')
            return inner
        return self._name()

    def _name(self) -> Selector:
        token = self._peek()
        if not token or token in _WORDS:
            self._fail('expected a name, "not" or "("')
        self._next += 1
        part = token.lower()
        return lambda case: any(part in text.lower() for text in (case.id, *case.tags))

    def _peek(self) -> str:
        return self._tokens[self._next].text

    def _accept(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._next += 1
        return True

    def _fail(self, message: str) -> NoReturn:
        offset = self._tokens[self._next].offset
        at_end = "" if self._peek() else " at the end"
        raise UsageError(f"bad -k expression: {message}{at_end}\n  {self._text}\n  {' ' * offset}^")
