"""The processes of a machine, given cases and asked for results; without Dask."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.model import Result, Verdict
from gradcheck.run import shut_down
from gradcheck.run.dask import machine_pool
from gradcheck.run.dask.machine_pool import MachinePool
from gradcheck.run.dask.messages import RemoteJob, Reply, Request
from tests.run.fakes import make_case, perform

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module", autouse=True)
def _no_process_left() -> Iterator[None]:
    yield
    shut_down()


def make_job(**changes: Any) -> RemoteJob:
    fields: dict[str, Any] = {
        "token": "t",
        "allow": (),
        "root": ".",
        "folder": "",
        "timeout": 60.0,
        "memory_limit": None,
        "fair_share": False,
        "check": perform,
        "preload": ("gradcheck.run.workers.worker",),
    }
    return RemoteJob(**{**fields, **changes})


@pytest.fixture
def pool() -> Iterator[MachinePool]:
    pool = MachinePool(make_job())
    yield pool
    pool.end()
    assert pool.wait(60)


def ask(pool: MachinePool, *names: str, processes: int = 2, give_back: int = 0) -> Reply:
    return pool.exchange(Request(processes, tuple(make_case(n) for n in names), give_back))


def until(pool: MachinePool, count: int, *names: str, processes: int = 2) -> list[Result]:
    deadline = time.monotonic() + 60
    results = list(ask(pool, *names, processes=processes).results)
    while len(results) < count and time.monotonic() < deadline:
        results += ask(pool, processes=processes).results
    return results


def test_cases_come_and_results_go_while_others_run(pool: MachinePool) -> None:
    first = until(pool, 1, "hang", "pass-1")
    assert [r.id for r in first] == ["specs/a.yaml::pass-1"]
    assert first[0].case is None  # whoever asks has it
    # The one that hangs has a process of its own: what comes later is not behind it.
    more = until(pool, 2, "pass-2", "mismatch-3")
    assert [(r.id.partition("::")[2], r.verdict) for r in more] == [
        ("pass-2", Verdict.PASS),
        ("mismatch-3", Verdict.MISMATCH),
    ]


def test_an_answer_comes_soon_though_nothing_has_come(pool: MachinePool) -> None:
    until(pool, 1, "pass", "hang")
    replies = [ask(pool) for _ in range(2)]
    assert [reply.results for reply in replies] == [(), ()]
    assert len({reply.pool for reply in replies}) == 1


def test_many_results_come_in_one_answer(pool: MachinePool) -> None:
    until(pool, 1, "pass")
    replies = [ask(pool, *(f"pass-{n}" for n in range(200)))]
    while sum(len(reply.results) for reply in replies) < 200:
        replies.append(ask(pool))
    assert len(replies) < 50


def test_what_is_not_begun_is_given_back(pool: MachinePool) -> None:
    until(pool, 1, "pass", "hang-1", processes=2)
    ask(pool, "hang-2", "hang-3", "hang-4")
    reply = ask(pool, give_back=1)
    assert reply.returned == ("specs/a.yaml::hang-4",)
    assert ask(pool, give_back=5).returned == ("specs/a.yaml::hang-3",)
    assert ask(pool, give_back=5).returned == ()


def test_it_grows_with_its_machine(pool: MachinePool) -> None:
    ask(pool, "hang-1", "hang-2", processes=1)
    assert [r.verdict for r in until(pool, 1, "pass", processes=3)] == [Verdict.PASS]


def test_it_ends_at_once_whatever_it_does() -> None:
    ended: list[bool] = []
    pool = MachinePool(make_job(), lambda: ended.append(True))
    until(pool, 1, "pass", "hang")
    pool.end()
    assert pool.wait(60)
    assert ended == [True]
    assert pool.over
    assert not pool.failed


def test_a_pool_that_nobody_asks_any_more_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_pool, "ABANDONED_SECONDS", 0.3)
    pool = MachinePool(make_job())
    until(pool, 1, "pass", "hang")
    assert pool.wait(60)


def test_what_keeps_it_from_running_anything_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ends_at_once.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(tmp_path)
    pool = MachinePool(make_job(preload=("ends_at_once",)))
    deadline = time.monotonic() + 60
    while not (reply := ask(pool, "pass")).failed and time.monotonic() < deadline:
        pass
    assert reply.failed
    assert pool.wait(60)
    assert pool.failed
    assert ask(pool).failed == reply.failed


def test_cases_run_in_the_folder_of_the_command(tmp_path: Path) -> None:
    pool = MachinePool(make_job(folder=str(tmp_path)))
    try:
        [result] = until(pool, 1, "folder")
        assert result.message == str(tmp_path)
    finally:
        pool.end()
        assert pool.wait(60)
