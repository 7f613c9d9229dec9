"""Cases, and checks that really do to a worker what the tests claim."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.model import Case, Comparison, Location, Result, Target, TargetKind, Verdict
from tests.run.processes import parent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


def make_case(name: str, **changes: Any) -> Case:
    """A case whose name, up to the first `-`, is what `perform` does."""
    place = Location("specs/a.yaml", 1, 1)
    fields: dict[str, Any] = {
        "id": f"specs/a.yaml::{name}",
        "path": "specs/a.yaml",
        "name": name,
        "location": place,
        "target": Target(TargetKind.OP, "exp", place),
        "inputs": (),
    }
    return Case(**{**fields, **changes})


def perform(case: Case, *, allow: Collection[str], root: str) -> Result:
    """Do what the case's name says; what comes of it is the message of a pass."""
    action, _, detail = case.name.partition("-")
    if action in ("echo", "limit"):
        told = f"{sorted(allow)} {root}" if action == "echo" else f"{case.timeout:g} s"
        return Result(case.id, Verdict.PASS, message=told, case=case)
    if action == "brood":
        _brood(root)
    if action == "mark":
        # By whom the case was run: the Dask worker is the parent of the fork server.
        time.sleep(0.05)
        Path(root, f"{case.name}.by").write_text(str(parent_of(os.getppid())))
        return Result(case.id, Verdict.PASS)
    if action in ("meet", "log", "last", "killed"):
        return _ON_DISK[action](case, Path(root), detail)
    if action == "nothing":
        return None  # type: ignore[return-value]  # the fault that is planted
    if action in ("mismatch", "large"):
        return Result(case.id, Verdict.MISMATCH) if action == "mismatch" else _large(case)
    return Result(case.id, Verdict.PASS, message=_ACTIONS[action](detail))


def _killed(case: Case, root: Path, detail: str) -> Result:
    """Killed so many times, each of which leaves its mark."""
    with (root / case.name).open("a") as file:
        file.write("x")
        file.flush()
        if file.tell() <= int(detail.partition("-")[0]):
            os.kill(os.getpid(), signal.SIGKILL)
    return Result(case.id, Verdict.PASS, message=str(os.getpid()))


def _last(case: Case, root: Path, detail: str) -> Result:
    """Waits until so many others have left their mark."""
    deadline = time.monotonic() + 60
    while len(list(root.iterdir())) < int(detail):
        if time.monotonic() > deadline:
            return Result(case.id, Verdict.ERROR, message="not the last")
        time.sleep(0.01)
    return Result(case.id, Verdict.PASS)


def _log(case: Case, root: Path, _: str) -> Result:
    """Who ran it, and how often: one line each time."""
    with (root / case.name).open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(0.002)
    return Result(case.id, Verdict.PASS)


def _meet(case: Case, root: Path, _: str) -> Result:
    """Passes when three are here at the same time."""
    (root / case.name).touch()
    while len(list(root.iterdir())) < 3:
        time.sleep(0.01)
    return Result(case.id, Verdict.PASS)


_ON_DISK: dict[str, Callable[[Case, Path, str], Result]] = {
    "killed": _killed,
    "last": _last,
    "log": _log,
    "meet": _meet,
}
"""What leaves a mark, or waits for those of others."""


def _large(case: Case) -> Result:
    array = np.arange(40_000.0)
    large = Comparison("x", Verdict.PASS, array.shape, "float64", numeric=array)
    return Result(case.id, Verdict.PASS, (large,))


def differentiate(case: Case, *, allow: Collection[str], root: str) -> Result:
    """A real gradient, of x² at 2."""
    preloaded = "tensorflow" in sys.modules
    import tensorflow as tf

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    message = f"{float(tape.gradient(y, x))}, preloaded: {preloaded}"
    return Result(case.id, Verdict.PASS, message=message)


def break_tensorflow(case: Case, *, allow: Collection[str], root: str) -> Result:
    """What the case's name says, done to TensorFlow itself."""
    import tensorflow as tf

    if case.name == "failed-check":
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _fails_a_check(x)
        tape.gradient(y, x)
    if case.name == "eat":
        kept = [tf.ones([10_000_000])]
        while True:
            kept.append(kept[-1] + 1.0)
    if case.name == "loop":
        # Inside TensorFlow's own threads, where no signal handler of Python's gets a turn.
        endless = tf.function(lambda x: tf.while_loop(lambda i: i > 0.0, lambda i: [i * 1.0], [x]))
        endless(tf.constant(1.0))
    return Result(case.id, Verdict.PASS, message=str(float(tf.reduce_sum(tf.ones([3])))))


def _fails_a_check(x: Any) -> Any:
    """A function whose gradient ends the process as a failed CHECK in C++ does.

    Which kernels have a CHECK that can be made to fail differs with TensorFlow's version, the
    processor and oneDNN. This has what they have in common: TensorFlow is on the stack (the tape
    calls the gradient from C++), the reason is written past Python's streams, and `abort` of the C
    library is called without Python's lock.
    """
    import tensorflow as tf

    def gradient(upstream: Any) -> None:
        os.write(2, b"F0000 planted.cc:7] Check failed: 1 == 2\n")
        ctypes.CDLL(None).abort()

    return tf.custom_gradient(lambda x: (x * x, gradient))(x)


def _fork(detail: str) -> str:
    """Two processes return from here, of which only one is the worker."""
    child = os.fork()
    if child and detail == "reaped":
        os.waitpid(child, 0)
    return ""


def _brood(root: str) -> None:
    child = subprocess.Popen(["sleep", "3600"])
    Path(root, "brood").write_text(str(child.pid))
    time.sleep(3600)


def _abort(detail: str) -> None:
    print("Check failed: the planted reason", file=sys.stderr)
    os.abort()


def _flood(detail: str) -> None:
    for _ in range(20_000):
        print("x" * 99)
    print("the end of the flood")
    os.abort()


def _chatter(detail: str) -> str:
    print("on stdout")
    os.write(2, b"on stderr\n")
    return ""


def _mute(detail: str) -> None:
    for path in list(Path("/proc/self/fd").iterdir()):
        if int(path.name) > 2:
            with contextlib.suppress(OSError):
                os.close(int(path.name))
    time.sleep(3600)


def _eat(detail: str) -> str:
    print("about to eat", file=sys.stderr)
    meals = []
    for _ in range(400):
        meals.append(bytearray(b"x") * 10_000_000)
        time.sleep(0.005)
    return "never full"


def _feed(detail: str) -> str:
    code = "import time; x = bytearray(b'x') * 800_000_000; time.sleep(3600)"
    return str(subprocess.run([sys.executable, "-c", code], check=False).returncode)


_fat: list[bytearray] = []


def _fatten(detail: str) -> str:
    _fat.append(bytearray(b"x") * (int(detail) * 2**20))
    return ""


def _thread(detail: str) -> str:
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return ""


def _orphan(detail: str) -> str:
    return str(subprocess.Popen(["sleep", "3600"]).pid)


def _spin(detail: str) -> None:
    print("round and round", end="")
    while True:
        pass


def _endless(detail: str) -> None:
    while True:
        os.write(2, b"x" * 65_536)


def _nap(detail: str) -> str:
    time.sleep(0.02)
    return ""


def _sleep(detail: str) -> str:
    """`1`: a second; `1-vanish`: and then the worker is gone."""
    seconds, _, then = detail.partition("-")
    time.sleep(float(seconds))
    if then:
        os._exit(7)
    return ""


def _raise(detail: str) -> None:
    raise ValueError("planted")


def _threads(detail: str) -> str:
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OPENBLAS_NUM_THREADS")
    return " ".join(os.environ.get(name, "unset") for name in names)


_ACTIONS: dict[str, Callable[[str], Any]] = {
    "abort": _abort,
    "chatter": _chatter,
    "eat": _eat,
    "endless": _endless,
    "exit": lambda detail: sys.exit(int(detail)),
    "fatten": _fatten,
    "feed": _feed,
    "flood": _flood,
    "folder": lambda _: str(Path.cwd()),
    "fork": _fork,
    "hang": lambda _: time.sleep(3600),
    "input": lambda _: repr(os.read(0, 10)),
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "mute": _mute,
    "nap": _nap,
    "nullpointer": lambda _: ctypes.string_at(0),
    "orphan": _orphan,
    "pass": lambda _: "",
    "pid": lambda _: str(os.getpid()),
    "raise": _raise,
    "segfault": lambda _: os.kill(os.getpid(), signal.SIGSEGV),
    "sleep": _sleep,
    "spin": _spin,
    "thread": _thread,
    "threads": _threads,
    "unpicklable": lambda _: lambda: None,
    "vanish": lambda detail: os._exit(int(detail)),
}
