"""An event loop in a thread that nobody has to wait for: Dask under a limit of our own.

Dask's time-outs do not hold everywhere: while two sides shake hands it waits for ever for one that
accepts the connection and says nothing. Without it `test_something_there_never_answers` fails.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

Found = TypeVar("Found")

STOP_PATIENCE = 1.0
"""Seconds for what still runs in a loop to end when it is told to."""

_SPEAKERS = ("distributed", "tornado", "asyncio")
"""Whose loggers are silenced: what they know is told in our own words."""


class LoopThread:
    """Runs coroutines beside this thread; whatever they do, the process can end."""

    def __init__(self) -> None:
        _silence()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, daemon=True, name="gradcheck-dask").start()

    def call(self, coroutine: Coroutine[Any, Any, Found], seconds: float) -> Found:
        """What the coroutine gives, or raises; TimeoutError where that takes longer."""
        future = self.begin(coroutine)
        try:
            concurrent.futures.wait([future], seconds)
            if not future.done():
                raise TimeoutError(f"no answer within {seconds:g} s")
            return future.result()
        finally:
            future.cancel()

    def begin(self, coroutine: Coroutine[Any, Any, Found]) -> concurrent.futures.Future[Found]:
        """Let the coroutine run, and go on."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def stop(self) -> None:
        """Let the loop end once it gets to it, with all that still runs in it."""
        self.begin(self._end())

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _end(self) -> None:
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest, timeout=STOP_PATIENCE)
        self._loop.call_soon(self._loop.stop)


def _silence() -> None:
    """Let the libraries below Dask print nothing: also not what was left to itself."""
    for name in [*_SPEAKERS, *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in _SPEAKERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
