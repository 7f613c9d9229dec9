"""Lessons are found by number and by name."""

from __future__ import annotations

import pytest

from gradcheck.course.lessons import find_lesson, lesson_after
from gradcheck.errors import UsageError
from tests.course.checked import LESSONS


@pytest.mark.parametrize("wanted", ["3", "03", "matmul", "03-matmul", "Matmul"])
def test_a_lesson_has_several_names(wanted: str) -> None:
    assert find_lesson(LESSONS, wanted).name == "03-matmul"


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("matmull", "there is no lesson 'matmull'; did you mean 'matmul'?"),
        ("99", "there is no lesson '99'; `gradcheck guide` lists them"),
        ("0", "there is no lesson '0'; `gradcheck guide` lists them"),
        ("", "there is no lesson ''; `gradcheck guide` lists them"),
    ],
)
def test_another_name_is_told(wanted: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_lesson(LESSONS, wanted)
    assert str(caught.value) == told


def test_they_are_numbered_in_their_order() -> None:
    assert [lesson.number for lesson in LESSONS] == [str(i + 1) for i in range(len(LESSONS))]
    after = [lesson_after(LESSONS, lesson) for lesson in LESSONS]
    assert after == [*LESSONS[1:], None]
