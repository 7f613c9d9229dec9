from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradcheck.cache import History, Store
from gradcheck.model import Case, Location, Result, Target, TargetKind, Verdict
from tests.run.fakes import make_case

ROOT = Path(__file__).parents[2]
MACHINE = {"tensorflow": "2.21"}
CASES = [make_case(name) for name in ("a", "b", "c", "d")]


class Project:
    """A folder in which runs leave things, and what they said about it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.said: list[str] = []

    @property
    def folder(self) -> Path:
        return self.root / ".gradcheck"

    def store(self, **options: Any) -> Store:
        return Store(self.root, warn=self.said.append, **options)

    @property
    def history(self) -> History:
        store = self.store()
        store.close()
        return store.history

    @property
    def failed(self) -> list[Case]:
        return [case for case in CASES if self.history.failed(case.id)]

    def run(self, *results: Result, timed: bool = True) -> None:
        store = self.store()
        store.begin(MACHINE, timed=timed)
        for result in results:
            store.add(result)
        store.close()

    def resumed(self, environment: dict[str, str] | None = None, **options: Any) -> list[str]:
        store = self.store(**options)
        results = store.resume(CASES, environment or MACHINE)
        store.close()
        return [result.id.partition("::")[2] for result in results]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def result(number: int, verdict: Verdict = Verdict.PASS, seconds: float = 0.25) -> Result:
    return Result(CASES[number].id, verdict, seconds=seconds, case=CASES[number])


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
        found = store.resume(cases, MACHINE)
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


def test_nothing_to_resume_is_said(project: Project) -> None:
    assert project.resumed() == []
    assert project.said == ["there is no run to resume: all cases run"]


def test_a_torn_line_costs_its_own_result_and_nothing_is_said(project: Project) -> None:
    project.run(result(0), result(1))
    journal = project.folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])
    store = project.store()
    assert [r.id for r in store.resume(CASES, MACHINE)] == [CASES[0].id]
    store.add(result(3))
    store.close()
    assert project.resumed() == ["a", "d"]
    assert project.said == []


@pytest.mark.parametrize(
    "damage",
    [
        b"\x00\xff\xfe not text\n",
        b"[]\n",
        b"{}\n",
        b"null\n",
        b'{"gradcheck_journal": 99, "timed": true, "environment": {}}\n',
        b'{"gradcheck_journal": 1, "timed": true, "environment": []}\n',
        b"\n\n\n",
        b"[" * 100_000 + b"\n",
    ],
    ids=range(8),
)
def test_a_foreign_journal_is_one_sentence(project: Project, damage: bytes) -> None:
    project.folder.mkdir()
    (project.folder / "journal.jsonl").write_bytes(damage)
    project.run(result(0))
    assert len(project.said) == 1
    assert "journal.jsonl is ignored" in project.said[0]
    assert project.resumed() == ["a"]


def test_damage_in_the_middle_costs_its_lines_and_is_one_sentence(project: Project) -> None:
    project.run(*(result(number) for number in range(4)))
    path = project.folder / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2], lines[3] = b"\x00\x01\n", b'{"key": "x", "result": {"id": 3}}\n'
    path.write_bytes(b"".join(lines))
    assert project.resumed() == ["a", "d"]
    (said,) = project.said
    assert "2 damaged lines ignored" in said


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        '{"gradcheck_history": 2, "cases": {}}',
        '{"gradcheck_history": 1, "cases": {"a": {"seconds": "x", "failed": true}}}',
        '{"gradcheck_history": 1, "cases": {"a": {"seconds": NaN, "failed": true}}}',
        '{"gradcheck_history": 1, "cases": {"a": {"seconds": 1}}}',
    ],
)
def test_a_foreign_history_is_one_sentence(project: Project, damage: str) -> None:
    project.folder.mkdir()
    (project.folder / "history.json").write_text(damage)
    project.run(result(0, Verdict.MISMATCH))
    assert len(project.said) == 1
    assert "history.json is ignored" in project.said[0]
    assert project.history.failed(CASES[0].id)


def test_failures_and_times_are_remembered(project: Project) -> None:
    project.run(result(0, Verdict.MISMATCH, 3.0), result(1, seconds=2.0), result(2))
    project.run(result(1, Verdict.SKIPPED), result(2, Verdict.TIMEOUT, 60.0))
    store = project.store()
    assert store.failed(CASES) == [CASES[0], CASES[2]]
    assert [store.history.seconds(case.id) for case in CASES] == [3.0, 2.0, 60.0, None]


def test_the_slowest_come_first_and_quick_ones_keep_their_order(project: Project) -> None:
    project.run(result(0, seconds=0.1), result(1, Verdict.MISMATCH, 0.3), result(3, seconds=9.0))
    store = project.store()
    a, b, c, d = CASES
    assert store.order(CASES) == [d, a, b, c]
    assert store.order(CASES, failed_first=True) == [b, d, a, c]


def test_shards_leave_no_times_behind(project: Project) -> None:
    project.run(result(0, seconds=3.0))
    project.run(result(0, Verdict.MISMATCH, 7.0), result(1), timed=False)
    history = project.history
    assert (history.seconds(CASES[0].id), history.failed(CASES[0].id)) == (3.0, True)
    assert history.seconds(CASES[1].id) is None


def test_a_killed_run_is_remembered(project: Project) -> None:
    script = (
        "import os, signal\n"
        "from tests.cache.test_store import *\n"
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


def test_a_journal_that_is_a_device_is_not_read(project: Project) -> None:
    project.folder.mkdir()
    (project.folder / "journal.jsonl").symlink_to("/dev/zero")
    project.run(result(0))
    assert "cannot be used" in project.said[0]


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


def test_facts_are_found_again(project: Project) -> None:
    store = project.store()
    store.begin(MACHINE)
    store.add_facts({"device": "CPU:1"})
    store.close()
    store = project.store()
    store.resume(CASES, MACHINE)
    assert store.facts == {"device": "CPU:1"}
    store.begin(MACHINE)
    assert store.facts == {}
