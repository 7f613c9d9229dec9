from __future__ import annotations

from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Verdict
from gradcheck.run import shut_down
from gradcheck.run.workers.worker import Job
from gradcheck.run.workers.worker_handle import TAIL, Worker, WorkersUnavailableError
from tests.run.fakes import make_case, perform

if TYPE_CHECKING:
    from collections.abc import Iterator

JOB = Job(check=perform, allow=(), root=".")


@pytest.fixture(scope="module", autouse=True)
def _no_server_left() -> Iterator[None]:
    yield
    shut_down()


def test_of_endless_output_only_the_end_is_held() -> None:
    worker = Worker(JOB, ("gradcheck.run.workers.worker",))
    assert worker.give([(make_case("flood"), 60.0)])
    held = 0
    while not (results := worker.poll(wait(worker.handles(last=True), 0.01))):
        held = max(held, len(worker._tail))
    worker.kill()
    worker.close()
    assert [result.verdict for result in results] == [Verdict.CRASHED]
    assert 0 < held <= TAIL


def test_a_server_that_cannot_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    with pytest.raises(WorkersUnavailableError, match="import tensorflow"):
        Worker(JOB, ("tests.run.deadly",))
