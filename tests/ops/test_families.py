"""The shipped suite: by TensorFlow's families, with tags that can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from gradcheck.model import Case, Verdict
from tests.suite import shipped

FAMILIES = (
    "array", "control_flow", "image", "keras", "linalg", "math", "nn", "numpy", "quantization",
    "ragged", "random", "raw", "reduction", "rnn", "scatter", "segment", "signal", "sparse",
    "special",
)  # fmt: skip
"""The folders of specs/, besides the lessons."""

SMOKE = 150
"""The most cases of a selection that is to run within thirty seconds."""


@cache
def cases() -> dict[str, list[Case]]:
    """By family."""
    found: dict[str, list[Case]] = {}
    for case in shipped():
        found.setdefault(Path(case.path).parent.name, []).append(case)
    return found


def test_every_folder_is_a_family() -> None:
    assert sorted(cases()) == sorted([*FAMILIES, "guide"])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_case_has_the_tag_of_its_family(family: str) -> None:
    assert [case.id for case in cases()[family] if family not in case.tags] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_quick_selection_touches_every_family(family: str) -> None:
    quick = [case for case in cases()[family] if "smoke" in case.tags]
    assert quick
    assert all("slow" not in case.tags and "known_bug" not in case.tags for case in quick)


def test_the_quick_selection_is_small() -> None:
    assert sum("smoke" in case.tags for found in cases().values() for case in found) <= SMOKE


def test_known_bugs_say_what_is_wrong_and_have_their_tag() -> None:
    for family in FAMILIES:
        for case in cases()[family]:
            if Path(case.path).name == "known_bugs.yaml":
                assert "known_bug" in case.tags, case.id
            if "known_bug" in case.tags:
                # (None where the version that is installed has it right.)
                assert case.expect is None or case.reason, case.id


def test_whatever_is_wrong_has_its_reason() -> None:
    """A kink speaks for itself."""
    for family in FAMILIES:
        for case in cases()[family]:
            expected = case.expect or {}
            verdicts = set(expected.values()) if isinstance(expected, Mapping) else {expected}
            assert verdicts <= {Verdict.KINK, Verdict.PASS} or case.reason, case.id
