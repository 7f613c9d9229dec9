"""Markdown of which every text stays text, and that ends where there is no more room.

Names, messages and reasons come from anybody, and what is made of them is posted under the name of
a bot: nothing in them is Markdown or HTML, mentions a person, refers to an issue or becomes a link.
Without it `test_hostile_texts_stay_texts` fails.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from gradcheck.report.safe_text import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_CELL = 400
"""Characters of a text in a table: some lines of a narrow column."""

LONGEST_CODE_LINE = 500
"""Characters of a line of code: a message may be one line of a megabyte."""

_MARK = "\x00"
"""Stands for a break until all else is escaped: no text has it."""
_IN_TEXT = str.maketrans(
    {
        # (A backslash before a bar would set the bar free, in a table.)
        **{c: f"&#{ord(c)};" for c in "\\|$`"},
        **{c: f"\\{c}" for c in "*_[]~"},
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        _MARK: "&#8203;",
    }
)
"""The last is a space that has no width."""
_IN_CODE = str.maketrans({c: f"&#{ord(c)};" for c in "&<>\"'\\|$`*_[]~:@#."})
_REFERENCE = re.compile(
    r"(?P<person>@)(?=\w)"
    r"|(?P<issue>#)(?=\d)"
    r"|(?P<short>\bGH)(?=-\d)"
    r"|(?P<link>:)(?=//)"
    r"|(?P<page>\bwww)(?=\.)"
    r"|(?P<emoji>:)(?=[\w+-]+:)",
    re.IGNORECASE,
)
"""What GitHub makes something of; a space behind the group and it does not."""


_BLOCK = re.compile(r"(?:#+|[+-]|\d+[.)])(?:\s|$)|[=-]+$")
"""What would make a title or a list of the line that it begins."""


def shortened(text: str, most: int) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def plain(text: str, most: int = LONGEST_CELL) -> str:
    """A text of one line, in a sentence or in a cell."""
    told = shortened(one_line(text), most)
    if _BLOCK.match(told):
        told = _MARK + told
    return _REFERENCE.sub(lambda found: f"{found[0]}{_MARK}", told).translate(_IN_TEXT)


def code(text: str, most: int = LONGEST_CELL) -> str:
    """A text of one line as code, in a sentence or in a cell."""
    told = shortened(one_line(text), most)
    if told and not set(told) & set("`|\\"):
        return f"`{told}`"
    return f"<code>{told.translate(_IN_CODE)}</code>"


def link(label: str, url: str) -> str:
    """A link of ours, whose label is code; the label alone where there is nowhere to go."""
    return f"[{label}]({url})" if url else label


def block(text: str) -> str:
    """A text of many lines as code."""
    lines = [shortened(line.rstrip(), LONGEST_CODE_LINE) for line in clean(text).split("\n")]
    told = "\n".join(lines)
    # A fence ends at one that is as long.
    longest = max(map(len, re.findall(r"`+", told)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{told}\n{fence}\n"


def table_head(header: Sequence[str], *, numeric: bool = False) -> str:
    """The first two lines of a table; its titles are ours.

    `numeric`: all but the first column hold numbers.
    """
    lines = " --- |" + (" ---: |" if numeric else " --- |") * (len(header) - 1)
    return f"| {' | '.join(header)} |\n|{lines}\n"


def table_row(cells: Iterable[str]) -> str:
    """A line of a table, whose cells are Markdown already."""
    return f"| {' | '.join(cells)} |\n"


def fold(name: str, rest: str = "") -> tuple[str, str]:
    """What stands before and behind something that is shown when its title is clicked.

    The title is a name from anywhere, as code, and words of ours; or these alone.
    """
    # (In there nothing is Markdown.)
    told = f"<code>{escape(shortened(one_line(name), LONGEST_CELL))}</code>" if name else ""
    return f"<details>\n<summary>{told}{rest}</summary>\n\n", "\n</details>\n"


class Sheet:
    """A text with a limit: lists end where their room does, and say so."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._parts: list[str] = []

    def add(self, text: str) -> bool:
        """Add a paragraph; False if there is no room for it."""
        size = _size(text) + 1
        if self._used + size > self._limit:
            return False
        self._used += size
        self._parts.append(text)
        return True

    def add_list(
        self,
        items: Sequence[str],
        left_out: str,
        *,
        before: str = "",
        after: str = "",
        share: float = 1.0,
    ) -> None:
        """Add as many items as fit into a share of what is left, and say how many did not.

        Args:
            items: each whole or not at all.
            left_out: what is said of the others, with `{}` for their number.
            before: what stands before the first item.
            after: what stands behind the last one.
            share: of the room that is left.
        """
        told = left_out.format(f"{len(items):,}")
        room = int((self._limit - self._used) * share)
        room -= sum(map(_size, (before, after, told))) + len("\n\n*… *\n")
        fitting = 0
        for item in items:
            room -= _size(item)
            if room < 0:
                break
            fitting += 1
        text = f"{before}{''.join(items[:fitting])}{after}" if fitting else ""
        if fitting < len(items):
            text += f"\n*… {left_out.format(f'{len(items) - fitting:,}')}*\n"
        if text:
            self.add(text)

    def __str__(self) -> str:
        return "\n".join(self._parts)


def _size(text: str) -> int:
    """In bytes: never less than what anybody counts as characters."""
    return len(text.encode("utf-8", "replace"))
