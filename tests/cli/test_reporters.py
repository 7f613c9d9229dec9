from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import pytest

from gradcheck.cli.outputs import Destination
from gradcheck.cli.reporters import Reporters
from gradcheck.errors import UsageError
from gradcheck.model import Plan, Result, Summary, Verdict
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from pathlib import Path

PLAN = Plan(cases=(make_case("a"),), problems=(), environment={})
SUMMARY = Summary(total=1, verdicts={Verdict.PASS: 1}, failed=0, known=0, problems=0, seconds=1.0)


class Scribe:
    """A reporter that writes what it hears; the one called `deaf` has lost its reader."""

    def __init__(self, name: str, stream: TextIO, **_: object) -> None:
        self.name, self.stream = name, stream

    def start(self, plan: Plan) -> None:
        self.stream.write(f"start {len(plan.cases)}\n")

    def result(self, result: Result) -> None:
        if self.name == "deaf":
            raise BrokenPipeError
        self.stream.write(f"{result.id}\n")

    def finish(self, summary: Summary) -> None:
        self.stream.write(f"finish {summary.total}\n")


@pytest.fixture(autouse=True)
def _scribes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradcheck.cli.reporters.make_reporter", Scribe)


def tell(*destinations: Destination) -> None:
    with Reporters(destinations, verbose=False, durations=None) as reporters:
        reporters.start(PLAN)
        reporters.result(Result("a", Verdict.PASS))
        reporters.finish(SUMMARY)


def test_everyone_hears_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell(Destination("screen"), Destination("file", tmp_path / "r"))
    assert capsys.readouterr().out == (tmp_path / "r").read_text() == "start 1\na\nfinish 1\n"


def test_who_has_gone_does_not_spoil_it_for_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(Destination("deaf"), Destination("file", tmp_path / "r"))
    assert (tmp_path / "r").read_text() == "start 1\na\nfinish 1\n"
    assert capsys.readouterr().out == "start 1\n"


def test_when_nobody_listens_the_run_ends() -> None:
    with pytest.raises(BrokenPipeError):
        tell(Destination("deaf"))


def test_one_bad_output_leaves_no_trace_of_the_others(tmp_path: Path) -> None:
    good, bad = Destination("f", tmp_path / "r"), Destination("f", tmp_path / "absent" / "r")
    with pytest.raises(UsageError):
        tell(Destination("screen"), good, bad)
    assert list(tmp_path.iterdir()) == []
