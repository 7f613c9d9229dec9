from __future__ import annotations

import pytest

from gradcheck.start.pyproject_edit import NotEditableError, allowed_in, with_allowed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[tool.gradcheck]\nallow = ["mine"]\n'),
        ("[a]\nb = 1 # c", '[a]\nb = 1 # c\n\n[tool.gradcheck]\nallow = ["mine"]\n'),
        (
            "[tool.gradcheck] # ours\njobs = 2\n\n[tool.x]\n",
            '[tool.gradcheck] # ours\nallow = ["mine"]\njobs = 2\n\n[tool.x]\n',
        ),
        (
            '[tool.gradcheck]\nallow = ["a"]  # b\n',
            '[tool.gradcheck]\nallow = ["a", "mine"]  # b\n',
        ),
        ("[tool.gradcheck]\nallow = []\n", '[tool.gradcheck]\nallow = ["mine"]\n'),
        (
            '[tool.gradcheck]\nallow = [\n  "a",\n]\n',
            '[tool.gradcheck]\nallow = [\n  "a", "mine"\n]\n',
        ),
        ("[a]\r\nb = 1\r\n", '[a]\r\nb = 1\r\n\r\n[tool.gradcheck]\r\nallow = ["mine"]\r\n'),
    ],
)
def test_a_package_is_added_and_the_rest_stays(before: str, after: str) -> None:
    edited = with_allowed(before, ["mine"])
    assert edited == after
    assert "mine" in allowed_in(edited)
    assert with_allowed(edited, ["mine"]) == edited


@pytest.mark.parametrize(
    "text",
    ['[tool]\ngradcheck.allow = ["a"]\n', '[tool.gradcheck]\nallow = [ # why\n"a"]\n'],
)
def test_what_is_written_another_way_is_left_to_its_author(text: str) -> None:
    with pytest.raises(NotEditableError):
        with_allowed(text, ["mine"])
