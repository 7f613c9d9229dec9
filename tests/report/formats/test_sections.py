from __future__ import annotations

import re

from gradcheck.model import Element, Result, Verdict
from tests.report import examples
from tests.report.formats.tables import table


def test_elements_too_wide_for_the_screen_become_lists() -> None:
    text = table([examples.complex_mismatch()], 72)
    assert re.search(r"index +input value +analytic", text)
    wide = Element((0, 0), 1 / 3 + 1j / 7, 1 / 3 + 1j, 1 / 3 + 1.0000000001j, 1e-13, 1j)
    result = Result(
        "a.yaml::x",
        Verdict.MISMATCH,
        (examples.compared("z", Verdict.MISMATCH, worst=(wide,)),),
        case=examples.case("a.yaml::x"),
    )
    text = table([result], 80)
    assert re.search(r"\[0, 0\] +input value +0.333333\+0.142857j", text)
    assert re.search(r"^ +analytic +0.33333333333\d*\+1j$", text, re.MULTILINE)
