from __future__ import annotations

import json

from gradcheck.report.formats.problem_report import Validated, document, github, plain
from tests.report import examples, hostile
from tests.report.schema_checks import valid

FOUND = Validated(2, 1, (examples.PROBLEM,))


def test_lines() -> None:
    assert plain(FOUND) == f"{examples.PROBLEM}\n\n2 files, 1 case, 1 problem\n"
    assert plain(Validated(1, 3, ())) == "1 file, 3 cases, 0 problems\n"


def test_annotations() -> None:
    assert github(FOUND) == (
        "::error file=specs/broken.yaml,line=4,col=7,title=gradcheck%3A spec problem::"
        "unknown key 'shpae'%0Adid you mean 'shape'?\n"
        "::notice title=gradcheck::2 files, 1 case, 1 problem\n"
    )
    many = github(Validated(1, 0, (examples.PROBLEM,) * 12)).splitlines()
    assert sum(line.startswith("::error ") for line in many) == 10
    assert "::group::2 more errors: GitHub shows 10 of a step" in many


def test_json() -> None:
    told = valid("problems", document(FOUND))
    assert told["problems"][0]["hint"] == "did you mean 'shape'?"
    assert (told["version"], told["files"], told["cases"]) == (1, 2, 1)


def test_hostile_problems() -> None:
    found = Validated(0, 0, hostile.problems())
    valid("problems", document(found))
    assert "\x1b" not in plain(found)
    lines = github(found).splitlines()
    assert all(line.startswith(("::error ", "::notice ")) for line in lines[:10])
    assert json.loads(document(found))["problems"][0]["message"] == hostile.TEXTS[0]
