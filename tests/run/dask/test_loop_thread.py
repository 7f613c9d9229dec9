"""A limit for what may wait for ever."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest

from gradcheck.run.dask.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    loop = LoopThread()
    yield loop
    loop.stop()


async def give(what: str) -> str:
    return what


async def fail() -> None:
    raise TimeoutError("planted")


async def sleep_for_ever() -> None:
    await asyncio.Event().wait()


async def block_for_ever() -> None:
    threading.Event().wait()


def test_what_a_call_gives_and_what_it_raises(loop: LoopThread) -> None:
    assert loop.call(give("something"), 60) == "something"
    with pytest.raises(TimeoutError, match="planted"):
        loop.call(fail(), 60)


def test_what_waits_is_given_up_and_the_next_call_is_answered(loop: LoopThread) -> None:
    with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s"):
        loop.call(sleep_for_ever(), 0.05)
    assert loop.call(give("something"), 60) == "something"


def test_what_blocks_everything_is_given_up_too(loop: LoopThread) -> None:
    with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s"):
        loop.call(block_for_ever(), 0.05)


def test_a_loop_that_is_stopped_ends_what_runs_in_it(capfd: pytest.CaptureFixture[str]) -> None:
    before = set(threading.enumerate())
    loop = LoopThread()
    [thread] = set(threading.enumerate()) - before
    assert thread.daemon
    ended: list[str] = []

    async def run() -> None:
        try:
            await sleep_for_ever()
        finally:
            ended.append("in order")

    loop.begin(run())
    loop.call(give("something"), 60)
    loop.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert ended == ["in order"]
    time.sleep(0.05)
    assert capfd.readouterr() == ("", "")
