"""What runs inside a worker process: take a case, check it, answer with the result, and again."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import functools
import io
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable, Collection
from pathlib import Path

from gradcheck.model import Case, Result, Verdict
from gradcheck.run.environment import tensorflow_facts
from gradcheck.run.workers import orphans
from gradcheck.run.workers.around_case import outcome_of
from gradcheck.run.workers.channel import Answer, WorkerEnd, hidden
from gradcheck.run.workers.leftovers import Leftovers
from gradcheck.run.workers.result_bytes import to_bytes
from gradcheck.run.workers.state_guard import StateGuard, with_note

CASE_MARK = b"\0\x1egradcheck %d\x1e\0"
"""Written to the output before each case, with its number: so it is known whose words follow."""

WHERE_SIGNAL = signal.SIGUSR1
"""Lets a worker write down where in Python it is, whatever it does."""

LIFE_MILLISECONDS = 300
"""How long a worker waits at once for the end of its parent."""

Check = Callable[..., Result]
"""`check(case, allow=…, root=…)`: what is done with a case."""


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    """What all cases of a run have in common."""

    check: Check
    allow: Collection[str]
    root: str
    folder: str = ""
    """Where the cases run, if it exists; empty for where their parent is."""


def check_with_tensorflow(
    case: Case,
    *,
    allow: Collection[str],
    root: str,
    close_ups: Collection[Verdict] = (),
    called: bool = False,
) -> Result:
    """The real check; with what pictures need, for these verdicts, and what coverage needs."""
    return _real_check()(case, allow=allow, root=root, close_ups=close_ups, called=called)


@functools.cache
def _real_check() -> Check:
    """Imported here, so that only a worker ever loads TensorFlow."""
    from gradcheck.checker import check_case

    return check_case


def work(channel: int, output: int) -> None:
    """The life of a worker; it ends when the parent is gone, or a case left something behind."""
    end = WorkerEnd(hidden(channel))
    _settle(output, end.descriptor)
    job = _introduced(end)
    leftovers = Leftovers()
    guard: StateGuard | None = None
    first = True
    for number, case in end.cases():
        _mark(number)
        if case.target.users_own and guard is None:
            guard = StateGuard(job.root)
        found, changed = _guarded(job, case, guard) if guard else (_check(job, case), False)
        result = to_bytes(found)
        if leftovers.copied:
            break
        leftovers.unclean |= changed
        leftovers.look(idle=end.idle)
        facts = tensorflow_facts() if first else {}
        first = False
        end.answer(Answer(number, result, leftovers.held, leftovers.unclean, facts))
        if leftovers.unclean:
            break
    # The next case gets a worker of its own. Not `sys.exit`: that waits for threads.
    os._exit(0)


def _introduced(end: WorkerEnd) -> Job:
    """What the run is about, and the parent's folder and path, by which its functions are found."""
    # The check itself may be found only by that path: it comes last.
    folder, sys.path[:], rest = end.greeting()
    with contextlib.suppress(OSError):
        os.chdir(folder)
    job: Job = pickle.loads(rest)  # noqa: S301  (our parent's)
    return job


def introduction(job: Job) -> tuple[str, list[str], bytes]:
    """What a new worker is told first."""
    return job.folder or str(Path.cwd()), list(sys.path), pickle.dumps(job)


def _settle(output: int, channel: int) -> None:
    """Make this process independent of the terminal, and dependent on its parent."""
    # A group of its own: what the case starts can be ended with it, and Ctrl-C passes it by.
    os.setsid()
    # What a case forks twice stays below this process, where it is seen.
    orphans.adopt()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(nowhere)
    os.close(output)
    # Unbuffered, or a crash would take the last words with it.
    sys.stdout, sys.stderr = _unbuffered(1), _unbuffered(2)
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(WHERE_SIGNAL, file=2, all_threads=False)
    # Compiled files know their source by second and size: of two saves in a second, the first.
    sys.dont_write_bytecode = True
    # Where the machine runs out of memory, this process is to be ended and not the command.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    threading.Thread(target=_end_with_command, args=(channel,), daemon=True).start()


def _unbuffered(descriptor: int) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, "utf-8", "replace", write_through=True)


def _end_with_command(channel: int) -> None:
    """A case that hangs must not outlive a command that was killed.

    The fork server sees to that, unless somebody has stopped it. Without it
    `test_a_killed_command_takes_its_workers_along_though_the_server_is_stopped` fails.
    """
    poll = select.poll()
    poll.register(channel, 0)  # that the other end is gone is always told
    events: list[tuple[int, int]] = []
    while not events:
        # Not for ever: a case may close the channel, which stays open while somebody waits for it.
        events = poll.poll(LIFE_MILLISECONDS)
    if any(event & select.POLLHUP for _, event in events):
        os.killpg(0, signal.SIGKILL)


def _check(job: Job, case: Case) -> Result:
    return outcome_of(case, lambda: job.check(case, allow=job.allow, root=job.root))


def _guarded(job: Job, case: Case, guard: StateGuard) -> tuple[Result, bool]:
    """The result, and whether the user's function left something changed; it then says so."""
    if not case.target.users_own:
        if not guard.pass_by(case):
            # A function before it has patched what it calls: it runs again, in a worker of its own.
            os._exit(0)
        return _check(job, case), False
    guard.begin(case)
    result = _check(job, case)
    changes = guard.changes()
    return (with_note(result, changes) if changes else result), bool(changes)


def _mark(number: int) -> None:
    with contextlib.suppress(OSError):  # a case may have closed its output
        os.write(1, CASE_MARK % number)
