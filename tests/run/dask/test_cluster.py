"""Cases on a real Dask cluster of several worker processes."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.errors import UsageError
from gradcheck.model import Case, Result, Verdict
from gradcheck.run import Cluster, run
from gradcheck.run.dask import cluster as cluster_module
from gradcheck.run.dask.conversation import Told
from tests.run.dask.conftest import LIGHT
from tests.run.fakes import make_case, perform
from tests.run.processes import descendants, gone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.run.dask.clusters import DaskProcesses

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")  # Dask has its own, when workers are killed


def options(**changes: Any) -> dict[str, Any]:
    return {"allow": (), "root": ".", "check": perform, **changes}


def told(results: list[Result]) -> list[tuple[str, Verdict, str]]:
    return sorted((r.id, r.verdict, r.message) for r in results)


def dask_workers(cluster: Cluster) -> list[int]:
    return list(cluster._ask(os.getpid).values())


def servers(cluster: Cluster) -> list[int]:
    """The processes that hold TensorFlow, below all Dask workers."""
    below = [found for worker in dask_workers(cluster) for found in descendants(worker)]
    return sorted({pid for pid, text in below if "server_process" in text})


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


def test_a_machine_has_one_pool_with_a_process_for_each_thread(
    cluster: Cluster, tmp_path: Path
) -> None:
    # Each waits until all three are there: of fewer processes none would pass.
    (tmp_path / "marks").mkdir()
    cases = [make_case(f"meet-{number}", timeout=60.0) for number in range(3)]
    results = list(cluster.run(cases, **options(root=str(tmp_path / "marks"))))
    assert [r.verdict for r in results] == [Verdict.PASS] * 3
    assert len(dask_workers(cluster)) == 3
    assert len(servers(cluster)) <= 1


def test_one_dask_worker_of_many_threads_is_the_same(
    processes: DaskProcesses, tmp_path: Path
) -> None:
    processes.add_worker("--nworkers", "1", "--nthreads", "3")
    (tmp_path / "marks").mkdir()
    with Cluster(processes.address, preload=LIGHT) as cluster:
        cases = [make_case(f"meet-{number}", timeout=60.0) for number in range(3)]
        results = list(cluster.run(cases, **options(root=str(tmp_path / "marks"))))
    assert [r.verdict for r in results] == [Verdict.PASS] * 3


def test_nothing_to_run_is_done_at_once(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.0, "QUIET")
    assert list(cluster.run([], **options())) == []


def test_results_come_while_others_run(cluster: Cluster) -> None:
    cases = [make_case("hang"), *(make_case(f"pass-{number}") for number in range(20))]
    stream = cluster.run(cases, **options(timeout=3600.0))
    found = {next(stream).id for _ in range(20)}
    assert "specs/a.yaml::hang" not in found
    stream.close()


def test_a_dask_worker_killed_in_the_middle_loses_no_case_and_doubles_none(
    cluster: Cluster, tmp_path: Path
) -> None:
    cases = [make_case(f"mark-{number}") for number in range(90)]
    results: list[Result] = []
    killed = 0
    for result in cluster.run(cases, **options(root=str(tmp_path))):
        results.append(result)
        if len(results) == 10:
            # The one that speaks for the machine.
            killed = int((tmp_path / f"{result.id.partition('::')[2]}.by").read_text())
            assert killed in dask_workers(cluster)
            os.kill(killed, signal.SIGKILL)
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    assert {r.verdict for r in results} == {Verdict.PASS}
    ran_on = {path.read_text() for path in tmp_path.glob("*.by")}
    assert {str(killed)} < ran_on
    assert gone(killed)


def test_stopping_early_ends_what_runs_and_skips_the_rest(cluster: Cluster) -> None:
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
        below = [child for pid in servers(cluster) for child, _ in descendants(pid)]
        if not below:
            return
        time.sleep(0.05)
    raise AssertionError(f"still running: {below}")


def test_a_cluster_that_is_left_has_nothing_of_ours(three_workers: DaskProcesses) -> None:
    with Cluster(three_workers.address, preload=LIGHT) as cluster:
        workers = dask_workers(cluster)
        assert len(servers(cluster)) == 1
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not any("server_process" in text for pid in workers for _, text in descendants(pid)):
            return
        time.sleep(0.05)
    raise AssertionError([descendants(pid) for pid in workers])


def test_what_the_workers_are_is_told_once(cluster: Cluster) -> None:
    told = cluster.describe()
    assert "|" not in told["tensorflow"]
    assert {"gradcheck", "numpy", "python", "platform"} <= told.keys()


def test_what_machines_say_of_themselves_is_joined() -> None:
    facts = {"device": "GPU:1", "of an earlier run": "stays"}
    told = Told(facts={"device": "CPU:1", "XLA": "off"})
    for _ in range(2):
        cluster_module._join_facts(facts, told)
    assert facts == {"device": "CPU:1 | GPU:1", "of an earlier run": "stays", "XLA": "off"}


def test_what_cannot_be_sent_is_an_error_of_its_own(cluster: Cluster) -> None:
    stuck = make_case("pass-1", tags=(threading.Lock(),))
    results = list(cluster.run([stuck, make_case("pass-2")], **options()))
    assert {(r.id.partition("::")[2], r.verdict) for r in results} == {
        ("pass-1", Verdict.ERROR),
        ("pass-2", Verdict.PASS),
    }
    assert "cannot be sent to a worker process" in min(results, key=lambda r: r.id).message


def limit(monkeypatch: pytest.MonkeyPatch, seconds: float, *names: str) -> None:
    for name in names:
        monkeypatch.setattr(cluster_module, f"{name}_SECONDS", seconds)


def test_no_scheduler_there(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.5, "SCHEDULER")
    with pytest.raises(UsageError, match="no Dask scheduler answers at"):
        Cluster("tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 64, b""], ids=["HTTP", "junk", "none"]
)
def test_something_else_answers_there(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    limit(monkeypatch, 0.5, "SCHEDULER", "MARGIN")
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


@contextlib.contextmanager
def silent_listener() -> Iterator[str]:
    """Something that accepts every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"


def test_something_there_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.5, "SCHEDULER", "MARGIN")
    with (
        silent_listener() as address,
        pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp:.*: no answer within 1"),
    ):
        Cluster(address)


def test_a_connection_that_never_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.2, "SCHEDULER", "MARGIN")
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: threading.Event().wait())
    with pytest.raises(UsageError, match="no Dask scheduler answers at tcp://there:1"):
        Cluster("tcp://there:1")


def test_a_command_that_gave_up_waiting_ends_and_says_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/a.yaml").write_text("op: exp\ninputs: {x: [2]}\n")
    with silent_listener() as address:
        said = subprocess.run(
            [sys.executable, "-m", "gradcheck", "run", "--dask", address],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert said.returncode == 2
    [line] = said.stderr.splitlines()
    assert line.startswith(f"error: no Dask scheduler answers at {address}: no answer within")


def test_workers_that_do_not_answer(
    processes: DaskProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = processes.add_worker("--no-nanny")
    processes.wait_for_workers(1)
    os.kill(worker.pid, signal.SIGSTOP)
    monkeypatch.setattr("gradcheck.run.dask.roster.ANSWER_SECONDS", 1.0)
    limit(monkeypatch, 1.0, "LEAVE")
    with pytest.raises(UsageError, match=r"the workers of the Dask cluster at .* do not answer"):
        Cluster(processes.address)


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'gradcheck\[dask\]'"):
        Cluster("tcp://127.0.0.1:1")


def test_a_cluster_without_workers(
    processes: DaskProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 1.0, "WORKER")
    with pytest.raises(UsageError, match="has no workers"):
        Cluster(processes.address)
