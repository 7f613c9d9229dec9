from __future__ import annotations

import fcntl
import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.cache import store as store_module
from gradcheck.model import Location, Result, Stage, Target, TargetKind, Verdict
from tests.cache.project import CASES, MACHINE, Project, result
from tests.run.fakes import make_case

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]


def test_what_a_run_had_done_is_found_again(project: Project) -> None:
    project.run(result(0), result(2, Verdict.MISMATCH))
    store = project.store()
    first, second = store.resume(CASES, MACHINE)
    assert (first.id, first.verdict, first.seconds) == (CASES[0].id, Verdict.PASS, 0.25)
    assert second.verdict == Verdict.MISMATCH
    assert second.case is CASES[2]
    store.add(result(1))
    store.close()
    assert project.resumed() == ["a", "b", "c"]
    assert project.said == []


def test_a_new_run_forgets_the_one_before(project: Project) -> None:
    project.run(result(0))
    project.run(result(1))
    assert project.resumed() == ["b"]


def test_what_was_not_run_is_still_missing(project: Project) -> None:
    project.run(result(0, Verdict.SKIPPED), result(1))
    assert project.resumed() == ["b"]


def test_a_case_that_was_edited_is_run_again(project: Project) -> None:
    edited = make_case("a", seed=1)
    project.run(Result(edited.id, Verdict.PASS, case=edited), result(1))
    assert project.resumed() == ["b"]


def test_the_users_code_when_it_was_edited_is_run_again(project: Project) -> None:
    function = Target(TargetKind.FUNCTION, "mypkg:f", Location("a.yaml", 1, 1))
    cases = [make_case("own", target=function), make_case("other")]
    (project.root / "mypkg.py").write_text("f = abs")

    def resumed() -> list[str]:
        store = project.store(allow=("mypkg",))
        found = list(store.resume(cases, MACHINE))
        store.close()
        return [r.id.partition("::")[2] for r in found]

    store = project.store(allow=("mypkg",))
    store.begin(MACHINE)
    for case in cases:
        store.add(Result(case.id, Verdict.PASS, case=case))
    store.close()
    assert resumed() == ["own", "other"]
    (project.root / "mypkg.py").write_text("f = round")
    assert resumed() == ["other"]


def test_another_tensorflow_begins_anew_and_says_so(project: Project) -> None:
    project.run(result(0))
    assert project.resumed({"tensorflow": "2.22"}) == []
    assert project.said == [
        "the last run cannot be resumed: it ran with tensorflow 2.21, and now it is 2.22; "
        "all cases run"
    ]


def test_what_a_budget_decided_is_found_again_within_the_same_limits(project: Project) -> None:
    store = project.store()
    store.begin(MACHINE, limits="10 s")
    store.add(replace(result(0, Verdict.INCONCLUSIVE), decided_by=Stage.BUDGET))
    store.add(result(1, Verdict.INCONCLUSIVE))
    store.close()
    for limits, names in (("10 s", ["a", "b"]), ("20 s", ["b"])):
        store = project.store()
        found = [r.case.name for r in store.resume(CASES, MACHINE, limits=limits) if r.case]
        store.close()
        assert found == names


def test_nothing_to_resume_is_said(project: Project) -> None:
    assert project.resumed() == []
    assert project.said == ["there is no run to resume: all cases run"]


def test_the_slowest_come_first_and_quick_ones_keep_their_order(project: Project) -> None:
    project.run(result(0, seconds=0.1), result(1, Verdict.MISMATCH, 0.3), result(3, seconds=9.0))
    store = project.store()
    a, b, c, d = CASES
    assert store.order(CASES) == [d, a, b, c]
    assert store.order(CASES, failed_first=True) == [b, d, a, c]


def test_a_killed_run_is_remembered(project: Project) -> None:
    script = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from tests.cache.project import *\n"
        f"store = Project(Path({str(project.root)!r})).store()\n"
        "store.begin(MACHINE)\n"
        "store.add(result(0))\n"
        "store.add(result(1, Verdict.MISMATCH))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    assert done.returncode == -9
    assert project.failed == [CASES[1]]
    assert project.resumed() == ["a", "b"]
    project.run()
    assert project.failed == [CASES[1]]  # now from the history


def test_two_runs_at_once_do_not_write_into_each_other(project: Project) -> None:
    first, second = project.store(), project.store()
    (said,) = project.said
    assert "another run is writing" in said
    for number, store in enumerate((first, second)):
        store.begin(MACHINE)
        store.add(result(number, Verdict.MISMATCH))
    second.close()
    first.close()
    assert project.resumed() == ["a"]
    assert project.failed == CASES[:2]


def test_a_run_that_is_stopped_while_it_writes_holds_nobody_up(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "LOCK_SECONDS", 0.1)
    project.run(result(0))
    other = os.open(project.folder, os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        project.run(result(1, Verdict.MISMATCH))
    finally:
        os.close(other)
    (said,) = project.said
    assert said == (
        f"{project.folder / 'history.json'} cannot be written: "
        "another run, perhaps a stopped one, has been at it for 0.1 s"
    )
    assert project.failed == [CASES[1]], "the journal has it"


def test_a_full_disk_is_one_sentence(project: Project) -> None:
    store = project.store()
    store.begin(MACHINE)
    store.add(result(0))
    size = (project.folder / "journal.jsonl").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # As near to a full disk as one comes without one: no file may grow beyond this.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, limits[1]))
    try:
        store.add(result(1))
        store.add(result(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    store.close()
    assert len(project.said) == 1
    assert "the run goes on without it" in project.said[0]
    assert project.history.seconds(CASES[2].id) == 0.25
    assert project.resumed() == ["a"]


def test_a_folder_that_is_a_file_is_a_sentence(project: Project) -> None:
    project.folder.write_text("mine")
    project.run(result(0))
    (said,) = project.said
    assert "cannot be used" in said
    assert project.folder.read_text() == "mine"


def test_nothing_of_it_gets_into_version_control(project: Project) -> None:
    project.run(result(0))
    assert (project.folder / ".gitignore").read_text().endswith("\n*\n")
    names = sorted(path.name for path in project.folder.iterdir())
    assert names == [".gitignore", "history.json", "journal.jsonl"]
    json.loads((project.folder / "history.json").read_text())


def test_shards_that_share_a_folder_have_a_journal_each(project: Project) -> None:
    stores = [project.store(shard=(index, 2)) for index in (1, 2)]
    for number, store in enumerate(stores):
        store.begin(MACHINE, timed=False)
        store.add(result(number))
    for store in stores:
        store.close()
    assert project.said == []
    assert project.resumed(shard=(1, 2)) == ["a"]
    assert project.resumed(shard=(2, 2)) == ["b"]
    assert project.resumed() == []
    assert project.said == ["there is no run to resume: all cases run"]
