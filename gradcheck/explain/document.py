"""What an explanation consists of, before anyone decides how it looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradcheck.explain.style import Style

__all__ = ["Block", "Bullets", "Code", "Document", "Equation", "Paragraph", "Section", "Table"]

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
