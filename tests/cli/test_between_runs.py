"""What one run leaves for the next, as the command shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.run.dask.cluster import ClusterLostError
from tests.cli.conftest import PROBLEM, Gradcheck, Stage

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from syrupy.assertion import SnapshotAssertion

    from gradcheck.model import Case, Result


def ids(text: str) -> list[str]:
    return [r["id"].partition("::")[2] for r in json.loads(text)["results"]]


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
    assert ids(report.out) == ["mismatch-2", "error-3"]


def test_lf_when_nothing_failed_runs_all_and_says_so(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "pass-2")
    gradcheck("run")
    said = gradcheck("run", "--lf", "--format", "json")
    assert ids(said.out) == ["pass-1", "pass-2"]
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
    assert ids(report.out) == ["pass-1", "mismatch-2", "pass-3"]


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


def sharded(gradcheck: Gradcheck, count: int) -> list[str]:
    files = [f"s{index}.json" for index in range(1, count + 1)]
    for index, file in enumerate(files, 1):
        gradcheck("run", "--shard", f"{index}/{count}", "--format", "json", "--output", file)
    return files


def without_seconds(data: Any) -> Any:
    if isinstance(data, dict):
        return {k: without_seconds(v) for k, v in data.items() if k != "seconds"}
    return [without_seconds(item) for item in data] if isinstance(data, list) else data


def test_shards_merged_are_the_whole_run(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add(*(f"pass-{n}" for n in range(7)), "mismatch-8", "kink-9")
    stage.problems.append(PROBLEM)
    stage.seconds |= {"pass-3": 9.0, "pass-5": 4.0}
    whole = gradcheck("run", "--format", "json")
    files = sharded(gradcheck, 3)
    sizes = [len(json.loads(Path(file).read_text())["results"]) for file in files]
    assert sum(sizes) == 9
    assert sizes[0] == 1  # the slow one has a shard of its own
    merged = gradcheck("merge", *files)
    assert (merged.code, merged.err) == (whole.code, "")
    assert without_seconds(json.loads(merged.out)) == without_seconds(json.loads(whole.out))


def test_merge_leaves_the_times_for_the_next_cut(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add(*(f"pass-{n}" for n in range(6)))
    stage.seconds["pass-3"] = 9.0
    files = sharded(gradcheck, 2)
    assert len(json.loads(Path(files[0]).read_text())["results"]) == 3
    gradcheck("merge", *files, "--output", "whole.json")
    sharded(gradcheck, 2)
    sizes = [len(json.loads(Path(file).read_text())["results"]) for file in files]
    assert sorted(sizes) == [1, 5]


def test_merge_into_other_formats(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2")
    files = sharded(gradcheck, 2)
    said = gradcheck("merge", *files, "--format", "plain", "--junitxml", "r.xml")
    assert said.code == 1
    assert "2 cases: 1 pass, 1 mismatch" in said.out
    assert 'failures="1"' in Path("r.xml").read_text()
    said = gradcheck("merge", *files, "--output", "whole.json")
    assert (said.code, said.out) == (1, "")
    assert ids(Path("whole.json").read_text()) == ["pass-1", "mismatch-2"]


@pytest.mark.parametrize(
    "files",
    [("s1.json",), ("s1.json", "s1.json"), ("absent.json",), ("specs",), ("s1.json", "other.json")],
    ids=" ".join,
)
def test_what_cannot_be_merged_is_said(
    stage: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion, files: tuple[str, ...]
) -> None:
    stage.add("pass-1", "pass-2")
    sharded(gradcheck, 2)
    Path("other.json").write_text("{}")
    said = gradcheck("merge", *files)
    assert (said.code, said.out) == (2, "")
    assert said.err == snapshot


def test_compare(stage: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion) -> None:
    stage.add("pass-1", "pass-2", "pass-3", "mismatch-4")
    gradcheck("run", "--format", "json", "--output", "old.json")
    assert (
        gradcheck("compare", "old.json", "old.json").out == "4 cases in both reports: no change\n"
    )
    text = Path("old.json").read_text().replace('"2.0"', '"2.1"').replace("pass-3", "pass-5")
    data = json.loads(text)
    data["results"][1].update(verdict="crashed", message="died of SIGABRT")
    data["results"][3].update(verdict="pass")
    Path("new.json").write_text(json.dumps(data))
    said = gradcheck("compare", "old.json", "new.json")
    assert said.code == 1
    assert said.out == snapshot
    assert gradcheck("compare", "old.json", "absent.json").code == 2


def test_an_empty_shard_is_nothing_selected(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    said = gradcheck("run", "--shard", "2/2")
    assert said.code == 5
    assert "shard 2/2 is empty" in said.err


class FakeCluster:
    """A Dask cluster that is somewhere else, and goes away when told so."""

    def __init__(self, stage: Stage, lost: bool) -> None:
        self.stage, self.lost = stage, lost

    def __call__(self, address: str) -> FakeCluster:
        self.stage.loaded["address"] = address
        return self

    def __enter__(self) -> FakeCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stage.loaded["left"] = True

    def describe(self) -> dict[str, str]:
        return {"tensorflow": "3.0"}

    def run(self, cases: Sequence[Case], **options: Any) -> Generator[Result, None, None]:
        yield from self.stage.run(cases[:1] if self.lost else cases, **options)
        if self.lost:
            raise ClusterLostError("the connection to the Dask cluster was lost")


@pytest.mark.parametrize("lost", [False, True])
def test_a_cluster_runs_the_cases(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    monkeypatch.setattr("gradcheck.run.Cluster", FakeCluster(stage, lost))
    stage.add("pass-1", "pass-2")
    said = gradcheck("run", "--dask", "tcp://there:1", "--format", "json")
    assert not stage.warmed_up
    assert (stage.loaded["address"], stage.loaded["left"]) == ("tcp://there:1", True)
    assert stage.ran["fair_share"]
    assert "jobs" not in stage.ran
    report = json.loads(said.out)
    assert report["environment"]["tensorflow"] == "3.0"
    assert len(report["results"]) == (1 if lost else 2)
    assert said.code == (3 if lost else 0)
    assert ("error: the connection to the Dask cluster was lost" in said.err) == lost
