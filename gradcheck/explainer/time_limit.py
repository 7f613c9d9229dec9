"""A limit on how long a part of an explanation may take; then another way is taken.

SymPy and our own calculus are given sizes that they can manage; this is for what nobody thought of.
It works by a timer of the operating system's, in the main thread: elsewhere the sizes alone hold.
"""

from __future__ import annotations

import _weakrefset
import contextlib
import gc
import signal
import threading
import time
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["TookTooLong", "limited"]


class TookTooLong(BaseException):
    """The time is over. No Exception: SymPy catches those, and goes on."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Within this, TookTooLong is raised when the time is over; limits may stand inside of others.

    Without it `test_sympy_has_a_time_limit` fails, and with a plain timer
    `test_a_limit_that_ends_while_an_object_goes`, `test_a_limit_that_ends_in_a_weak_dictionary` and
    `test_a_limit_that_a_callback_loses`.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        yield
        return
    begun = time.monotonic()
    handler = signal.signal(signal.SIGALRM, _over)
    outer, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    if outer and outer < seconds:
        signal.setitimer(signal.ITIMER_REAL, outer)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer:
            left = outer - (time.monotonic() - begun)
            signal.setitimer(signal.ITIMER_REAL, max(left, _AT_ONCE))


_AT_ONCE = 1e-3
"""Seconds: zero would switch the timer off."""
_FORGETTING = ("remove", "_remove")
"""What weak dictionaries and sets call when a key, value or element of theirs is gone."""
_WEAK_FILES = (weakref.__file__, _weakrefset.__file__)
_AGAIN = 0.05
"""Seconds until it is raised once more, if somebody has lost it."""


def _over(_number: int, frame: FrameType | None) -> None:
    if _is_lost_in(frame):
        signal.setitimer(signal.ITIMER_REAL, _AT_ONCE)
        return
    # (A weak reference's callback loses it too, and only the library's own are known.)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    raise TookTooLong


def _is_lost_in(frame: FrameType | None) -> bool:
    """Whether what is raised here is lost: while an object goes, or garbage is collected."""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code in callbacks:
            return True
        if code.co_name in _FORGETTING and code.co_filename in _WEAK_FILES:
            return True
        frame = frame.f_back
    return False
