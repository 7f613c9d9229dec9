"""Ctrl-C, SIGTERM and SIGHUP a moment later: what is half done then would be lost."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals by which somebody asks a command to end."""


@contextlib.contextmanager
def later() -> Iterator[None]:
    """Do something without being interrupted; what came meanwhile is heard at its end.

    A second Ctrl-C is heard at once: somebody who waits for a blocked terminal means it. Without it
    `test_a_signal_ends_the_run_with_the_report_of_what_is_there` fails.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if number == signal.SIGINT and came.count(number) > 1:
            handlers[number](number, frame)

    with _held_back():
        for number in ASKING:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, note)
    try:
        yield
    finally:
        # One that comes in between must not be heard before the one that came first. (Other threads
        # do not hold signals back: the first is passed on before any is heard again.)
        with _held_back():
            first = came[:1]
            try:
                for passed_on in first:
                    handlers[passed_on](passed_on, None)
            finally:
                for asked, handler in handlers.items():
                    signal.signal(asked, handler)
            if came and not first:
                handlers[came[0]](came[0], None)


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Within this none of them reaches the process."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
