"""What hostile functions do to the worker that runs them, and through it to everybody else.

Each is a check that stands in for the real one: no TensorFlow is loaded, so that hundreds of
workers can die in a minute.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gradcheck.model import Case, Location, Result, Target, TargetKind, Verdict
from gradcheck.run.workers.frames import Frames
from tests.run.fakes import make_case
from tests.run.processes import descendants

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

SLEEPER = (sys.executable, "-c", "import time; time.sleep(600)")


def hostile(name: str, **changes: Any) -> Case:
    """A case of the user's own code, which does what its name says."""
    target = Target(TargetKind.FUNCTION, f"hostile:{name}", Location("specs/a.yaml", 1, 1))
    return make_case(name, target=target, **changes)


def attack(
    case: Case,
    *,
    allow: Collection[str],
    root: str,
    close_ups: Collection[Verdict] = (),
    called: bool = False,
) -> Result:
    """Do what the case's name says; an innocent one passes, after a moment."""
    if case.name.startswith("innocent"):
        time.sleep(0.005)
        return Result(case.id, Verdict.PASS, message=str(os.getpid()))
    told = (ATTACKS | ON_THE_COMMAND)[case.name](Path(root))
    return Result(case.id, Verdict.PASS, message="" if told is None else str(told))


def _descriptors() -> list[int]:
    return [int(path.name) for path in Path("/proc/self/fd").iterdir()]


def _write_everywhere(data: bytes) -> None:
    for descriptor in {*range(3, 64), *_descriptors()}:
        with contextlib.suppress(OSError):
            os.set_blocking(descriptor, False)
            os.write(descriptor, data)


class Trap:
    """Whoever unpickles it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def _frames() -> Frames:
    """The worker's own end of the channel: in one process nothing can be hidden."""
    return next(found for found in gc.get_objects() if type(found) is Frames)


def _say(message: bytes) -> None:
    _frames().send(message)


def _half_a_message(root: Path) -> NoReturn:
    frames = _frames()
    frames._line.sendall(frames._word + b"\xff\0\0\0half")
    time.sleep(0.05)
    os._exit(0)


def _half_and_hang(root: Path) -> None:
    frames = _frames()
    frames._line.sendall(frames._word + b"\xff\0\0\0half")
    time.sleep(600)


def _endless_message(root: Path) -> None:
    frames = _frames()
    frames._line.sendall(frames._word + b"\xff\xff\xff\xff")
    while True:
        frames._line.sendall(b"x" * 65_536)


def _endless_answers(root: Path) -> None:
    head = json.dumps([10**6, None, False, {}]).encode()
    while True:
        _say(head + b"\nnull")


def _trapped_answer(root: Path) -> None:
    trap = pickle.dumps(Trap(root / "executed"))
    _say(trap)
    _say(pickle.dumps((0, trap, None, False, {})))


def _trapped_result(root: Path) -> None:
    for number in range(100):
        head = json.dumps([number, None, False, {}]).encode()
        _say(head + b"\n" + pickle.dumps(Trap(root / "executed")))


def _false_facts(root: Path) -> None:
    for number in range(100):
        _say(json.dumps([number, None, False, {"device": ["x"] * 9}]).encode() + b"\nnull")


def _steal(root: Path) -> None:
    """Take from the channel what the parent sent for later, and give time for more of it."""
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        for descriptor in _descriptors():
            with contextlib.suppress(OSError):
                os.set_blocking(descriptor, False)
                os.read(descriptor, 2**20)


def _close_all(root: Path) -> None:
    for descriptor in _descriptors():
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _overlay_all(root: Path) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in _descriptors():
        with contextlib.suppress(OSError):
            os.dup2(nowhere, descriptor)


def _server() -> int:
    """The fork server, and never anybody else."""
    server = os.getppid()
    if b"server_process" not in Path(f"/proc/{server}/cmdline").read_bytes():
        raise RuntimeError("the server is gone")
    return server


def _siblings() -> list[int]:
    return [pid for pid, _ in descendants(_server()) if pid != os.getpid()]


def _signal_siblings(number: int) -> None:
    time.sleep(0.05)
    for pid in _siblings():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    time.sleep(0.05)


def _twice_forked(environment: dict[str, str] | None = None) -> int:
    """A process in a session of its own, whose parent is gone; its number."""
    script = (
        "import subprocess, sys; "
        "child = subprocess.Popen(sys.argv[1:], start_new_session=True, "
        "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); print(child.pid)"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, *SLEEPER], env=environment, capture_output=True, check=True
    )
    return int(told.stdout)


def _leave_a_process(root: Path, environment: dict[str, str] | None = None) -> int:
    pid = _twice_forked(environment)
    (root / f"left-{pid}").touch()
    return pid


def _leave_a_process_and_kill_the_server(root: Path) -> None:
    _leave_a_process(root)
    os.kill(_server(), signal.SIGKILL)
    time.sleep(600)


def _leave_a_bare_process_and_kill_the_server(root: Path) -> None:
    _leave_a_process(root, {})
    os.kill(_server(), signal.SIGKILL)
    time.sleep(600)


def _stop_the_server_tell_and_hang(root: Path) -> None:
    os.kill(_server(), signal.SIGSTOP)
    (root / f"left-{os.getpid()}").touch()
    time.sleep(600)


def _die_later(root: Path) -> None:
    def later() -> None:
        time.sleep(0.02)
        os._exit(1)

    threading.Thread(target=later).start()


def _twice_returned(root: Path) -> None:
    os.fork()


def _fork_and_write(root: Path) -> None:
    if os.fork() == 0:
        _write_everywhere(b"x" * 50)
        os._exit(0)
    time.sleep(0.05)


class Untellable(Exception):
    """Even its text raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Endless(Exception):
    """A text that is never done."""

    def __str__(self) -> str:
        return "x" * 50_000_000


def _raise(error: BaseException) -> NoReturn:
    raise error


def _shout(root: Path) -> None:
    print("the first line")
    for _ in range(300_000):
        os.write(1, b"x" * 99 + b"\n")
    print("the last line")


def _signal_server(number: int) -> None:
    """And wait for what comes of it."""
    os.kill(_server(), number)
    time.sleep(600)


def _stop_server_and_die(root: Path) -> None:
    os.kill(_server(), signal.SIGSTOP)
    os._exit(3)


def _go_nowhere(root: Path) -> None:
    (root / "gone").mkdir()
    os.chdir(root / "gone")
    (root / "gone").rmdir()


ATTACKS: dict[str, Callable[[Path], Any]] = {
    # Descriptors
    "junk": lambda _: _write_everywhere(b"junk" * 100),
    "zeros": lambda _: _write_everywhere(b"\0" * 100),
    "pickles": lambda root: _write_everywhere(pickle.dumps(Trap(root / "executed"))),
    "lengths": lambda _: _write_everywhere(b"\xff" * 8),
    "half-a-message": _half_a_message,
    "half-and-hang": _half_and_hang,
    "endless-message": _endless_message,
    "endless-answers": _endless_answers,
    "trapped-answer": _trapped_answer,
    "trapped-result": _trapped_result,
    "false-facts": _false_facts,
    "out-of-turn": lambda _: _say(b"recalled"),
    "steal": _steal,
    "close-all": _close_all,
    "overlay-all": _overlay_all,
    "close-first": lambda _: os.closerange(3, 256),
    # Ends
    "exit-0": lambda _: os._exit(0),
    "exit-255": lambda _: os._exit(255),
    "abort": lambda _: os.abort(),
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "kill-group": lambda _: os.killpg(0, signal.SIGKILL),
    "stop": lambda _: os.kill(os.getpid(), signal.SIGSTOP),
    "stop-group": lambda _: os.killpg(0, signal.SIGSTOP),
    "die-later": _die_later,
    # Others
    "kill-server": lambda _: _signal_server(signal.SIGKILL),
    "kill-server-and-return": lambda _: os.kill(_server(), signal.SIGKILL),
    "stop-server": lambda _: os.kill(_server(), signal.SIGSTOP),
    "stop-server-and-die": _stop_server_and_die,
    "stop-server-and-hang": lambda _: _signal_server(signal.SIGSTOP),
    "terminate-server": lambda _: os.kill(_server(), signal.SIGTERM),
    "hang-up-server": lambda _: os.kill(_server(), signal.SIGHUP),
    "crash-server": lambda _: _signal_server(signal.SIGSEGV),
    "kill-siblings": lambda _: _signal_siblings(signal.SIGKILL),
    "stop-siblings": lambda _: _signal_siblings(signal.SIGSTOP),
    "terminate-siblings": lambda _: _signal_siblings(signal.SIGTERM),
    # Processes
    "fork": _twice_returned,
    "fork-and-write": _fork_and_write,
    "leave-a-process": _leave_a_process,
    "leave-a-bare-process": lambda root: _leave_a_process(root, {}),
    "leave-and-kill-server": _leave_a_process_and_kill_the_server,
    # What is left in the process
    "alarm": lambda _: signal.setitimer(signal.ITIMER_REAL, 0.02),
    "ticking": lambda _: signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001),
    "dump-later": lambda _: faulthandler.dump_traceback_later(0.02, exit=True),
    "no-files": lambda _: resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)),
    "no-time": lambda _: resource.setrlimit(resource.RLIMIT_CPU, (1, 1)),
    "blocked": lambda _: signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals()),
    "no-environment": lambda _: os.environ.clear(),
    "no-path": lambda _: sys.path.clear(),
    "no-modules": lambda _: sys.modules.clear(),
    "no-output": lambda _: sys.stdout.close(),
    "no-recursion": lambda _: sys.setrecursionlimit(60),
    "nowhere": _go_nowhere,
    # Words
    "shout": _shout,
    "untellable": lambda _: _raise(Untellable()),
    "endless": lambda _: _raise(Endless()),
    "interrupt": lambda _: _raise(KeyboardInterrupt()),
    "leave": lambda _: _raise(SystemExit(Endless())),
    "base": lambda _: _raise(GeneratorExit("no error of the usual kind")),
    "no-result": lambda _: _raise(StopIteration()),
}

ON_THE_COMMAND: dict[str, Callable[[Path], Any]] = {
    # Only a command can answer for these: a library does not end what others started.
    "leave-bare-and-kill-server": _leave_a_bare_process_and_kill_the_server,
    "stop-server-tell-and-hang": _stop_the_server_tell_and_hang,
}
