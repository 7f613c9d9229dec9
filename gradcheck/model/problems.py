"""What is wrong in a spec."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradcheck.model.cases import Location


_OPTION = ", or pass "


def or_pass(option: str) -> str:
    """The end of a hint: an option of the command that does the same, where there is a command."""
    return f"{_OPTION}`{option}`"


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """One thing that is wrong in a spec: what, where, and what would be right."""

    message: str
    location: Location
    hint: str = ""
    source: str = ""
    """The text of the line, to be shown with a caret under `location.column`."""
    length: int = 1
    """How many characters the caret underlines."""

    def without_options(self) -> SpecProblem:
        """The problem for readers who have no command line of ours: pytest knows no `--allow`."""
        return replace(self, hint=self.hint.partition(f"{_OPTION}`--")[0])

    def __str__(self) -> str:
        lines = [f"{self.location}: {self.message}"]
        if self.source:
            gutter, room = f"{self.location.line:>5} | ", len(self.source) + 1
            lines.append(gutter + self.source)
            # (A report from elsewhere may say anything.)
            if 1 <= self.location.column <= room:
                width = max(1, min(self.length, room))
                lines.append(" " * (len(gutter) + self.location.column - 1) + "^" * width)
        if self.hint:
            lines.append(f"      = {self.hint}")
        return "\n".join(lines)
