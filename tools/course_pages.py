"""The pages of docs/course/, made from the lessons of `gradcheck guide`.

    python -m tools.course_pages           run the lessons, and write the pages
    python -m tools.course_pages --check   say which pages are not what the lessons give

What a page shows as the answer of a command is what that command prints; `...` stands for lines
that are left out.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.course.lesson_page import CLAIMS, DERIVED, QUESTION, Fence, Heading, claims_of
from gradcheck.course.lesson_run import run_lesson
from gradcheck.course.lessons import Lesson, lesson_after, read_lessons
from gradcheck.course.outcomes import outcome, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gradcheck.course.lesson_page import Claim, Part
    from gradcheck.model import Result

    Results = Mapping[str, Sequence[Result]]

ROOT = Path(__file__).parents[1]
HOME = ROOT / "specs" / "guide"
PAGES = ROOT / "docs" / "course"

_SECTIONS = r"(?ms)^((?:Gradient|Closed form[^\n]*|In numbers|Common mistakes)\n.*?)(?=\n\n|\Z)"
"""Of an answer: the formulas, the numbers and the warnings. The way there is long."""


INTRODUCTION = """\
# A course on gradients

From a number times a tensor to the gradient of a gradient. Each lesson explains, with numbers that you can check by
hand, and then lets a run decide which of the things that people say are true.

`gradcheck guide` lists the lessons, and `gradcheck guide 1` goes through the first one in a terminal.
`gradcheck guide --copy lessons` writes them to a folder, to run and to change: `cd lessons && gradcheck run`.
"""  # noqa: E501  (a page)


def course(results: Callable[[Lesson], Results]) -> dict[str, str]:
    """All pages by name: the list of lessons, and each of them."""
    lessons = read_lessons(HOME)
    found = {"index.md": _index(lessons)}
    for lesson in lessons:
        found[f"{lesson.name}.md"] = _page(lesson, lessons, results(lesson))
    return found


def _index(lessons: Sequence[Lesson]) -> str:
    lines = [INTRODUCTION, "| lesson | you learn |", "| --- | --- |"]
    for lesson in lessons:
        title = f"{lesson.number}. {lesson.page.title}"
        lines.append(f"| [{title}]({lesson.name}.md) | {lesson.page.learns} |")
    return "\n".join([*lines, ""])


def _page(lesson: Lesson, lessons: Sequence[Lesson], results: Results) -> str:
    page = lesson.page
    parts = [
        f"# Lesson {lesson.number}: {page.title}",
        page.learns,
        f"(`gradcheck guide {lesson.number}` shows this in a terminal. [All lessons](index.md).)",
    ]
    parts += [_part(part, lesson, results) for part in page.parts]
    parts += ["## The spec", f"```yaml\n{lesson.spec.read_text('utf-8')}```"]
    if code := _code(lesson):
        parts += ["And the functions of `claims.py` and `functions.py` that it names:"]
        parts += [f"```python\n{code}\n```"]
    if after := lesson_after(lessons, lesson):
        parts.append(f"Next: [{after.page.title}]({after.name}.md).")
    # (The items of a list stand close together.)
    return re.sub(r"(?m)^(- .*)\n\n(?=- )", r"\1\n", "\n\n".join(parts)) + "\n"


def _part(part: Part, lesson: Lesson, results: Results) -> str:
    if isinstance(part, Heading):
        return f"## {part.text}"
    if not isinstance(part, Fence):
        return f"- {part.text}" if part.item else part.text
    if part.kind == CLAIMS:
        told = [_claim(claim, results.get(claim.case, ())) for claim in claims_of(part)]
        return "\n\n".join([*told, summary(lesson.name, results)])
    if part.kind in (DERIVED, QUESTION):
        answer = "```text\n$ {}\n{}\n```".format("\n".join(part.lines), printed(part.command))
        if part.kind == DERIVED:
            return answer
        typed = "```\n{}\n```".format("\n".join(part.lines))
        return (
            f"{typed}\n\n<details markdown><summary>The answer</summary>\n\n{answer}\n\n</details>"
        )
    return "```{}\n{}\n```".format(part.kind, "\n".join(part.lines))


def _claim(claim: Claim, results: Sequence[Result]) -> str:
    """The claim with its word, and what the run says below."""
    found = outcome(claim, results)
    said = [f"    - {fact}" for fact in found.facts]
    because = [f"    - because {found.reason}"] if found.reason else []
    return "\n".join([f"- **{found.word}**: {claim.text} (`{claim.case}`)", *said, *because])


def printed(command: str) -> str:
    """What a command prints of formulas, numbers and warnings; `...` for what is left out."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    words = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(
        words, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return "...\n" + "\n...\n".join(re.findall(_SECTIONS, done.stdout.rstrip()))


def _code(lesson: Lesson) -> str:
    """The functions that a spec names, as they are written."""
    names = re.findall(r"specs\.guide\.(claims|functions):(\w+)", lesson.spec.read_text("utf-8"))
    sources = []
    for module, name in dict.fromkeys(names):
        text = (HOME / f"{module}.py").read_text("utf-8")
        (node,) = (n for n in ast.parse(text).body if getattr(n, "name", "") == name)
        assert isinstance(node, ast.FunctionDef)  # noqa: S101  (for the type checker)
        begin = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        sources.append("\n".join(text.splitlines()[begin - 1 : node.end_lineno]))
    return "\n\n\n".join(sources)


@contextlib.contextmanager
def _unwatched(total: int) -> Iterator[Callable[[], None]]:
    del total
    yield lambda: None


def main() -> None:
    """Write the pages, or hold them against what they should be."""
    parser = argparse.ArgumentParser(description="the pages of the course")
    parser.add_argument("--check", action="store_true", help="write nothing")
    given = parser.parse_args()
    made = course(lambda lesson: run_lesson(lesson, _unwatched))
    if given.check:
        old = {path.name: path.read_text("utf-8") for path in PAGES.glob("*.md")}
        sys.exit("\n".join(sorted(n for n in {*made, *old} if made.get(n) != old.get(n))))
    PAGES.mkdir(exist_ok=True)
    for path in PAGES.glob("*.md"):
        path.unlink()
    for name, text in made.items():
        (PAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
