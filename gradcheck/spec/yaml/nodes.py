"""YAML values that know their place."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Scalar = str | int | float | bool | None


@dataclass(slots=True, kw_only=True)
class Node:
    """One value and where it stands; line and column count from 1."""

    line: int
    column: int
    length: int = 1
    size: int = 1
    """How many values it holds, itself included."""
    parts: int = 0
    """How many lists and entries of mappings it holds: what reading it takes time for."""
    fault: bool = False
    """Whether a problem was found in it while the YAML was read."""
    bad: bool = False
    """Whether a problem was found in it, or in anything that it holds, while the YAML was read."""

    @property
    def kind(self) -> str:
        """What it is, for a message."""
        raise NotImplementedError


@dataclass(slots=True, kw_only=True)
class ScalarNode(Node):
    """A number, a boolean, null or a text."""

    value: Scalar
    text: str = ""
    style: str | None = None
    """None for a plain one, else the quote or `|`, `>`."""
    one_line: bool = True

    @property
    def kind(self) -> str:
        """What it is, for a message."""
        if self.value is None:
            return "nothing"
        names = {bool: "a boolean", int: "a whole number", float: "a number", str: "text"}
        return names[type(self.value)]


@dataclass(slots=True, kw_only=True)
class ListNode(Node):
    """A list."""

    items: list[Node] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """What it is, for a message."""
        return "a list"


@dataclass(slots=True, kw_only=True)
class MapNode(Node):
    """A mapping from texts to values."""

    items: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, ScalarNode] = field(default_factory=dict)
    """The place of each key."""

    @property
    def kind(self) -> str:
        """What it is, for a message."""
        return "a mapping"

    @property
    def entries(self) -> dict[str, Entry]:
        """Each key together with its value."""
        return {name: Entry(self.keys[name], value) for name, value in self.items.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a mapping, where it stands, and its value."""

    key: ScalarNode
    value: Node


Entries = Mapping[str, Entry]


_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}

MAX_DIGITS = 400
"""The largest float64 has 309 digits: a longer whole number is infinite as a float, and reading it
takes Python time by the square of the digits."""


def resolve(text: str) -> Scalar:
    """What an unquoted scalar means by the core schema of YAML 1.2.

    ValueError, in words, where it is a number that is too long or too large to be read.
    """
    if text in _WORDS:
        return _WORDS[text]
    is_whole = _INTEGER.fullmatch(text)
    if is_whole or _FLOAT.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise ValueError(f"a number of {len(text):,} digits: at most {MAX_DIGITS} are read")
        if is_whole:
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        number = float(text)
        if math.isinf(number):
            raise ValueError("a number beyond what float64 holds: infinity is written .inf")
        return number
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return float(infinite[1] + "inf")
    return text


_ESCAPE = re.compile(r"\\(x..|u.{4}|U.{8}|.)")


def place_of(node: ScalarNode, offset: int, line: str) -> tuple[int, int] | None:
    """Line and column of a character of a text; None where a text of several lines hides it.

    `line` is the line of the file on which the text stands.
    """
    if not node.one_line or node.style in ("|", ">"):
        return None
    if node.style is None:
        return node.line, node.column + offset
    column = node.column + 1
    for _ in range(offset):
        escape = _ESCAPE.match(line, column - 1) if node.style == '"' else None
        doubled = node.style == "'" and line.startswith("''", column - 1)
        column += len(escape[0]) if escape else 2 if doubled else 1
    return node.line, column
