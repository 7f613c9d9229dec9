"""What the pages tell of the suite in numbers is what the specs have."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from gradcheck.model import CheckKind, Mode
from gradcheck.model.versions import installed_version
from gradcheck.spec import load
from gradcheck.spec.format.run_axes import RunAxes
from tests.suite import SPECS, shipped

ROOT = SPECS.parent
CASES = r"([\d,]+) cases of every\s+declared op|([\d,]+) cases, which know"
WRONG = (
    r"know (\d+) in which TensorFlow\s+2.21 is wrong|(\d+) cases in which TensorFlow 2.21 is wrong"
)
FINDINGS = r"^(\d+) findings in TensorFlow 2.21"


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def told(page: str, pattern: str) -> int:
    """The number that a page tells; it has to be there."""
    found = re.search(pattern, text_of(page), re.MULTILINE)
    assert found is not None, (page, pattern)
    return int(next(filter(None, found.groups())).replace(",", ""))


@pytest.mark.parametrize("page", ["docs/suite.md", "CHANGELOG.md"])
def test_how_many_cases_there_are(page: str) -> None:
    assert told(page, CASES) == len(shipped())


def test_how_many_each_family_has() -> None:
    families = Counter(Path(case.path).parent.name for case in shipped())
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ([\d, ]+) \|", text_of("docs/suite.md"), re.M)
    listed = {
        name.strip("`"): int(count)
        for names, counts in rows
        for name, count in zip(names.split(", "), counts.split(", "), strict=True)
    }
    assert listed == dict(families)


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "docs/findings.md"])
def test_how_many_gradients_are_known_to_be_wrong(page: str) -> None:
    """Those that `gradcheck run specs/ --tags known_bug` runs, in the version of the pages."""
    if not (installed_version("tensorflow") or "").startswith("2.21."):
        pytest.skip("the pages tell of TensorFlow 2.21")
    known = [case for case in shipped() if "known_bug" in case.tags and case.expect is not None]
    assert told(page, FINDINGS if "findings" in page else WRONG) == len(known)


def test_how_many_cells_the_whole_matrix_has() -> None:
    one = RunAxes((Mode.EAGER,), (CheckKind.REVERSE,))
    cases = load([str(SPECS)], allow=["specs.guide"], axes=one).cases
    cells = len(cases) * len(Mode) * len(CheckKind)
    assert told("docs/suite.md", r"--check all +([\d,]+) cases") == cells
