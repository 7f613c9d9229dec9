"""The fork server: one process that has TensorFlow loaded, from which the workers fork."""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing import forkserver, resource_tracker
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.context import ForkServerContext

PRELOAD = ("gradcheck.run.workers.preload",)
"""Which modules the server imports before the first worker forks from it."""

# Threads of one process may start workers at the same time: those of a Dask worker do.
_LOCK = threading.RLock()


class _State:
    """Which modules the running server has loaded; None while there is no server."""

    preload: tuple[str, ...] | None = None


def warm_up(preload: Sequence[str] = PRELOAD) -> None:
    """Start the fork server in the background, and return at once.

    Called before anything else is done, so that specs are read while TensorFlow loads.
    """
    wanted = tuple(preload)
    with _LOCK:
        if _State.preload != wanted:
            shut_down()
            forkserver.set_forkserver_preload(list(wanted))
            atexit.register(shut_down)
        with _without_current_folder(), _ignoring_ctrl_c():
            forkserver.ensure_running()
        _State.preload = wanted


def context(preload: Sequence[str] = PRELOAD) -> ForkServerContext:
    """The context whose processes fork from the server, which is started if need be."""
    warm_up(preload)
    return multiprocessing.get_context("forkserver")


@contextlib.contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C passes by, from their first moment on, and know them all.

    It reaches the whole process group: a Python that is just starting would answer it with a
    traceback, and here it could come between the start of a process and the note of its number.
    """
    # This one knows for itself, but lifts the block when it has been started.
    resource_tracker.ensure_running()
    came: list[int] = []
    # A block alone is not enough here: another thread may take the signal.
    handler = signal.getsignal(signal.SIGINT)
    ours = threading.current_thread() is threading.main_thread() and handler is not None
    if ours:
        signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if ours:
            signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def _without_current_folder() -> Iterator[None]:
    """Keep the server from importing what happens to lie in the current folder.

    It is started as `python -c …`, which looks there first: in a checkout of TensorFlow's own
    sources `import tensorflow` would fail.
    """
    if "PYTHONSAFEPATH" in os.environ:
        yield
        return
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Let a process be started in here whatever this process is, and keep it from its main script.

    `multiprocessing` runs the main script once more, for functions which live in it. Ours never
    do, and the script may be anything: without this a worker would begin by doing its work again.
    """
    main = sys.modules["__main__"]
    # Dask's workers are daemons, which may have no children; ours end with them by themselves.
    settings: dict[str, Any] = getattr(multiprocessing.current_process(), "_config", {})
    daemon = settings.get("daemon")
    with _LOCK:
        sys.modules["__main__"] = ModuleType("__main__")
        settings["daemon"] = False
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            settings["daemon"] = daemon


def dismiss() -> None:
    """Let the fork server end while this process does other things; `shut_down` waits for it."""
    _State.preload = None
    # The standard library starts the server but offers no public way to end it: it leaves when
    # this process does, which while TensorFlow loads would be seconds later.
    server: Any = forkserver._forkserver
    if server._forkserver_pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(server._forkserver_pid, signal.SIGKILL)


def shut_down() -> None:
    """End the fork server, even while it still loads. Workers must have ended before."""
    atexit.unregister(shut_down)
    dismiss()
    server: Any = forkserver._forkserver
    if server._forkserver_pid is not None:
        with contextlib.suppress(ChildProcessError):
            server._stop()
