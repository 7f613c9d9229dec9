"""Cases on a real Dask cluster of several worker processes."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.errors import UsageError
from gradcheck.model import Case, Result, Verdict
from gradcheck.run import Cluster, run, shut_down
from gradcheck.run.dask import cluster as cluster_module
from tests.run.fakes import make_case, perform
from tests.run.processes import descendants, gone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")  # Dask has its own, when workers are killed

LIGHT = ("gradcheck.run.workers.worker",)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with distributed.LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    ) as local:
        yield local.scheduler_address
    shut_down()


@pytest.fixture
def cluster(address: str) -> Iterator[Cluster]:
    with Cluster(address, preload=LIGHT) as cluster:
        yield cluster


def options(**changes: Any) -> dict[str, Any]:
    return {"allow": (), "root": ".", "check": perform, **changes}


def told(results: list[Result]) -> list[tuple[str, Verdict, str]]:
    return sorted((r.id, r.verdict, r.message) for r in results)


def dask_workers(cluster: Cluster) -> list[int]:
    return list(cluster._client.run(os.getpid).values())


def test_the_same_results_as_on_this_machine(cluster: Cluster) -> None:
    names = ["pass-1", "mismatch-2", "raise", "exit-3", "vanish-7", "kill", "chatter", "echo"]
    cases = [make_case(name) for name in names]
    here = list(run(cases, jobs=2, preload=LIGHT, **options()))
    there = list(cluster.run(cases, **options()))
    assert told(there) == told(here)
    by_id: dict[str, Case] = {case.id: case for case in cases}
    assert all(result.case is by_id[result.id] for result in there)


def test_faults_cost_their_case_and_no_dask_worker(cluster: Cluster) -> None:
    before = sorted(dask_workers(cluster))
    cases = [make_case("abort"), make_case("eat"), make_case("hang", timeout=0.5)]
    results = cluster.run(cases, **options(memory_limit=300 * 2**20))
    verdicts = {r.id.partition("::")[2]: (r.verdict, r.message) for r in results}
    assert verdicts["abort"][0] == Verdict.CRASHED
    assert "the planted reason" in verdicts["abort"][1]
    assert "over the limit of 300 MiB" in verdicts["eat"][1]
    assert verdicts["hang"][0] == Verdict.TIMEOUT
    assert sorted(dask_workers(cluster)) == before


def test_a_dask_worker_killed_in_the_middle_loses_no_case_and_doubles_none(
    cluster: Cluster, tmp_path: Path
) -> None:
    cases = [make_case(f"mark-{number}") for number in range(90)]
    results: list[Result] = []
    killed = 0
    for result in cluster.run(cases, **options(root=str(tmp_path))):
        results.append(result)
        if len(results) == 10:
            killed = int(next(tmp_path.glob("*.by")).read_text())  # one that has had its share
            assert killed in dask_workers(cluster)
            os.kill(killed, signal.SIGKILL)
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    assert {r.verdict for r in results} == {Verdict.PASS}
    ran_on = {path.read_text() for path in tmp_path.glob("*.by")}
    assert {str(killed)} < ran_on
    assert gone(killed)


def test_stopping_early_ends_what_runs_and_skips_the_rest(cluster: Cluster, tmp_path: Path) -> None:
    cases = [make_case("mismatch"), make_case("hang-1"), make_case("hang-2"), make_case("hang-3")]
    results = list(cluster.run(cases, **options(maxfail=1, timeout=3600.0)))
    assert [r.verdict for r in results] == [Verdict.MISMATCH] + [Verdict.SKIPPED] * 3
    _nothing_runs(cluster)


def test_a_run_that_is_given_up_leaves_no_process(cluster: Cluster) -> None:
    cases = [make_case("pass"), make_case("hang-1"), make_case("hang-2")]
    stream = cluster.run(cases, **options(timeout=3600.0))
    assert next(stream).verdict == Verdict.PASS
    stream.close()
    _nothing_runs(cluster)
    assert [r.verdict for r in cluster.run([make_case("pass")], **options())] == [Verdict.PASS]


def _nothing_runs(cluster: Cluster) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        servers = [
            pid
            for worker in dask_workers(cluster)
            for pid, text in descendants(worker)
            if "forkserver" in text
        ]
        below = [child for pid in servers for child, _ in descendants(pid)]
        if not below:
            return
        time.sleep(0.05)
    raise AssertionError(f"still running: {below}")


def test_a_cluster_that_is_left_has_nothing_of_ours(address: str) -> None:
    with Cluster(address, preload=LIGHT) as cluster:
        workers = dask_workers(cluster)
        assert any("forkserver" in text for pid in workers for _, text in descendants(pid))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not any("forkserver" in text for pid in workers for _, text in descendants(pid)):
            return
        time.sleep(0.05)
    raise AssertionError([descendants(pid) for pid in workers])


def test_what_the_workers_are_is_told_once(cluster: Cluster) -> None:
    told = cluster.describe()
    assert "|" not in told["tensorflow"]
    assert {"gradcheck", "numpy", "python", "platform"} <= told.keys()


def test_no_scheduler_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "SCHEDULER_SECONDS", 0.5)
    with pytest.raises(UsageError, match="no Dask scheduler answers at"):
        Cluster("tcp://127.0.0.1:1")


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 64, b""])
def test_something_else_answers_there(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    monkeypatch.setattr(cluster_module, "SCHEDULER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def talk() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.sendall(answer)

        threading.Thread(target=talk, daemon=True).start()
        with pytest.raises(UsageError, match="no Dask scheduler answers at"):
            Cluster(f"tcp://127.0.0.1:{port}")


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'gradcheck\[dask\]'"):
        Cluster("tcp://127.0.0.1:1")


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "WORKER_SECONDS", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(UsageError, match="has no workers"),
    ):
        Cluster(empty.scheduler_address)
