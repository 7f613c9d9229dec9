"""What Dask calls in its workers, called here."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gradcheck.run.dask import remote
from gradcheck.run.dask.messages import Reply, Request
from tests.run.dask.test_machine_pool import make_job

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACE = "from gradcheck.run.dask.remote import introduce; print(repr(introduce().place))"


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    for token in tuple(remote._POOLS):
        pool = remote._POOLS[token]
        remote.end_run(token)
        assert pool.wait(60)


def place(before: str = "") -> str:
    return subprocess.check_output([sys.executable, "-c", before + PLACE], text=True)


def test_processes_of_one_machine_know_each_other_as_such() -> None:
    assert place() == place()
    assert remote.introduce().host == socket.gethostname()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="there is nothing to be bound to")
def test_those_that_are_bound_to_processors_of_their_own_are_machines_of_their_own() -> None:
    some = sorted(os.sched_getaffinity(0))
    if len(some) < 2:
        pytest.skip("one processor")
    bind = "import os; os.sched_setaffinity(0, {{{}}});".format
    assert len({place(bind(cpu)) for cpu in some[:2]}) == 2


def ask(token: str) -> Reply:
    job = pickle.dumps(make_job(token=token))
    reply: Reply = pickle.loads(remote.converse(job, pickle.dumps(Request(1))))  # noqa: S301
    return reply


def test_a_run_has_one_pool_and_another_run_has_another() -> None:
    assert ask("a").pool == ask("a").pool
    assert ask("a").pool != ask("b").pool


def test_a_run_that_is_over_does_not_come_back() -> None:
    assert not ask("c").failed
    pool = remote._POOLS["c"]
    remote.end_run("c")
    assert pool.wait(60)
    assert ask("c").failed == "the run is over"
    assert "c" not in remote._POOLS
