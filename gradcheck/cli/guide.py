"""`gradcheck guide`: a course on gradients, and a folder to try its lessons in."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradcheck.cli import options
from gradcheck.cli.say import say, say_styled
from gradcheck.course.lesson_page import CLAIMS, DERIVED, Fence, claims_of
from gradcheck.course.lesson_text import LessonText
from gradcheck.course.lessons import (
    INSIDE,
    Lesson,
    copy_lessons,
    find_lesson,
    lesson_after,
    read_lessons,
)
from gradcheck.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PIPED_WIDTH, NARROWEST_PAGE, WIDEST_PAGE = 80, 40, 88
"""Columns of a page where nobody says how wide it is, and between which it is as wide as asked."""


def _named(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """The lessons that a shell offers for what was typed so far: with or without their number."""
    del context, parameter
    names = [lesson.name for lesson in read_lessons(_home())]
    names += [name.partition("-")[2] for name in names]
    return [name for name in names if name.startswith(begun)]


@click.command(name="guide")
@click.argument("lesson", required=False, shell_complete=_named)
@click.option("--copy", "folder", metavar="FOLDER", help="Write the lessons to a new folder.")
def command(lesson: str | None, folder: str | None) -> int:
    """List the lessons of a course on gradients, go through one, or copy them to a folder.

    LESSON is a number or a name. A lesson explains, runs its cases, and says which claims are true
    and which are not. The copy is there to be run and changed.

    \b
    Examples:
      gradcheck guide
      gradcheck guide 1
      gradcheck guide matmul
      gradcheck guide --copy lessons && cd lessons && gradcheck run

    The exit code of a lesson is 0 when its cases end as it says, else 1.
    """  # noqa: D301  (click reads the \b)
    if folder is not None:
        if lesson is not None:
            raise UsageError("--copy writes all the lessons: name none of them beside it")
        return _copied(folder)
    if lesson is not None:
        found = find_lesson(read_lessons(_home()), lesson)
        return _go_through(found)
    lessons = read_lessons(_home())
    say("\n".join(_text().listing(lessons)))
    say(f"\n`gradcheck guide {lessons[0].number}` begins with the first lesson.")
    say("`gradcheck guide --copy FOLDER` writes them to a folder, to run and to change.")
    return ExitCode.OK


def _copied(folder: str) -> int:
    lessons = read_lessons(_home())
    copy_lessons(_home(), Path(folder))
    say(f"{len(lessons)} lessons are in {Path(folder) / INSIDE}. To run them all, or one:\n")
    say(f"  cd {shlex.quote(folder)}")
    say("  gradcheck run")
    say(f"  gradcheck run {INSIDE}/{lessons[0].spec.name}")
    return ExitCode.OK


def _home() -> Path:
    """Where the lessons are: inside of an installed package, and beside one that is worked on."""
    package = Path(__file__).parents[1]
    installed = package / "guide"
    return installed if installed.is_dir() else package.parent / INSIDE


def _text() -> LessonText:
    width = shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    width = max(NARROWEST_PAGE, min(width, WIDEST_PAGE))
    return LessonText(width, lambda text: click.style(text, bold=True))


def _go_through(lesson: Lesson) -> int:
    """Print the lesson from top to bottom; its cases run where their claims stand."""
    from gradcheck.run import in_a_command, warm_up

    click.get_current_context().with_resource(in_a_command())
    # TensorFlow loads in another process while the reader reads.
    warm_up()
    page = _text()
    _print(page.title(lesson))
    good = True
    for part in lesson.page.parts:
        if not isinstance(part, Fence) or part.kind not in (CLAIMS, DERIVED):
            _print(page.part(part))
        elif part.kind == CLAIMS:
            good &= _run(lesson, part, page)
        else:
            _print(["", *page.typed(part), "", *derived(part.command, page.width)])
    _print(["", *_next(lesson, page)])
    return ExitCode.OK if good else ExitCode.FAILED


def _run(lesson: Lesson, fence: Fence, page: LessonText) -> bool:
    """The claims beside what the run says; whether all cases ended as they should."""
    from gradcheck.course.lesson_run import run_lesson
    from gradcheck.course.outcomes import outcome, summary
    from gradcheck.run import dismiss

    _print([""])
    results = run_lesson(lesson, _watched)
    dismiss()
    for claim in claims_of(fence):
        _print(page.outcome(outcome(claim, results.get(claim.case, []))))
    _print(["", *page.wrapped(summary(lesson.name, results))])
    return all(result.expected for of_name in results.values() for result in of_name)


@contextlib.contextmanager
def _watched(total: int) -> Iterator[Callable[[], None]]:
    """A bar for eyes, which says that TensorFlow is loading, and goes away."""
    if not options.for_people():
        yield lambda: None
        return
    from gradcheck.report.formats.progress import LiveBar
    from gradcheck.report.formats.table import open_console

    bar = LiveBar(open_console(sys.stdout), total)
    bar.start()
    try:
        yield lambda: bar.advance(failed=False)
    finally:
        bar.stop()


def derived(text: str, width: int) -> list[str]:
    """The key lines of what a command `gradcheck explain …` prints; TensorFlow is not needed."""
    from gradcheck.cli.explain import asked
    from gradcheck.course.derived_lines import key_sections
    from gradcheck.explainer.compose import answer, answering
    from gradcheck.explainer.render.terminal import render_text

    with answering():
        document, _ = answer(asked(shlex.split(text)[2:]))
    return render_text(key_sections(document), width=width).splitlines()[2:]


def _next(lesson: Lesson, page: LessonText) -> list[str]:
    """What to type after a lesson."""
    after = lesson_after(read_lessons(_home()), lesson)
    claimed = "specs.guide.claims:" in lesson.spec.read_text(encoding="utf-8")
    lines = page.wrapped(
        f"To change this lesson and run it again: `gradcheck guide --copy lessons`, then see "
        f"lessons/{INSIDE}/{lesson.spec.name}"
        f"{', and claims.py beside it for the gradients that are wrong' if claimed else ''}."
    )
    if after is None:
        end = "That was the last lesson. `gradcheck init` looks at your own code."
        return [*lines, *page.wrapped(end)]
    return [*lines, *page.wrapped(f"Next: `gradcheck guide {after.number}`, {after.page.title}.")]


def _print(lines: list[str]) -> None:
    say_styled("\n".join(lines))
    sys.stdout.flush()
