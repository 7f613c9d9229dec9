"""The cases of a lesson, checked by workers in a copy that is gone afterwards."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.course.lessons import INSIDE, PACKAGE, copy_lessons
from gradcheck.errors import UsageError
from gradcheck.run import run
from gradcheck.spec import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.course.lessons import Lesson
    from gradcheck.model import Case, Result

    Watcher = Callable[[int], contextlib.AbstractContextManager[Callable[[], None]]]
    """Given how many cases there are: what is told of each that is done."""


def run_lesson(lesson: Lesson, watched: Watcher) -> dict[str, list[Result]]:
    """What came of the cases, by name and in their order; a name may stand for several.

    The lessons are copied because their code is imported as `specs.guide`, wherever they lie; and
    the copy's packages are whole ones, before which no `specs` of somebody's project comes.
    """
    with tempfile.TemporaryDirectory(prefix="gradcheck-guide-") as folder:
        root = Path(folder)
        copy_lessons(lesson.spec.parent, root)
        for package in (root / "specs", root / INSIDE):
            (package / "__init__.py").touch()
        loaded = load([str(root / INSIDE / lesson.spec.name)], allow=[PACKAGE])
        if loaded.problems:
            raise UsageError("\n".join(map(str, loaded.problems)))
        return _results(loaded.cases, str(root), watched)


def _results(cases: tuple[Case, ...], root: str, watched: Watcher) -> dict[str, list[Result]]:
    found: dict[str, Result] = {}
    with watched(len(cases)) as advance:
        stream = run(cases, allow=[PACKAGE], root=root)
        with contextlib.closing(stream):
            for result in stream:
                found[result.id] = result
                advance()
    by_name: dict[str, list[Result]] = {}
    for case in cases:
        by_name.setdefault(case.name, []).append(found[case.id])
    return by_name
