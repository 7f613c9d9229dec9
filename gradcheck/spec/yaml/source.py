"""One spec file's text, and the problems found in it with the line that they point at."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gradcheck.model import Location, SpecProblem

if TYPE_CHECKING:
    from collections.abc import Hashable

    from gradcheck.spec.yaml.nodes import Node

# The line breaks that YAML counts, besides the usual ones.
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")

T = TypeVar("T")

Hint = str | Callable[[], str]
"""What would be right; a function where finding that takes time."""

MOST_OF_A_KIND = 20
"""Problems of one kind in a file that are told: nobody reads more of them before mending some."""

# The names and numbers in which problems of one kind differ.
_NAMED = re.compile(r"`[^`]*`|[0-9][0-9,]*")

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
        self._kinds: dict[str, list[tuple[int, int, str]]] = {}
        self._uncounted: dict[str, int] = {}
        self._read: dict[tuple[int, Hashable], tuple[Any, bool, Node]] = {}

    @property
    def problems(self) -> tuple[SpecProblem, ...]:
        """What was found, in the order of the lines; of one kind the first, and a count."""
        ordered = sorted(self._problems.items(), key=lambda item: item[0][:2])
        found = [problem for _, problem in ordered]
        for kind, more in self._uncounted.items():
            last = self._problems[self._kinds[kind][-1]]
            message = f"{more:,} more problems of this kind: {last.message}"
            found.append(SpecProblem(message, last.location))
        return tuple(found)

    def once(self, node: Node, what: Hashable, read: Callable[[], T]) -> T:
        """What a reader makes of a node that many cases share: read once, with its problems.

        Without it `test_what_cases_share_is_read_once` fails.
        """
        key = (id(node), what)
        if key not in self._read:
            before = self.count
            value = read()
            # (The node is kept: one that is gone could lend its identity to another.)
            self._read[key] = (value, self.count != before, node)
            return value
        value, is_bad, _ = self._read[key]
        self.count += is_bad
        return cast("T", value)

    def location(self, node: Node) -> Location:
        """Where the node begins."""
        return Location(self.path, node.line, node.column)

    def problem(self, node: Node, message: str, hint: Hint = "") -> None:
        """Note that something is wrong with the node."""
        self.problem_at(node.line, node.column, message, hint, node.length)

    def problem_at(
        self, line: int, column: int, message: str, hint: Hint = "", length: int = 1
    ) -> None:
        """Note that something is wrong at a place; what several cases share is said once.

        After the first twenty of a kind the rest is counted, and no hint is looked for.
        """
        self.count += 1
        key, kind = (line, column, message), _NAMED.sub("", message)
        if key in self._problems:
            return
        alike = self._kinds.setdefault(kind, [])
        if len(alike) >= MOST_OF_A_KIND:
            self._uncounted[kind] = self._uncounted.get(kind, 0) + 1
            return
        alike.append(key)
        hint = hint if isinstance(hint, str) else hint()
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        # (A file may be one line of megabytes.)
        shown = "".join(c if c.isprintable() else " " for c in text[: _LONGEST_LINE + 1])
        if column > _LONGEST_LINE:
            shown = ""
        elif len(shown) > _LONGEST_LINE:
            shown = shown[: _LONGEST_LINE - 1] + "…"
        length = max(1, min(length, len(shown) - column + 1))
        problem = SpecProblem(message, Location(self.path, line, column), hint, shown, length)
        self._problems[key] = problem


def shown(value: object) -> str:
    """A value from a file as a message shows it: short, in backquotes, nothing unprintable."""
    text = value if isinstance(value, str) else _yaml_text(value)
    text = text[:61]
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
