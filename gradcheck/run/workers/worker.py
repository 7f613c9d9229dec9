"""What runs inside a worker process: take a case, check it, answer with the result, and again."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import functools
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection
from multiprocessing import process
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.model import Case, Result, Verdict
from gradcheck.run.environment import tensorflow_facts
from gradcheck.run.workers.channel import Answer
from gradcheck.run.workers.leftovers import Leftovers
from gradcheck.run.workers.result_bytes import to_bytes

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from gradcheck.run.workers.channel import WorkerEnd

CASE_MARK = b"\0\x1egradcheck\x1e\0"
"""Written to the output before each case, so that it is known whose words follow."""

WHERE_SIGNAL = signal.SIGUSR1
"""Lets a worker write down where in Python it is, whatever it does."""

Check = Callable[..., Result]
"""`check(case, allow=…, root=…)`: what is done with a case."""


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    """What all cases of a run have in common."""

    check: Check
    allow: Collection[str]
    root: str


def check_with_tensorflow(case: Case, *, allow: Collection[str], root: str) -> Result:
    """The real check."""
    return _real_check()(case, allow=allow, root=root)


@functools.cache
def _real_check() -> Check:
    """Imported here, so that only a worker ever loads TensorFlow."""
    from gradcheck.checker import check_case

    return check_case


def work(job: Job, channel: WorkerEnd, output: Connection) -> None:
    """The life of a worker; it ends when the parent is gone, or a case left something running."""
    _settle(output)
    # TensorFlow reads these when its first op runs. One thread each: the workers share the
    # machine, and sums that are split among threads would differ with the number of them.
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")
    leftovers = Leftovers()
    first = True
    for number, case in channel.cases():
        _mark()
        result = to_bytes(_check(job, case))
        if leftovers.copied:
            break
        leftovers.look(idle=channel.idle)
        facts = tensorflow_facts() if first else {}
        first = False
        channel.answer(Answer(number, result, leftovers.held, leftovers.unclean, facts))
        if leftovers.unclean:
            break
    # The next case gets a worker of its own. Not `sys.exit`: that waits for threads.
    os._exit(0)


def _settle(output: Connection) -> None:
    """Make this process independent of the terminal, and dependent on its parent."""
    # A group of its own: what the case starts can be ended with it, and Ctrl-C passes it by.
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The fork server was started with it blocked; what a case starts should not find it so.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    os.close(nowhere)
    output.close()
    # Unbuffered, or a crash would take the last words with it.
    sys.stdout, sys.stderr = _unbuffered(1), _unbuffered(2)
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(WHERE_SIGNAL, file=2, all_threads=False)
    # Compiled files know their source by second and size: of two saves in a second, the first.
    sys.dont_write_bytecode = True
    # Where the machine runs out of memory, this process is to be ended and not the command.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _unbuffered(descriptor: int) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, "utf-8", "replace", write_through=True)


def _end_with_parent() -> None:
    """A case that hangs must not outlive a command that was killed."""
    parent = process.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(0, signal.SIGKILL)


def _check(job: Job, case: Case) -> Result:
    start = time.perf_counter()
    try:
        result: Any = job.check(case, allow=job.allow, root=job.root)
        if isinstance(result, Result):
            return result
        message = f"the check returned {type(result).__name__} in place of a Result"
    except SystemExit as error:
        message = f"the function under test called sys.exit({error.code!r})"
    except BaseException as error:
        message = f"{type(error).__name__}: {error}"
    return Result(case.id, Verdict.ERROR, message=message, seconds=time.perf_counter() - start)


def _mark() -> None:
    with contextlib.suppress(OSError):  # a case may have closed its output
        os.write(1, CASE_MARK)
