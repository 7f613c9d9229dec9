"""What the keys of the settings take, and where in a file they are found."""

from __future__ import annotations

import tomllib

import pytest

from gradcheck.spec.setting_keys import KEYS, line_of


@pytest.mark.parametrize("key", KEYS)
def test_the_example_of_a_key_is_right(key: str) -> None:
    value = tomllib.loads(f"{key} = {KEYS[key].example}")[key]
    assert KEYS[key].good(value)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [True, 0.5j, None, [""], {"json": 3}, float("nan"), -1])
def test_what_is_of_another_kind_is_refused(key: str, value: object) -> None:
    assert not KEYS[key].good(value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.gradcheck]\njobs = 2\n", 2),
        ("[other]\njobs = 1\n[ tool . gradcheck ]\n\n  'jobs'=2\n", 5),
        ("[tool.gradcheck]\nallow = [\n  'a',\n  'b',\n]\njobs = 2\n", 6),
        ("[tool.gradcheck.jobs]\nx = 1\n", 1),
        ("[tool]\ngradcheck.jobs = 2\n", 2),
        ("tool.gradcheck.jobs = 2\n", 1),
        ("[tool.other]\njobs = 2\n", None),
        ("tool = {gradcheck = {jobs = 2}}\n", None),
    ],
)
def test_the_line_of_a_key(text: str, line: int | None) -> None:
    assert line_of(text, "jobs") == line
