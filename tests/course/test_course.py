"""What the lessons say is so: their code prints it, their sums are right, their claims were run."""

from __future__ import annotations

import contextlib
import io
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.cli.guide import derived
from gradcheck.course.lesson_page import CLAIMS, DERIVED, QUESTION, Fence, Prose, claims_of
from gradcheck.course.lesson_text import LessonText
from gradcheck.course.outcomes import outcome, summary
from gradcheck.model import Verdict
from tests.course.checked import HOME, LESSONS, NAMES, ROOT, results
from tools import course_pages

if TYPE_CHECKING:
    from gradcheck.course.lessons import Lesson

every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)

_NUMBER = r"(?<![\w.])\d+(?:\.\d+)?(?![\w×])"
_ARRAY = r"\[(?:[-\d., ]|\[[-\d., ]*\])*\]"
_TERM = rf"[−-]?(?:{_NUMBER}|{_ARRAY})"
_SIDE = rf"{_TERM}(?: *[-+−·*/] *(?:{_NUMBER}|{_ARRAY}))*"
_EQUATION = re.compile(rf"{_SIDE}(?: = {_SIDE})+")


def equations(text: str) -> list[str]:
    """The equations between numbers and arrays in a text."""
    return [found[0] for found in _EQUATION.finditer(text)]


def values(equation: str) -> list[np.ndarray]:
    """What stands on each side of an equation."""
    plain = equation.translate(str.maketrans("−·", "-*"))
    arrays = re.sub(_ARRAY, lambda found: f"np.array({found[0]})", plain)
    return [np.asarray(eval(side, {"np": np})) for side in arrays.split(" = ")]  # noqa: S307


def fences(lesson: Lesson, *kinds: str) -> list[Fence]:
    return [p for p in lesson.page.parts if isinstance(p, Fence) and p.kind in kinds]


@every_lesson
def test_a_lesson_has_all_that_a_lesson_has(lesson: Lesson) -> None:
    page = lesson.page
    assert page.title
    assert page.learns.endswith(".")
    for kind in ("python", "text", CLAIMS, DERIVED, QUESTION):
        assert fences(lesson, kind), kind
    assert len(page.claims) >= 4


@every_lesson
def test_the_code_prints_what_the_page_says(lesson: Lesson) -> None:
    (code,), (told,) = fences(lesson, "python"), fences(lesson, "text")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec("\n".join(code.lines), {})  # noqa: S102  (the code of our own page)
    assert said.getvalue().splitlines() == list(told.lines)


@every_lesson
def test_sums_in_the_text_are_right(lesson: Lesson) -> None:
    for part in [*lesson.page.parts, *(Prose(c.text) for c in lesson.page.claims)]:
        for equation in equations(part.text) if isinstance(part, Prose) else []:
            first, *others = values(equation)
            for other in others:
                np.testing.assert_allclose(first, other, rtol=1e-12, err_msg=equation)


def test_sums_are_found_and_wrong_ones_are_seen() -> None:
    text = "C = 1·5 + 2·7 = 19, [1, 2] + [3, 4] = [4, 6], 1 − 0.1·60 = −5; s = 2, 3×4 = C, x2 = 3"
    assert equations(text) == ["1·5 + 2·7 = 19", "[1, 2] + [3, 4] = [4, 6]", "1 − 0.1·60 = −5"]
    for equation in equations(text):
        first, other = values(equation)
        assert (first == other).all()
    first, other = values("1 + 2 = 4")
    assert first != other
    prose = [p.text for lesson in LESSONS for p in lesson.page.parts if isinstance(p, Prose)]
    assert sum(len(equations(text)) for text in prose) > 10


@every_lesson
def test_every_claim_has_a_case_that_decides_it(lesson: Lesson) -> None:
    for claim in lesson.page.claims:
        found = outcome(claim, results(lesson).get(claim.case, []))
        assert found.word != "failed", found
        assert found.facts
        # What people say and is wrong stands in quotes, and why it is wrong below.
        assert claim.text.startswith('"') is (found.word == "false"), claim
        assert bool(found.reason) or found.word == "true"


def refuted(lesson: Lesson) -> set[str]:
    """The functions of a lesson that a case shows to be wrong."""
    every = [result for of_name in results(lesson).values() for result in of_name]
    return {r.case.target.text for r in every if r.case and r.verdict is Verdict.MISMATCH}


@every_lesson
def test_every_wrong_gradient_is_a_claim_of_the_lesson(lesson: Lesson) -> None:
    named = {claim.case for claim in lesson.page.claims}
    for name, of_name in results(lesson).items():
        for result in of_name:
            assert result.expected, (name, result.verdict, result.message)
            case = result.case
            assert case is not None
            if case.target.text.startswith("specs.guide.claims:"):
                assert name in named
                # It may pass where ones for G, or a single derivative, hide that it is wrong.
                assert case.target.text in refuted(lesson)


def test_every_function_of_the_claims_is_shown() -> None:
    functions = set(re.findall(r"(?m)^def (\w+)", (HOME / "claims.py").read_text("utf-8")))
    specs = "".join(lesson.spec.read_text("utf-8") for lesson in LESSONS)
    assert functions == set(re.findall(r"specs\.guide\.claims:(\w+)", specs))


@pytest.mark.parametrize("width", [60, 80])
@every_lesson
def test_no_line_is_wider_than_the_terminal(lesson: Lesson, width: int) -> None:
    page = LessonText(width)
    lines = [*page.title(lesson), *page.wrapped(summary(lesson.name, results(lesson)))]
    for part in lesson.page.parts:
        if isinstance(part, Fence) and part.kind == DERIVED:
            lines += [*page.typed(part), *derived(part.command, width)]
        elif isinstance(part, Fence) and part.kind == CLAIMS:
            for claim in claims_of(part):
                lines += page.outcome(outcome(claim, results(lesson)[claim.case]))
        else:
            lines += page.part(part)
    assert [line for line in lines if len(line) > width] == []
    assert [line for line in page.listing(LESSONS) if len(line) > width] == []


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return course_pages.course(results)


def test_there_is_a_page_for_each_lesson(pages: dict[str, str]) -> None:
    there = {path.name for path in course_pages.PAGES.glob("*.md")}
    assert there == set(pages) == {"index.md", *(f"{name}.md" for name in NAMES)}


@pytest.mark.parametrize("name", ["index", *NAMES])
def test_the_pages_of_the_docs_are_what_the_lessons_give(pages: dict[str, str], name: str) -> None:
    """Every answer in them was printed just now; `python -m tools.course_pages` writes them."""
    written = (course_pages.PAGES / f"{name}.md").read_text("utf-8")
    assert written == pages[f"{name}.md"]
    assert "failed" not in written
    assert str(ROOT) not in written
