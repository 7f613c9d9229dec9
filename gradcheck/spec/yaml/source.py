"""One spec file's text, and the problems found in it with the line that they point at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradcheck.model import Location, SpecProblem

if TYPE_CHECKING:
    from gradcheck.spec.yaml.nodes import Node

# The line breaks that YAML counts, besides the usual ones.
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")

_LONGEST_LINE = 160
"""Characters of a line that are shown: two lines of a terminal of 80."""


class Source:
    """A spec file: its path as ids show it, its lines, and the problems in it so far."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = _LINE_BREAK.split(text)
        self.count = 0
        """Problems noted, repetitions included: whoever reads a part compares before and after."""
        self._problems: dict[tuple[int, int, str], SpecProblem] = {}

    @property
    def problems(self) -> tuple[SpecProblem, ...]:
        """What was found, in the order of the lines."""
        ordered = sorted(self._problems.items(), key=lambda item: item[0][:2])
        return tuple(problem for _, problem in ordered)

    def location(self, node: Node) -> Location:
        """Where the node begins."""
        return Location(self.path, node.line, node.column)

    def problem(self, node: Node, message: str, hint: str = "") -> None:
        """Note that something is wrong with the node."""
        self.problem_at(node.line, node.column, message, hint, node.length)

    def problem_at(
        self, line: int, column: int, message: str, hint: str = "", length: int = 1
    ) -> None:
        """Note that something is wrong at a place; what several cases share is said once."""
        self.count += 1
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        shown = "".join(c if c.isprintable() else " " for c in text)
        if column > _LONGEST_LINE:
            shown = ""
        elif len(shown) > _LONGEST_LINE:
            shown = shown[: _LONGEST_LINE - 1] + "…"
        length = max(1, min(length, len(shown) - column + 1))
        problem = SpecProblem(message, Location(self.path, line, column), hint, shown, length)
        self._problems.setdefault((line, column, message), problem)


def shown(value: object) -> str:
    """A value from a file as a message shows it: short, in backquotes, nothing unprintable."""
    text = value if isinstance(value, str) else _yaml_text(value)
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return f"`{text[:59]}…`" if len(text) > 60 else f"`{text}`"


def _yaml_text(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    # Python refuses to print whole numbers of thousands of digits.
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"{value.bit_length() * 3 // 10}-digit number"
    return str(value)
