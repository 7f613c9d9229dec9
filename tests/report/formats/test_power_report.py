"""The three layouts of one measurement; what the command prints is in tests/cli/test_power.py."""

from __future__ import annotations

import io
import json

from gradcheck.model import Result, Verdict
from gradcheck.model.planted import Fate, Planted, Power
from gradcheck.report.formats.power_report import document, plain, print_table
from gradcheck.report.formats.table import open_console
from gradcheck.report.power_totals import PowerOutcome
from tests.report import examples

POWER = Power(
    "a.yaml::x[float32]",
    Verdict.PASS,
    planted=(
        Planted("x", "sign", "is negated", Fate.CAUGHT, Verdict.MISMATCH),
        Planted("x", "shift", "is shifted", Fate.SURVIVED, reason="all elements are the same"),
    ),
)
BROKEN = Result("b.yaml::y", Verdict.ERROR, message="it raised")
OUTCOME = PowerOutcome((POWER, BROKEN), (examples.PROBLEM,), 2.0)


def table() -> str:
    stream = io.StringIO()
    print_table(open_console(stream, color=False, width=100), OUTCOME)
    return stream.getvalue()


def test_lines_and_table_tell_the_same() -> None:
    for text in (plain(OUTCOME), table()):
        assert "x[float32]" in text
        assert "50.0 %" in text
        assert "1 survivor" in text
        assert "all elements are the same" in text
        assert "b.yaml::y: error. it raised" in text
        assert "1 spec problem" in text
        assert text.rstrip().endswith("in 2.00 s")


def test_the_object_has_every_fault() -> None:
    data = json.loads(document(OUTCOME, {"tensorflow": "2.0"}))
    assert data["environment"] == {"tensorflow": "2.0"}
    assert [result["id"] for result in data["results"]] == [POWER.id, BROKEN.id]
    assert [fault["fate"] for fault in data["results"][0]["planted"]] == ["caught", "survived"]
    assert data["results"][1]["planted"] == []
    summary = data["summary"]
    assert (summary["score"], summary["cases"], summary["measured"]) == (50.0, 2, 1)
