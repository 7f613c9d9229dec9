"""Machines that come, go, fall silent or are not alike, while a run goes on."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from gradcheck.errors import UsageError
from gradcheck.model import Location, Result, Target, TargetKind, Verdict
from gradcheck.run import Cluster
from gradcheck.run.dask import conversation
from gradcheck.run.dask.conversation import ClusterLostError
from tests.run.dask.conftest import LIGHT
from tests.run.dask.test_cluster import options
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from pathlib import Path

    from tests.run.dask.clusters import DaskProcesses

pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("default"),  # Dask has its own, when workers are killed
    pytest.mark.skipif(
        not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
        reason="machines are told apart by their processors here",
    ),
]


def cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))[:2]


@pytest.fixture
def two_machines(processes: DaskProcesses) -> tuple[DaskProcesses, Any, Any]:
    """Two machines, as far as this program can tell, without anybody who starts them again."""
    first, second = (
        processes.add_worker("--no-nanny", "--nthreads", "1", cpu=cpu) for cpu in cpus()
    )
    processes.wait_for_workers(2)
    return processes, first, second


def finish(stream: Any) -> list[Result]:
    """All that comes; the limits of the conversation are short where this is used."""
    return list(stream)


def test_a_machine_that_is_lost_costs_nothing(
    two_machines: tuple[DaskProcesses, Any, Any], tmp_path: Path
) -> None:
    processes, first, second = two_machines
    cases = [make_case(f"mark-{number}") for number in range(80)]
    with Cluster(processes.address, preload=LIGHT) as cluster:
        stream = cluster.run(cases, **options(root=str(tmp_path)))
        results = [next(stream) for _ in range(30)]
        both = {path.read_text() for path in tmp_path.glob("*.by")}
        os.killpg(first.pid, signal.SIGKILL)
        results += finish(stream)
    assert both == {str(first.pid), str(second.pid)}
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    assert {r.verdict for r in results} == {Verdict.PASS}


def test_a_machine_that_falls_silent_gives_its_cases_to_others(
    two_machines: tuple[DaskProcesses, Any, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processes, first, _ = two_machines
    monkeypatch.setattr(conversation, "SILENT_SECONDS", 3.0)
    cases = [make_case(f"mark-{number}") for number in range(60)]
    notes: list[str] = []
    with Cluster(processes.address, preload=LIGHT) as cluster:
        stream = cluster.run(cases, **options(root=str(tmp_path), warn=notes.append))
        results = [next(stream) for _ in range(20)]
        os.kill(first.pid, signal.SIGSTOP)
        results += finish(stream)
        os.kill(first.pid, signal.SIGCONT)
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    assert {r.verdict for r in results} == {Verdict.PASS}
    [note] = notes
    assert note.endswith("has not answered for 3 s: its cases go to others")


def test_who_comes_later_gets_cases_too(processes: DaskProcesses, tmp_path: Path) -> None:
    processes.add_worker("--no-nanny", "--nthreads", "1", cpu=cpus()[0])
    with Cluster(processes.address, preload=LIGHT) as cluster:
        # Both hang until the third is there: it takes a second machine, and a third process.
        (tmp_path / "marks").mkdir()
        cases = [make_case(f"meet-{number}") for number in range(3)]
        stream = cluster.run(cases, **options(root=str(tmp_path / "marks"), timeout=3600.0))
        more = threading.Timer(
            0.5,
            lambda: processes.add_worker("--no-nanny", "--nthreads", "2", cpu=cpus()[1]),
        )
        more.start()
        assert [r.verdict for r in finish(stream)] == [Verdict.PASS] * 3


def test_who_comes_later_and_is_not_like_the_others_gets_none(
    processes: DaskProcesses, tmp_path: Path
) -> None:
    processes.add_worker("--no-nanny", "--nthreads", "1", cpu=cpus()[0])
    notes: list[str] = []
    with Cluster(processes.address, preload=LIGHT) as cluster:
        (tmp_path / "marks").mkdir()
        cases = [make_case("last-1"), make_case("pass-1")]

        def note(text: str) -> None:
            notes.append(text)
            (tmp_path / "marks" / "noted").touch()

        stream = cluster.run(
            cases, **options(root=str(tmp_path / "marks"), timeout=3600.0, warn=note)
        )
        one = ("--no-nanny", "--nthreads", "1")
        processes.add_worker(*one, cpu=cpus()[1], TF_ENABLE_ONEDNN_OPTS="0")
        assert [r.verdict for r in finish(stream)] == [Verdict.PASS] * 2
    [text] = notes
    assert text.startswith("the Dask worker tcp://")
    assert text.endswith("has TF_ENABLE_ONEDNN_OPTS 0, where others have unset; it gets no cases")


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_scheduler_that_is_lost_in_the_middle(
    processes: DaskProcesses, monkeypatch: pytest.MonkeyPatch, how: int
) -> None:
    processes.add_worker("--nthreads", "1", "--no-nanny")
    with Cluster(processes.address, preload=LIGHT) as cluster:
        cases = [make_case("pass"), make_case("hang")]
        stream = cluster.run(cases, **options(timeout=3600.0))
        assert next(stream).verdict == Verdict.PASS
        monkeypatch.setattr(conversation, "ANSWER_SECONDS", 1.0)
        monkeypatch.setattr("gradcheck.run.dask.cluster.LEAVE_SECONDS", 1.0)
        os.kill(processes.scheduler.pid, how)
        with pytest.raises(ClusterLostError, match=r"--resume runs what is missing"):
            next(stream)


def test_nobody_says_anything(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    async def say_nothing(self: object) -> None:
        del self

    monkeypatch.setattr(conversation.Conversation, "run", say_nothing)
    monkeypatch.setattr("gradcheck.run.dask.cluster.QUIET_SECONDS", 0.2)
    with pytest.raises(ClusterLostError, match=r"no Dask worker has answered for 0\.2 s"):
        next(cluster.run([make_case("pass")], **options()))


def test_all_workers_are_gone(processes: DaskProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "LONELY_SECONDS", 1.0)
    worker = processes.add_worker("--nthreads", "1", "--no-nanny")
    with Cluster(processes.address, preload=LIGHT) as cluster:
        stream = cluster.run([make_case("pass"), make_case("hang")], **options(timeout=3600.0))
        assert next(stream).verdict == Verdict.PASS
        os.killpg(worker.pid, signal.SIGKILL)
        with pytest.raises(ClusterLostError, match="all workers of the Dask cluster are gone"):
            next(stream)


def test_a_machine_that_can_run_nothing_says_why(
    two_machines: tuple[DaskProcesses, Any, Any], tmp_path: Path
) -> None:
    processes, first, second = two_machines
    notes: list[str] = []
    with Cluster(processes.address, preload=LIGHT) as cluster:
        for worker in (first, second):
            cluster._ask(_allow_no_start, workers=[_address(cluster, worker.pid)])
            if worker is first:
                cases = [make_case(f"mark-{number}") for number in range(10)]
                told = options(root=str(tmp_path), warn=notes.append)
                assert {r.verdict for r in cluster.run(cases, **told)} == {Verdict.PASS}
        with pytest.raises(ClusterLostError, match="planted: no worker process"):
            list(cluster.run([make_case("pass")], **options()))
    [note] = notes
    assert "gets no more cases: planted: no worker process" in note


def _address(cluster: Cluster, pid: int) -> str:
    numbers: dict[str, int] = cluster._ask(os.getpid)
    return next(address for address, number in numbers.items() if number == pid)


def _allow_no_start() -> None:
    from gradcheck.run.workers.pool import Pool
    from gradcheck.run.workers.worker_process import WorkersUnavailableError

    def start(self: Pool) -> NoReturn:
        raise WorkersUnavailableError("planted: no worker process")

    Pool._start = start  # type: ignore[method-assign]


def test_cases_that_are_large_come_a_few_at_a_time(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "MOST_BYTES", 50_000)
    cases = [make_case(f"pass-{number}", tags=("x" * 20_000,)) for number in range(12)]
    assert len(finish(cluster.run(cases, **options()))) == 12


def test_other_files_than_here_are_told_and_nothing_runs(
    processes: DaskProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for where in ("here", "there"):
        (tmp_path / where / "planted").mkdir(parents=True)
        (tmp_path / where / "planted/__init__.py").write_text("")
        (tmp_path / where / "planted/layers.py").write_text(f"WHERE = {where!r}\n")
    (tmp_path / "there/planted/more.py").write_text("")
    processes.add_worker("--no-nanny", PYTHONPATH=str(tmp_path / "there"))
    monkeypatch.syspath_prepend(str(tmp_path / "here"))
    place = Location("specs/a.yaml", 1, 1)
    target = Target(TargetKind.FUNCTION, "planted.layers:swish", place)
    with Cluster(processes.address, preload=LIGHT) as cluster:
        settings = options(allow=("planted",), root=str(tmp_path))
        with pytest.raises(UsageError) as told:
            list(cluster.run([make_case("pass-1", target=target)], **settings))
        # Cases that do not need it run all the same.
        assert len(list(cluster.run([make_case("pass-2")], **settings))) == 1
        # The same files anywhere are the same package.
        (tmp_path / "there/planted/more.py").unlink()
        (tmp_path / "there/planted/layers.py").write_text("WHERE = 'here'\n")
        assert len(list(cluster.run([make_case("pass-1", target=target)], **settings))) == 1
    assert str(told.value).startswith("the Dask worker tcp://")
    assert str(told.value).endswith(
        "has other files than here: planted/layers.py differs, planted/more.py is only there. "
        f"Bring the same there: they are looked for in {tmp_path}, and then among the installed "
        "packages"
    )
