"""What runs inside a worker process: take a case, check it, send the result, and again."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection
from multiprocessing import process
from typing import TYPE_CHECKING, Any

from gradcheck.model import Case, Result, Verdict

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Check = Callable[..., Result]
"""`check(case, allow=…, root=…)`: what is done with a case."""


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    """What all cases of a run have in common."""

    check: Check
    allow: Collection[str]
    root: str
    single_threaded: bool
    """Whether workers share the machine, so that TensorFlow's threads would only compete."""


def check_with_tensorflow(case: Case, *, allow: Collection[str], root: str) -> Result:
    """The real check. Imported here, so that only a worker ever loads TensorFlow."""
    from gradcheck.checker import check_case

    return check_case(case, allow=allow, root=root)


def work(job: Job, cases: Connection, output: Connection) -> None:
    """The life of a worker; it ends when the other side closes the connection or is gone."""
    _settle(output)
    if job.single_threaded:
        # TensorFlow reads these when its first op runs.
        os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
        os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")
    while True:
        try:
            case = pickle.loads(cases.recv_bytes())  # noqa: S301  (from our own parent process)
        except EOFError:
            return
        cases.send_bytes(_encode(_check(job, case)))


def _settle(output: Connection) -> None:
    """Make this process independent of the terminal, and dependent on its parent."""
    # A group of its own: what the case starts can be ended with it, and Ctrl-C passes it by.
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    os.close(nowhere)
    output.close()
    # Unbuffered, or a crash would take the last words with it.
    sys.stdout = open(1, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115  (open for life)
    sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115  (open for life)
    faulthandler.enable(file=2, all_threads=False)
    threading.Thread(target=_end_with_parent, daemon=True).start()


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


def _encode(result: Result) -> bytes:
    """The result as bytes, without its case: the parent has that already."""
    try:
        return pickle.dumps(dataclasses.replace(result, case=None))
    except Exception as error:
        message = f"the result could not be sent back: {type(error).__name__}: {error}"
        return pickle.dumps(Result(result.id, Verdict.ERROR, message=message))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
