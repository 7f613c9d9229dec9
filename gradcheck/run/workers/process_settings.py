"""What of a Python process a function may leave changed so that a later case has another verdict.

Each is read in well under a microsecond, before and after a user's function. What cannot change a
verdict is not among them: print options, log levels, filters that ignore warnings.
"""

from __future__ import annotations

import builtins
import decimal
import gc
import importlib
import locale
import os
import resource
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Readers = dict[str, "Callable[[], Any]"]
"""By the words in which a change is told."""

TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)

_LIMITS = (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_AS)

_SIGNALS = tuple(
    int(number)
    for number in (
        *(signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGINT, signal.SIGTERM),
        *(signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD, signal.SIGPIPE),
        *(signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGXCPU),
    )
)

ENVIRONMENT = "the environment"

_ONLY_LOGS = {
    *("TF_CPP_MIN_LOG_LEVEL", "TF_CPP_MAX_VLOG_LEVEL", "GRPC_VERBOSITY", "GLOG_minloglevel"),
    "MPLBACKEND",
}

# The one without names for the numbers, which takes a tenth of the time; it is not documented.
_getsignal: Callable[[int], Any] = getattr(
    importlib.import_module("_signal"), "getsignal", signal.getsignal
)

_STREAMS = ("stdin", "stdout", "stderr")
_TINY = 5e-324
_HALF_STEP = 2.0**-54


def of_python(root: str) -> Readers:
    """Settings of the interpreter, the libraries below it and the process.

    `root` is the folder of the user's packages: that it comes to the path is our own doing.
    """
    return {
        "timers": _timers,
        "signal handlers": lambda: [_getsignal(number) for number in _SIGNALS],
        "blocked signals": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "the working directory": os.getcwd,
        ENVIRONMENT: _environment,
        "the umask": _umask,
        "resource limits": lambda: [resource.getrlimit(limit) for limit in _LIMITS],
        "the user": os.geteuid,
        "the recursion limit": sys.getrecursionlimit,
        "the limit on digits of numbers": sys.get_int_max_str_digits,
        "warnings that are errors": _errors,
        "the path of modules": lambda: [entry for entry in sys.path if entry != root],
        "ways to import": lambda: (*sys.meta_path, *sys.path_hooks),
        "tracing": lambda: (sys.gettrace(), sys.getprofile()),
        "standard streams": lambda: [getattr(sys, name) for name in _STREAMS],
        "the descriptor of its output": _output,
        "garbage collection": lambda: (gc.isenabled(), gc.get_threshold()),
        "the locale": lambda: locale.setlocale(locale.LC_ALL),
        "decimal's context": _decimals,
        "how the processor rounds": _rounding,
        "numpy's errstate": np.geterr,
        "modules": lambda: [sys.modules.get(name) for name in _MODULES],
    }


_MODULES = ("tensorflow", "keras", "numpy", "math", "random", "gradcheck", "gradcheck.checker")


def namespaces_of_python() -> dict[str, Mapping[str, Any]]:
    """What everybody calls, by name; a function of it that is another one is a change."""
    return {"builtins": vars(builtins), "numpy": vars(np), "numpy.linalg": vars(np.linalg)}


def _timers() -> bool:
    """Whether one runs; how much it has left is always another number."""
    return any(signal.getitimer(timer)[0] for timer in TIMERS)


def disarm() -> None:
    """Stop what would end this process in a moment; whoever set it is told of later."""
    import faulthandler

    for timer in TIMERS:
        signal.setitimer(timer, 0.0)
    faulthandler.cancel_dump_traceback_later()


def _environment() -> dict[Any, Any]:
    # (Behind the name without the underscore every text is decoded, for a hundred times as long.)
    return dict(getattr(os.environ, "_data", os.environ))


def what_counts(name: str, value: Any) -> Any:
    """The part of a setting that can change a verdict."""
    if name != ENVIRONMENT or not isinstance(value, dict):
        return value
    return {k: v for k, v in value.items() if os.fsdecode(k) not in _ONLY_LOGS}


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _errors() -> list[Any]:
    return [entry for entry in warnings.filters if entry[0] == "error"]


def _output() -> tuple[int, int]:
    status = os.fstat(1)
    return status.st_dev, status.st_ino


def _decimals() -> tuple[Any, ...]:
    context = decimal.getcontext()
    return context.prec, context.rounding


def _rounding() -> tuple[bool, bool, bool]:
    """Whether numbers are rounded to the nearest, and the smallest are numbers at all."""
    return 1.0 + _HALF_STEP == 1.0, -1.0 - _HALF_STEP == -1.0, _TINY * 1.0 > 0.0
