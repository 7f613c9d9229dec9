"""What the cases of the lessons come to, checked once in this process."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.checker import check_case
from gradcheck.course.lessons import Lesson, read_lessons
from gradcheck.spec import load

if TYPE_CHECKING:
    from gradcheck.model import Result

ROOT = Path(__file__).parents[2]
HOME = ROOT / "specs" / "guide"
LESSONS = read_lessons(HOME)
NAMES = [lesson.name for lesson in LESSONS]


@cache
def results(lesson: Lesson) -> dict[str, list[Result]]:
    loaded = load([str(lesson.spec)], allow=["specs.guide"])
    assert loaded.problems == ()
    found: dict[str, list[Result]] = {}
    for case in loaded.cases:
        result = check_case(case, allow=["specs.guide"], root=str(ROOT))
        found.setdefault(case.name, []).append(result)
    return found
