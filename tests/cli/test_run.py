from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from gradcheck.model import Verdict
from gradcheck.run.dask.conversation import ClusterLostError
from gradcheck.spec.format.run_axes import RunAxes
from tests.cli.conftest import PROBLEM, Gradcheck, Stage

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from syrupy.assertion import SnapshotAssertion

    from gradcheck.model import Case, Result


def test_all_as_expected_is_0(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "kink-1")
    stage.add("mismatch-1", expect=Verdict.MISMATCH, reason="known")
    said = gradcheck("run", "specs")
    assert said.code == 0
    assert "specs/a.yaml::pass-1" in said.out
    assert stage.warmed_up


@pytest.mark.parametrize(
    "verdict", sorted(set(Verdict) - {Verdict.PASS, Verdict.KINK, Verdict.SKIPPED})
)
def test_a_failed_case_is_1(stage: Stage, gradcheck: Gradcheck, verdict: Verdict) -> None:
    stage.add("pass-1", f"{verdict}-1")
    assert gradcheck("run").code == 1


def test_a_known_bug_that_is_gone_is_1(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", expect=Verdict.MISMATCH, reason="known")
    assert gradcheck("run").code == 1


def test_a_bad_spec_is_2_and_the_good_cases_run(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-1")
    stage.problems.append(PROBLEM)
    said = gradcheck("run")
    assert said.code == 2
    assert "specs/a.yaml::pass-1" in said.out
    assert "specs/bad.yaml:3:12" in said.out + said.err


def test_nothing_to_run_is_5(stage: Stage, gradcheck: Gradcheck) -> None:
    said = gradcheck("run")
    assert said.code == 5
    assert "there are no cases" in said.err


def test_nothing_selected_is_5(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "pass-2")
    said = gradcheck("run", "-k", "absent")
    assert said.code == 5
    assert "'absent' matches none of the 2 cases" in said.err
    said = gradcheck("run", "--tags", "absent", "--tags", "neither")
    assert said.code == 5
    assert "--tags absent --tags neither matches none of the 2 cases" in said.err
    said = gradcheck("run", "-k", "pass", "--tags", "absent")
    assert "-k 'pass' with --tags absent matches none of the 2 cases" in said.err


def test_ctrl_c_is_130_and_what_there_is_is_reported(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    stage.interrupt = True
    said = gradcheck("run", "--format", "json", "--output", "r.json")
    assert said.code == 130
    assert "specs/a.yaml::pass-1" in said.out
    assert [r["id"] for r in json.loads(Path("r.json").read_text())["results"]] == [
        "specs/a.yaml::pass-1"
    ]


def test_whatever_ctrl_c_makes_a_module_raise_is_130(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("numpy.core.multiarray failed to import") from None

    monkeypatch.setattr("gradcheck.spec.load", stopped)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        said = gradcheck("run")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert (said.code, said.err) == (130, "interrupted\n")


def test_an_unexpected_exception_is_3_without_a_traceback(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("gradcheck.spec.load", broken)
    said = gradcheck("run")
    assert said.code == 3
    assert said.err == (
        "internal error: ZeroDivisionError: planted\nGRADCHECK_DEBUG=1 shows the traceback\n"
    )
    monkeypatch.setenv("GRADCHECK_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        gradcheck("run")


def test_options_reach_the_specs_and_the_workers(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    Path("pyproject.toml").write_text('[tool.gradcheck]\nallow = ["ours"]\n')
    gradcheck("run", "a.yaml", "b", "--seed", "7", "--allow", "theirs", "-j3", "--maxfail", "2",
              "--timeout", "1.5", "--memory-limit", "300M")  # fmt: skip
    assert stage.loaded == {
        "paths": ("a.yaml", "b"),
        "allow": ("ours", "theirs"),
        "seed": 7,
        "budget": None,
        "max_cases": 200_000,
        "axes": RunAxes(),
    }
    assert stage.ran == {
        "allow": ("ours", "theirs"),
        "root": str(Path.cwd()),
        "jobs": 3,
        "maxfail": 2,
        "timeout": 1.5,
        "memory_limit": 300 * 2**20,
        "facts": {},
    }
    gradcheck("run", "-x")
    assert stage.ran["maxfail"] == 1


def test_a_seed_is_told_in_the_report(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    report = json.loads(gradcheck("run", "--format", "json", "--seed", "7").out)
    assert report["environment"]["seed"] == "7"


def test_only_selected_cases_run(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-one", "mismatch-two")
    stage.add("pass-three", tags=("fast",))
    report = json.loads(gradcheck("run", "-k", "fast or one", "--format", "json").out)
    assert [r["id"].partition("::")[2] for r in report["results"]] == ["pass-one", "pass-three"]


def test_collect_only_lists_ids_and_starts_nothing(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-1")
    said = gradcheck("run", "--collect-only", "-k", "mismatch")
    assert (said.code, said.out) == (0, "specs/a.yaml::mismatch-1\n\n1 case\n")
    assert not stage.warmed_up
    assert not stage.ran


def test_collect_only_exit_codes(stage: Stage, gradcheck: Gradcheck) -> None:
    assert gradcheck("run", "--collect-only").code == 5
    stage.problems.append(PROBLEM)
    said = gradcheck("run", "--collect-only")
    assert said.code == 2
    assert "shpae" in said.err


def test_without_a_path_it_is_specs(stage: Stage, gradcheck: Gradcheck) -> None:
    gradcheck("run")
    assert stage.loaded["paths"] == ("specs",)


def test_several_reports_of_one_run(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-1")
    said = gradcheck("run", "--format", "plain", "--format", "json", "--format", "github",
                     "--output", "r.json", "--output", "r.txt", "--junitxml", "r.xml")  # fmt: skip
    assert said.code == 1
    assert "specs/a.yaml::mismatch-1" in said.out
    assert json.loads(Path("r.json").read_text())["summary"]["failed"] == 1
    assert "::error" in Path("r.txt").read_text()
    assert ElementTree.parse("r.xml").getroot().tag == "testsuites"  # noqa: S314  (our own)
    assert sorted(path.name for path in Path().iterdir()) == [
        ".gradcheck",
        "r.json",
        "r.txt",
        "r.xml",
        "specs",
    ]


def test_a_format_with_a_file_leaves_the_screen_to_the_usual_one(
    stage: Stage, gradcheck: Gradcheck
) -> None:
    stage.add("pass-1")
    said = gradcheck("run", "--format", "json", "--output", "r.json")
    assert "pass-1" in said.out
    assert not said.out.startswith("{")


def test_an_internal_error_leaves_the_old_report(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("r.json").write_text("old")
    stage.add("pass-1")

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("gradcheck.run.run", broken)
    assert gradcheck("run", "--format", "json", "--output", "r.json").code == 3
    assert Path("r.json").read_text() == "old"
    assert sorted(path.name for path in Path().iterdir()) == [".gradcheck", "r.json", "specs"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--format", "jsn"),
        ("--frmat", "json"),
        ("--output", "r.json"),
        ("--format", "json", "--format", "junit"),
        ("--format", "json", "--output", "nowhere/r.json"),
        ("--format", "json", "--output", "specs"),
        ("--format", "json", "--output", "r", "--junitxml", "./r"),
        ("-k", "matmul and or exp"),
        ("--maxfail", "0"),
        ("--timeout", "nan"),
        ("--timeout", "0"),
        ("--seed", "-1"),
        ("--jobs", "none"),
        ("--shard", "3/2"),
        ("--shard", "half"),
        ("--memory-limit", "much"),
        ("--watch", "--resume"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2_and_nothing_runs(
    stage: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion, arguments: tuple[str, ...]
) -> None:
    stage.add("pass-1")
    said = gradcheck("run", *arguments)
    assert said.code == 2
    assert said.out == ""
    assert not stage.ran
    assert said.err == snapshot


def test_no_path_and_no_specs_folder(
    stage: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion
) -> None:
    Path("specs").rmdir()
    said = gradcheck("run")
    assert said.code == 2
    assert said.err == snapshot


class FakeCluster:
    """A Dask cluster that is somewhere else, and goes away when told so."""

    def __init__(self, stage: Stage, lost: bool) -> None:
        self.stage, self.lost = stage, lost

    def __call__(self, address: str) -> FakeCluster:
        self.stage.connected["address"] = address
        return self

    def __enter__(self) -> FakeCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stage.connected["left"] = True

    def describe(self) -> dict[str, str]:
        return {"tensorflow": "3.0"}

    def run(self, cases: Sequence[Case], **options: Any) -> Generator[Result, None, None]:
        yield from self.stage.run(cases[:1] if self.lost else cases, **options)
        if self.lost:
            raise ClusterLostError("the connection to the Dask cluster was lost")


def test_what_is_set_here_and_not_on_the_cluster_is_told(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradcheck.run.Cluster", FakeCluster(stage, lost=False))
    flags = {"TF_ENABLE_ONEDNN_OPTS": "0", "tensorflow": "2.0"}
    monkeypatch.setattr("gradcheck.run.describe", lambda: flags)
    stage.add("pass-1")
    said = gradcheck("run", "--dask", "tcp://there:1", "--format", "json")
    assert said.err == (
        "note: TF_ENABLE_ONEDNN_OPTS is 0 here and unset on the Dask workers, where the cases run: "
        "set it there, before they are started\n"
    )
    assert json.loads(said.out)["environment"] == {"tensorflow": "3.0"}


@pytest.mark.parametrize("lost", [False, True])
def test_a_cluster_runs_the_cases(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    monkeypatch.setattr("gradcheck.run.Cluster", FakeCluster(stage, lost))
    stage.add("pass-1", "pass-2")
    stage.seconds["pass-1"] = 0.5
    gradcheck("run")
    stage.warmed_up = False
    said = gradcheck("run", "--dask", "tcp://there:1", "--format", "json")
    assert not stage.warmed_up
    assert (stage.connected["address"], stage.connected["left"]) == ("tcp://there:1", True)
    assert stage.ran["fair_share"]
    # Batches are made by what is known of earlier runs.
    assert stage.ran["seconds"]("specs/a.yaml::pass-1") == 0.5
    assert "jobs" not in stage.ran
    report = json.loads(said.out)
    assert report["environment"]["tensorflow"] == "3.0"
    assert len(report["results"]) == (1 if lost else 2)
    assert said.code == (3 if lost else 0)
    assert ("error: the connection to the Dask cluster was lost" in said.err) == lost


def test_annotations_share_the_screen(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2")
    stage.problems.append(PROBLEM)
    said = gradcheck("run", "--format", "plain", "--format", "github")
    assert said.code == 2
    lines = said.out.splitlines()
    # First what people read, with its totals, then what GitHub does.
    totals = next(n for n, line in enumerate(lines) if line.startswith("2 cases: "))
    kinds = [line.partition(" ")[0] for line in lines[totals + 1 :]]
    assert kinds == ["::error", "::error", "::notice"]
    assert not any(line.startswith("::") for line in lines[:totals])
