"""What an explanation consists of, before anyone decides how it looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradcheck.explainer.style import Style

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


def _broken(line: str, width: int) -> list[str]:
    """A line of Python, broken inside of brackets alone: nowhere else may it be broken."""
    if len(line) <= width or line.startswith("#"):
        return [line]
    words, word, depth = list[str](), "", 0
    for character in line:
        word += character
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == " " and depth:
            words.append(word)
            word = ""
    lines = [""]
    for part in [*words, word]:
        if lines[-1].strip() and len(lines[-1] + part.rstrip()) > width:
            lines.append("    ")
        lines[-1] += part
    return [one.rstrip() for one in lines]
