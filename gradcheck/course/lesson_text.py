"""A lesson as lines for a terminal, none longer than it is wide."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradcheck.course.lesson_page import Heading, Prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.course.lesson_page import Fence, Part
    from gradcheck.course.lessons import Lesson
    from gradcheck.course.outcomes import Outcome

Bold = Callable[[str], str]

MARGIN = "    "
"""Before what is to be typed, and what is printed."""
_BESIDE_CLAIM = 10
"""What `true` and its like take before a claim, at most."""
_WHOLE = re.compile(r"`[^`]+`|\[(?:[^\[\]]|\[[^\[\]]*\])*\]")
"""Code, and arrays of up to two axes."""
_LONGEST_WHOLE = 36
_NO_BREAK = "\u00a0"


class LessonText:
    """Lays out parts for a width; `bold` marks headings where the terminal can."""

    def __init__(self, width: int, bold: Bold = str) -> None:
        self.width = width
        self.bold = bold

    def listing(self, lessons: Sequence[Lesson]) -> list[str]:
        """Every lesson by name and title, and what one learns below."""
        column = max(len(lesson.name) for lesson in lessons)
        lines = []
        for lesson in lessons:
            hanging = " " * (column + 4)
            first = f"  {lesson.name:{column}}  {lesson.page.title}"
            lines += self.wrapped(first, "", hanging)
            lines += self.wrapped(lesson.page.learns, hanging, hanging)
        return lines

    def title(self, lesson: Lesson) -> list[str]:
        """How a lesson begins."""
        page = lesson.page
        head = self.wrapped(f"Lesson {lesson.number}: {page.title}")
        return [*map(self.bold, head), *self.wrapped(page.learns)]

    def part(self, part: Part) -> list[str]:
        """Whatever needs no run and no explanation."""
        if isinstance(part, Heading):
            return ["", *map(self.bold, self.wrapped(part.text))]
        if isinstance(part, Prose):
            if part.item:
                return self.wrapped(part.text, "  - ", "    ")
            return ["", *self.wrapped(part.text)]
        return ["", *self.typed(part)]

    def typed(self, fence: Fence) -> list[str]:
        """Lines as they stand: what is pasted must not be broken."""
        return [f"{MARGIN}{line}".rstrip() for line in fence.lines]

    def outcome(self, outcome: Outcome) -> list[str]:
        """A claim, and below it what the run says."""
        indent = " " * _BESIDE_CLAIM
        word = f"  {outcome.word}".ljust(_BESIDE_CLAIM)
        first, *others = self.wrapped(word + outcome.claim.text, "", indent)
        lines = [first.replace(outcome.word, self.bold(outcome.word), 1), *others]
        for fact in outcome.facts:
            lines += self.wrapped(fact, f"{indent}-> ", f"{indent}   ")
        if outcome.reason:
            lines += self.wrapped(f"because {outcome.reason}", f"{indent}   ", f"{indent}   ")
        return lines

    def wrapped(self, text: str, first: str = "", others: str = "") -> list[str]:
        """The text in lines; nothing for no text. Arrays and code stay in one piece if short."""
        lines = textwrap.wrap(
            _WHOLE.sub(_held_together, text),
            self.width,
            initial_indent=first,
            subsequent_indent=others,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [line.replace(_NO_BREAK, " ") for line in lines]


def _held_together(piece: re.Match[str]) -> str:
    whole = piece[0]
    return whole if len(whole) > _LONGEST_WHOLE else whole.replace(" ", _NO_BREAK)
