from __future__ import annotations

import pytest

from gradcheck.model import Result, Verdict
from tests.report import examples
from tests.report.formats.tables import table


@pytest.mark.parametrize("width", [40, 72, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    text = table(examples.all_results(), width)
    body = text[: text.index(" failures ")]
    assert max(len(line) for line in body.split("\n")) <= max(width, 72)


def test_a_case_that_failed_as_a_whole_has_a_row_of_its_own() -> None:
    case = examples.case("a.yaml::x")
    result = Result("a.yaml::x", Verdict.ERROR, (examples.compared("x"),), "not twice", case=case)
    rows = [line.split() for line in table([result]).split("\n") if line.startswith("  x ")]
    assert rows[0][:2] == ["x", "–"]
    assert "error" in rows[0]
