"""A case that notices what another has left changed: what is asked here is asked of the process
itself, and not of those who guard it."""

from __future__ import annotations

import gc
import importlib
import locale
import math
import os
import resource
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from gradcheck.model import Case, Result, Verdict
from tests.hostile import culprits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

SLACK = 3000
"""Calls within calls that a recursion limit may have been raised by: the culprit adds 5,000."""


class NoticedError(Exception):
    """Something is not as it should be."""


def _warns_quietly() -> bool:
    try:
        warnings.warn("take care", UserWarning, stacklevel=1)
        np.float64(1.0) / np.float64(0.0)
    except (UserWarning, FloatingPointError):
        return False
    return True


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _is_deterministic() -> bool:
    config = importlib.import_module("tensorflow.python.framework.config")
    return bool(config.is_op_determinism_enabled())


def _context() -> Any:
    return importlib.import_module("tensorflow.python.eager.context").context()


RIGHT: dict[str, Callable[[], Any]] = {
    "alarm": lambda: signal.getitimer(signal.ITIMER_REAL)[0] == 0,
    "profiler": lambda: signal.getitimer(signal.ITIMER_PROF)[0] == 0,
    "dump_later": lambda: signal.getsignal(signal.SIGUSR2) is not signal.SIG_IGN,
    "handler": lambda: signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN,
    "epsilon": lambda: keras.config.epsilon() < 1e-6,
    "floatx": lambda: keras.config.floatx() == "float32",
    "policy": lambda: keras.config.dtype_policy().name == "float32",
    "channels": lambda: keras.config.image_data_format() == "channels_last",
    "run_eagerly": lambda: not tf.config.functions_run_eagerly(),
    "check_numerics": lambda: not _context().op_callbacks,
    "no_eager": tf.compat.v1.executing_eagerly_outside_functions,
    "patched_tanh": lambda: tf.tanh.__name__ == "tanh",
    "patched_tensor": lambda: "lambda" not in repr(tf.Tensor.__neg__),
    "patched_tape": lambda: tf.GradientTape.gradient is not None,
    "patched_numpy": lambda: np.abs(-1) == 1 == np.abs(1),
    "patched_builtin": lambda: sorted([2, 1]) == [1, 2],
    "no_gradient": lambda: "Tanh" in culprits.registry(),
    "seed": lambda: _context()._seed != 7,
    "soft_placement": tf.config.get_soft_device_placement,
    "tensor_float": tf.config.experimental.tensor_float_32_execution_enabled,
    "deterministic": lambda: not _is_deterministic(),
    "numpy_behaviour": lambda: not hasattr(tf.Tensor, "ravel"),
    "device": lambda: not _context().device_name,
    "folder": lambda: Path.cwd() != Path("/"),
    "environment": lambda: os.environ.get("XLA_FLAGS") != "--nonsense",
    "umask": lambda: _umask() != 0o777,
    "recursion": lambda: sys.getrecursionlimit() < 1000 + SLACK,
    "strict_warnings": _warns_quietly,
    "strict_numpy": _warns_quietly,
    "path": lambda: "/nowhere" not in sys.path,
    "importer": lambda: "Finder" not in [getattr(f, "__name__", "") for f in sys.meta_path],
    "files": lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 50,
    "tracing": lambda: sys.getprofile() is None,
    "streams": lambda: sys.stdout is not None,
    "no_garbage": gc.isenabled,
    "rounding": lambda: float(1) + math.ldexp(1.0, -54) == 1.0,
    "language": lambda: locale.setlocale(locale.LC_TIME) == "C",
    "thread": lambda: "left behind" not in [thread.name for thread in threading.enumerate()],
}
"""What holds where nobody has changed anything, by the culprit that breaks it. (What "recording"
leaves cannot be seen from a function: the check itself has a tape around it.)"""


def notices(x: Any) -> Any:
    """The square, where all is as it should be."""
    if wrong := [name for name, right in RIGHT.items() if not right()]:
        raise NoticedError(", ".join(wrong))
    return x * x


def culprit_and_witness(case: Case, *, allow: Collection[str], root: str) -> Result:
    """In place of a check: what the case names, and the witness after it in the same process."""
    del allow
    if root not in sys.path:
        sys.path.append(root)
    before = [name for name, right in RIGHT.items() if not right()]
    getattr(culprits, case.name)(tf.constant([1.0, 2.0]))
    after = [name for name, right in RIGHT.items() if not right()]
    return Result(case.id, Verdict.PASS, message=f"{before} {case.name in after}")
