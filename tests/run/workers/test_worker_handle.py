from __future__ import annotations

import time
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Verdict
from gradcheck.run import Pool, shut_down
from gradcheck.run.workers.worker import Job
from gradcheck.run.workers.worker_handle import AHEAD_SECONDS, Worker
from gradcheck.run.workers.worker_output import KEPT_BYTES
from gradcheck.run.workers.worker_process import ServerLostError, WorkersUnavailableError
from tests.run.fakes import make_case, perform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradcheck.model import Result

JOB = Job(check=perform, allow=(), root=".")
LIGHT = ("gradcheck.run.workers.worker",)


@pytest.fixture(scope="module", autouse=True)
def _no_server_left() -> Iterator[None]:
    yield
    shut_down()


def test_of_endless_output_only_the_end_is_held() -> None:
    worker = Worker(JOB, LIGHT)
    assert worker.give([(make_case("flood"), 60.0)])
    held = 0
    while not (results := worker.poll(wait(worker.handles(), 0.01))):
        held = max(held, len(worker._process.output.kept))
    worker.kill()
    worker.close()
    assert [result.verdict for result in results] == [Verdict.CRASHED]
    assert 0 < held <= KEPT_BYTES


def polled(worker: Worker, until: Callable[[], bool]) -> list[tuple[str, Verdict]]:
    """What has come of the worker's cases by then."""
    results: list[Result] = []
    deadline = time.monotonic() + 20
    while not until() and time.monotonic() < deadline:
        results += worker.poll(wait(worker.handles(), 0.01))
    return [(result.id.partition("::")[2], result.verdict) for result in results]


def late_recall(worker: Worker, *names: str) -> list[str]:
    """Recall all but the first when the worker has begun the second, which nobody knows yet."""
    assert worker.give([(make_case(name), 60.0) for name in names])
    time.sleep(2 * AHEAD_SECONDS)
    return [case.name for case in worker.recall()]


def test_a_case_that_is_recalled_too_late_has_no_result_here() -> None:
    worker = Worker(JOB, LIGHT)
    assert polled(worker, lambda: True) == []
    assert worker.give([(make_case("pass-0"), 60.0)])
    assert polled(worker, lambda: worker.idle) == [("pass-0", Verdict.PASS)]
    assert late_recall(worker, "pass-1", "sleep-0.7", "pass-2") == ["sleep-0.7", "pass-2"]
    assert worker.room == 0, "nothing new before the recall is confirmed"
    assert polled(worker, lambda: worker.idle) == [("pass-1", Verdict.PASS)]
    assert worker.alive
    assert worker.give([(make_case("pass-3"), 60.0)])
    assert polled(worker, lambda: worker.idle) == [("pass-3", Verdict.PASS)]
    worker.kill()
    worker.close()


@pytest.mark.parametrize("name", ["hang", "sleep-0.7-vanish"])
def test_a_case_that_is_recalled_too_late_is_not_blamed_here(name: str) -> None:
    worker = Worker(JOB, LIGHT)
    assert worker.give([(make_case("pass-0"), 60.0)])
    polled(worker, lambda: worker.idle)
    assert late_recall(worker, "pass-1", name) == [name]
    assert polled(worker, lambda: not worker.alive) == [("pass-1", Verdict.PASS)]
    assert worker.cases == []
    worker.kill()
    worker.close()


def test_a_server_that_cannot_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    with pytest.raises(ServerLostError, match="loads TensorFlow ended"):
        Worker(JOB, ("tests.run.deadly",))
    with (
        pytest.raises(WorkersUnavailableError, match="import tensorflow"),
        Pool(allow=(), root=".", check=perform, preload=("tests.run.deadly",)) as pool,
    ):
        list(pool.run([make_case("pass")]))


@pytest.mark.parametrize("sent", ["SIGKILL", "SIGSTOP"])
def test_a_server_that_is_killed_while_it_loads_is_replaced(
    sent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    shut_down()
    monkeypatch.setenv("STRUCK_BY", sent)
    monkeypatch.setenv("STRUCK_IN", str(tmp_path / "times"))
    with Pool(allow=(), root=".", jobs=1, check=perform, preload=("tests.run.struck",)) as pool:
        (result,) = pool.run([make_case("pass")])
    assert result.verdict is Verdict.PASS
    assert (tmp_path / "times").read_text() == "xxxx"
