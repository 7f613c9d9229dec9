"""What an explanation consists of, before anyone decides how it looks."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradcheck.explainer.style import Style

if TYPE_CHECKING:
    from gradcheck.explainer.worked_example import Picture

__all__ = [
    "Block",
    "Bullets",
    "Code",
    "Document",
    "Equation",
    "Math",
    "Paragraph",
    "Section",
    "Table",
]

Math = Callable[[Style], str]
"""Mathematics that can be set in any style."""


@dataclass(frozen=True)
class Paragraph:
    """A sentence or two."""

    text: str


@dataclass(frozen=True)
class Equation:
    """One line of mathematics, a remark beside it, and the text that is executed for it."""

    math: Math
    note: str = ""
    text: str = ""


@dataclass(frozen=True)
class Code:
    """Lines of Python."""

    lines: tuple[str, ...]

    def broken(self, width: int) -> list[str]:
        """The lines, none longer than the width where that can be: they can still be pasted."""
        return [part for line in self.lines for part in _broken(line, width)]


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells below a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Paragraph | Equation | Code | Bullets | Table


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """An explanation."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    data: dict[str, Any] = field(default_factory=dict)
    """For `--format json`, beside the sections: names, shapes, formulas."""
    picture: Callable[[], Picture] | None = None
    """The chain and its numbers, computed for the formats that draw it."""


def _broken(line: str, width: int) -> list[str]:
    """A line of Python, broken inside of brackets alone: nowhere else may it be broken.

    At spaces where that is enough, else behind an opening bracket too.
    """
    if line.startswith("#"):
        return textwrap.wrap(line, width, subsequent_indent="# ", break_long_words=False)
    if len(line) <= width:
        return [line]
    lines = [""]
    for word in _parts(line, ends=" "):
        if not lines[-1].strip() or len(lines[-1] + word.rstrip()) > width:
            pieces = _parts(word, ends=" ([") if len(_INDENT + word.rstrip()) > width else [word]
        else:
            pieces = [word]
        for piece in pieces:
            if lines[-1].strip() and len(lines[-1] + piece.rstrip()) > width:
                lines.append(_INDENT)
            lines[-1] += piece
    return [one.rstrip() for one in lines]


_INDENT = "    "
"""Of what is continued."""


def _parts(text: str, ends: str) -> list[str]:
    """The text in pieces, each up to one of the characters inside of brackets, not of quotes."""
    pieces, piece, depth, quote = list[str](), "", 0, ""
    for character in text:
        piece += character
        if quote or character in "'\"":
            quote = "" if character == quote else quote or character
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        # (Behind an opening bracket it is inside of one, however many were open before.)
        if character in ends and (depth > 0 or character != " "):
            pieces.append(piece)
            piece = ""
    return [*pieces, piece]
