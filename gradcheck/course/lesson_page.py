"""The page of a lesson: Markdown, of which a few things are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAIMS, DERIVED, QUESTION = "claims", "explain", "try"
"""Kinds of fences that a lesson fills: claims with what their cases say, a command of which the key
lines are shown, and one that answers a question. Any other fence is shown as it is."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What comes now."""

    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph, or one item of a list."""

    text: str
    item: bool = False


@dataclass(frozen=True, slots=True)
class Fence:
    """Lines that stand as they are: code, what it prints, or one of the kinds above."""

    kind: str
    lines: tuple[str, ...]

    @property
    def command(self) -> str:
        """A command on one line, as a shell reads it."""
        return " ".join(line.removesuffix("\\").strip() for line in self.lines)


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of a gradient, and the case whose gradient it is."""

    case: str
    text: str


Part = Heading | Prose | Fence


@dataclass(frozen=True, slots=True)
class LessonPage:
    """A title, what one learns, and the parts in their order."""

    title: str
    learns: str
    parts: tuple[Part, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All of them, whichever fence they stand in."""
        fences = [p for p in self.parts if isinstance(p, Fence) and p.kind == CLAIMS]
        return tuple(claim for fence in fences for claim in claims_of(fence))


def claims_of(fence: Fence) -> tuple[Claim, ...]:
    """Each begins with the name of its case; lines that are indented go on with it."""
    found: list[Claim] = []
    for line in fence.lines:
        if line[:1].isspace() and found:
            found[-1] = Claim(found[-1].case, f"{found[-1].text} {line.strip()}")
        elif line.strip():
            case, _, text = line.partition(":")
            found.append(Claim(case.strip(), text.strip()))
    return tuple(found)


def read_page(text: str) -> LessonPage:
    """The page in its text: the first heading is the title, the first paragraph what one learns."""
    parts = list(_parts(text.splitlines()))
    title = next((p.text for p in parts if isinstance(p, Heading)), "")
    learns = next((p.text for p in parts if isinstance(p, Prose)), "")
    rest = [p for p in parts if p not in (Heading(title), Prose(learns))]
    return LessonPage(title, learns, tuple(rest))


def page_of_comment(text: str) -> LessonPage:
    """A lesson that is a spec alone: its first comment, and all its cases."""
    comment = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.removeprefix("#").strip())
    title, *rest = comment or [""]
    prose = [Prose(" ".join(rest).strip())] if any(rest) else []
    return LessonPage(title.rstrip("."), "", (*prose, Fence(CLAIMS, ())))


def _parts(lines: list[str]) -> Iterator[Part]:
    words: list[str] = []
    item = False
    ahead = iter(lines)
    for line in ahead:
        begins = line.startswith(("```", "#", "- ")) or not line.strip()
        if begins and words:
            yield Prose(" ".join(words), item)
            words, item = [], False
        if line.startswith("```"):
            inside = []
            for within in ahead:
                if within.startswith("```"):
                    break
                inside.append(within)
            yield Fence(line.removeprefix("```").strip(), tuple(inside))
        elif heading := re.fullmatch(r"#+ (.*)", line):
            yield Heading(heading[1])
        elif line.strip():
            item = item or line.startswith("- ")
            words.append(line.removeprefix("- ").strip())
    if words:
        yield Prose(" ".join(words), item)
