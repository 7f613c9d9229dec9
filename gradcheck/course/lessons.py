"""Which lessons there are, in their order, and a folder of one's own to change them in."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.course.lesson_page import LessonPage, page_of_comment, read_page
from gradcheck.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

INSIDE = "specs/guide"
"""Where the lessons lie in a project, and by which name their code is imported."""
PACKAGE = "specs.guide"

SETTINGS = """\
[tool.gradcheck]
# The code that the lessons check, in specs/guide/*.py, may run.
allow = ["specs.guide"]
"""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A spec, and the page that explains it."""

    spec: Path
    page: LessonPage

    @property
    def name(self) -> str:
        """`03-matmul`, as its files are called."""
        return self.spec.stem

    @property
    def number(self) -> str:
        """By which it is asked for: 3."""
        return self.name.partition("-")[0].lstrip("0")


def read_lessons(home: Path) -> tuple[Lesson, ...]:
    """All that are in a folder."""
    return tuple(Lesson(spec, _page(spec)) for spec in sorted(home.glob("*.yaml")))


def _page(spec: Path) -> LessonPage:
    page = spec.with_suffix(".md")
    if page.exists():
        return read_page(page.read_text(encoding="utf-8"))
    return page_of_comment(spec.read_text(encoding="utf-8"))


def find_lesson(lessons: Sequence[Lesson], wanted: str) -> Lesson:
    """The lesson of a number or a name, whole (03-matmul) or without its number (matmul)."""
    names: dict[str, Lesson] = {}
    for lesson in lessons:
        short = lesson.name.partition("-")[2]
        names |= {lesson.name: lesson, short: lesson, lesson.number: lesson}
    found = names.get(wanted.lower()) or names.get(wanted.lstrip("0"))
    if found is None:
        words = [name for name in names if not name.isdigit()]
        hint = did_you_mean(wanted.lower(), words) or "; `gradcheck guide` lists them"
        raise UsageError(f"there is no lesson {wanted!r}{hint}")
    return found


def lesson_after(lessons: Sequence[Lesson], lesson: Lesson) -> Lesson | None:
    """The next one; None behind the last."""
    place = lessons.index(lesson) + 1
    return lessons[place] if place < len(lessons) else None


def copy_lessons(home: Path, folder: Path) -> None:
    """Make a project of the lessons: the folder must be new, or empty."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} is there already, and not empty: name a new folder")
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(home, folder / INSIDE, ignore=skipped)
        (folder / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from None
