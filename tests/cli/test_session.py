"""What one run leaves for the next: in its folder, and in a process that stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import pytest

from gradcheck.cache import Store
from gradcheck.cli import watch  # here, before a test replaces what it imports
from gradcheck.cli.outputs import Destination
from gradcheck.cli.run_context import RunContext
from gradcheck.cli.run_request import RunRequest
from gradcheck.cli.session import execute
from gradcheck.model import Case, Plan, Result, Verdict
from tests.cli.conftest import Gradcheck, Stage, result_names
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


def test_what_workers_said_is_told_and_makes_no_other_run_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = RunRequest(destinations=(Destination("plain"),))
    context = RunContext(root=tmp_path, environment={"tensorflow": "2.0"})
    warnings: list[str] = []

    def run(cases: Sequence[Case]) -> Generator[Result, None, None]:
        context.facts["device"] = "CPU:1"
        for case in cases:
            yield Result(case.id, Verdict.PASS, case=case)

    for number in (1, 2):
        execute(
            request,
            context,
            Plan((make_case(f"pass-{number}"),), (), context.environment),
            Store(tmp_path, warn=warnings.append),
            run,
            header=number == 1,
            append=number == 2,
        )
    assert warnings == []
    first, second = capsys.readouterr().out.split("1 case: 1 pass", 1)
    assert first.startswith("tensorflow 2.0\n")
    assert first.endswith("\non 1 CPU\n\n")
    assert "tensorflow" not in second
    assert "CPU" not in second
    journal = (tmp_path / ".gradcheck" / "journal.jsonl").read_text()
    assert journal.count('"result"') == 2


def names(stage: Stage) -> list[str]:
    return [case.name for case in stage.began]


def test_resume_runs_what_is_missing_and_reports_everything(
    stage: Stage, gradcheck: Gradcheck
) -> None:
    stage.add("pass-1", "mismatch-2", "pass-3", "pass-4")
    whole = json.loads(gradcheck("run", "--format", "json").out)
    stage.stop_after = 2
    assert gradcheck("run").code == 130
    stage.stop_after = None
    said = gradcheck("run", "--resume", "--format", "json")
    assert names(stage) == ["pass-3", "pass-4"]
    assert said.err == "note: 2 of 4 results come from the run before\n"
    assert said.code == 1
    resumed = json.loads(said.out)
    resumed["summary"]["seconds"] = whole["summary"]["seconds"]
    assert resumed == whole


@pytest.mark.parametrize(
    ("change", "taken"),
    [
        ({"processors": "64", "platform": "Linux-5.4-x86_64-with-glibc2.36"}, 2),
        ({"instructions": "avx2 fma"}, 0),
    ],
    ids=["same", "other"],
)
def test_resume_on_another_machine_takes_over_what_would_be_the_same(
    stage: Stage,
    gradcheck: Gradcheck,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, str],
    taken: int,
) -> None:
    machine = {"processors": "2", "platform": "Linux-6.1-x86_64-with-glibc2.36", "numpy": "2.0"}
    monkeypatch.setattr("gradcheck.run.describe", lambda: machine)
    stage.add("pass-1", "pass-2", "pass-3")
    stage.stop_after = 2
    gradcheck("run")
    stage.stop_after = None
    monkeypatch.setattr("gradcheck.run.describe", lambda: machine | change)
    said = gradcheck("run", "--resume")
    assert len(stage.began) == 3 - taken
    assert ("cannot be resumed" in said.err) == (not taken)


def test_resume_tells_what_only_the_workers_know(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "pass-2", "pass-3")
    stage.facts = {"device": "GPU:1"}
    stage.stop_after = 1
    stopped = gradcheck("run").err
    assert stopped.splitlines() == [
        "note: the results so far are kept: the same command with --resume runs only the rest"
    ]
    stage.stop_after = None
    stage.facts = {"device": "CPU:1", "XLA": "off"}
    assert gradcheck("run", "--resume").err.splitlines() == [
        "note: 1 of 3 results come from the run before",
        "note: the results of the run before have device GPU:1, the new ones CPU:1",
    ]


@pytest.mark.parametrize(
    ("options", "again"),
    [
        ((), []),
        (("--timeout", "20"), ["timeout-2", "crashed-3"]),
        (("--memory-limit", "3G"), ["timeout-2", "crashed-3"]),
    ],
)
def test_resume_with_other_limits_runs_again_what_they_decided(
    stage: Stage, gradcheck: Gradcheck, options: tuple[str, ...], again: list[str]
) -> None:
    stage.add("pass-1", "timeout-2", "crashed-3", "mismatch-4")
    gradcheck("run", "--timeout", "10", "--memory-limit", "2G")
    limits = ("--timeout", "10", "--memory-limit", "2G", *options)
    gradcheck("run", "--resume", *limits)
    assert names(stage) == again
    gradcheck("run", "--resume", *limits)
    assert names(stage) == []


def test_resume_after_a_run_that_was_complete_runs_nothing(
    stage: Stage, gradcheck: Gradcheck
) -> None:
    stage.add("pass-1", "pass-2")
    gradcheck("run")
    assert gradcheck("run", "--resume").code == 0
    assert names(stage) == []


def test_lf_runs_what_failed(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2", "error-3")
    gradcheck("run")
    report = gradcheck("run", "--lf", "--format", "json")
    assert result_names(report.out) == ["mismatch-2", "error-3"]


def test_lf_when_nothing_failed_runs_all_and_says_so(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "pass-2")
    gradcheck("run")
    said = gradcheck("run", "--lf", "--format", "json")
    assert result_names(said.out) == ["pass-1", "pass-2"]
    assert "none of these cases failed" in said.err


def test_lf_can_be_listed(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2")
    gradcheck("run")
    assert gradcheck("run", "--lf", "--collect-only").out == "specs/a.yaml::mismatch-2\n\n1 case\n"


def test_ff_begins_with_what_failed_and_reports_in_the_specs_order(
    stage: Stage, gradcheck: Gradcheck
) -> None:
    stage.add("pass-1", "mismatch-2", "pass-3")
    gradcheck("run")
    report = gradcheck("run", "--ff", "--format", "json")
    assert names(stage) == ["mismatch-2", "pass-1", "pass-3"]
    assert result_names(report.out) == ["pass-1", "mismatch-2", "pass-3"]


class InterruptedPool:
    """Workers that are stopped by Ctrl-C as soon as they have their cases."""

    began: ClassVar[list[str]] = []

    def __init__(self, **_: object) -> None:
        self.began.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, cases: Sequence[Case], **_: object) -> Generator[Result, None, None]:
        self.began.extend(case.name for case in cases)
        yield from ()
        raise KeyboardInterrupt


def test_ff_begins_with_what_failed_when_files_are_watched(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.add("pass-1", "mismatch-2")
    gradcheck("run")
    lines = "".join(f"  - {{name: {n}, inputs: {{x: 1.0}}}}\n" for n in ("pass-1", "mismatch-2"))
    Path("specs/a.yaml").write_text(f"op: exp\ncases:\n{lines}")
    monkeypatch.setattr(watch, "Pool", InterruptedPool)
    assert gradcheck("run", "--watch", "--ff").code == 130
    assert InterruptedPool.began == ["mismatch-2", "pass-1"]


def test_the_slowest_begins(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "pass-2", "pass-3")
    stage.seconds["pass-3"] = 7.0
    gradcheck("run")
    gradcheck("run")
    assert names(stage) == ["pass-3", "pass-1", "pass-2"]


def test_a_damaged_cache_is_a_sentence(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    gradcheck("run")
    Path(".gradcheck/journal.jsonl").write_text("garbage\n")
    Path(".gradcheck/history.json").write_text("garbage\n")
    said = gradcheck("run")
    assert said.code == 0
    assert [line.startswith("note: ") for line in said.err.splitlines()] == [True, True]


def test_an_empty_shard_is_nothing_selected(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    said = gradcheck("run", "--shard", "2/2")
    assert said.code == 5
    assert "shard 2/2 is empty" in said.err
