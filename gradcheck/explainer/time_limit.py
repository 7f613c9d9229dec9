"""A limit on how long a part of an explanation may take; then another way is taken.

SymPy and our own calculus are given sizes that they can manage; this is for what nobody thought of.
It works by a timer of the operating system's, in the main thread: elsewhere the sizes alone hold.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import signal
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import FrameType

__all__ = ["TookTooLong", "limited", "limited_work"]


class TookTooLong(BaseException):
    """The time is over. No Exception: SymPy catches those, and goes on."""


def limited(seconds: float) -> AbstractContextManager[None]:
    """Within this, TookTooLong is raised when the time is over; limits may stand inside of others.

    Without it `test_sympy_has_a_time_limit` fails.
    """
    return _Limit(seconds, _CLOCK) if _can_be_limited() else contextlib.nullcontext()


def limited_work(seconds: float) -> AbstractContextManager[None]:
    """The same of the processor's time: what a page says does not depend on what else runs there.

    Without it `test_a_busy_machine_changes_no_page` fails.
    """
    return _Limit(seconds, _PROCESSOR) if _can_be_limited() else contextlib.nullcontext()


def _can_be_limited() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")


class _Timer(NamedTuple):
    """A timer of the operating system's."""

    number: int
    rings: int
    """The signal that it sends."""
    now: Callable[[], float]


_CLOCK = _Timer(getattr(signal, "ITIMER_REAL", 0), getattr(signal, "SIGALRM", 0), time.monotonic)
_PROCESSOR = _Timer(
    getattr(signal, "ITIMER_PROF", 0), getattr(signal, "SIGPROF", 0), time.process_time
)


_AT_ONCE = 1e-3
"""Seconds: zero would switch the timer off."""
_AGAIN = 0.05
"""Seconds between one alarm and the next, until somebody has ended what takes too long: a function
of the operating system's that began just as one rang does not hear of that one, and what is raised
may be caught by whoever goes on."""


class _Limit:
    """No generator: between its end and that of its block the exception could be raised in it."""

    def __init__(self, seconds: float, timer: _Timer) -> None:
        self._seconds, self._timer = seconds, timer
        self._done = False

    def __enter__(self) -> None:
        self._begun = self._timer.now()
        self._outside = sys._getframe(1)
        self._reported, sys.unraisablehook = sys.unraisablehook, self._lost
        self._handler = signal.signal(self._timer.rings, self._when_over)
        self._outer, _ = self._ring_in(self._seconds)
        if self._outer and self._outer < self._seconds:
            self._ring_in(self._outer)

    def __exit__(self, *_: object) -> None:
        self._done = True
        signal.setitimer(self._timer.number, 0)
        signal.signal(self._timer.rings, self._handler)
        sys.unraisablehook = self._reported
        if self._outer:
            left = self._outer - (self._timer.now() - self._begun)
            self._ring_in(max(left, _AT_ONCE))

    def _when_over(self, _number: int, frame: FrameType | None) -> None:
        if self._done:
            return
        if self._would_be_lost(frame):
            self._ring_in(_AT_ONCE)
            return
        raise TookTooLong

    def _would_be_lost(self, frame: FrameType | None) -> bool:
        """Whether Python would only report it: while an object goes, or garbage is collected.

        What runs then is left to come to its end: without this
        `test_a_limit_that_ends_in_what_python_calls` fails.
        """
        callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
        while frame is not None and frame is not self._outside:
            code = frame.f_code
            # (Nor while a limit begins or ends: then its timer would stay.)
            if code in callbacks or code in _OURS or code.co_name == "__del__":
                return True
            if _is_given_a_dead_reference(frame):
                return True
            frame = frame.f_back
        return False

    def _ring_in(self, seconds: float) -> tuple[float, float]:
        """Set the alarm; what was left of the one before."""
        return signal.setitimer(self._timer.number, seconds, _AGAIN)

    def _lost(self, told: Any) -> None:
        """What Python would report.

        Not every callback can be told by its frames: where one has lost the exception, it is raised
        again at once, and nobody is told. Without this `test_a_limit_that_a_callback_loses` fails.
        """
        # (An alarm that rang as its handler was put back: Python says that it is late. Without this
        # `test_a_limit_leaves_nothing_behind` fails, seldom.)
        if self._done and str(told.exc_value).startswith(
            f"Signal {int(self._timer.rings)} ignored"
        ):
            return
        if not issubclass(told.exc_type, TookTooLong):
            self._reported(told)
        elif not self._done:
            self._ring_in(_AT_ONCE)


_OURS = (_Limit.__enter__.__code__, _Limit.__exit__.__code__)


def _is_given_a_dead_reference(frame: FrameType) -> bool:
    """As the callbacks of weak references are, those of weak dictionaries and sets included."""
    names, rest, _, values = inspect.getargvalues(frame)
    given = [values.get(name) for name in names]
    given += values.get(rest, ()) if rest else ()
    # (By its type, and by the class's own method: no code of somebody else's is to run here.)
    references: list[Any] = [one for one in given if issubclass(type(one), weakref.ref)]
    return any(weakref.ref.__call__(one) is None for one in references)
