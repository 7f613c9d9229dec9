"""Functions that compute x² correctly, and leave something behind in the process that runs them."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import locale
import os
import random
import resource
import signal
import sys
import threading
import warnings
from typing import Any

import keras
import numpy as np
import tensorflow as tf


def innocent(x: Any) -> Any:
    return x * x


def draws(x: Any) -> Any:
    random.random()  # noqa: S311
    np.random.random()
    return x * x


def quiet(x: Any) -> Any:
    warnings.simplefilter("ignore")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    np.set_printoptions(precision=3)
    return x * x


def registers(x: Any) -> Any:
    if "GradcheckHostile" not in registry():
        tf.RegisterGradient("GradcheckHostile")(lambda _, grad: grad)
    keras.saving.get_custom_objects().setdefault("hostile", innocent)
    tf.keras.layers.Dense(1)
    return x * x


def registry() -> Any:
    from tensorflow.python.framework import ops

    return ops.gradient_registry._registry


def alarm(x: Any) -> Any:
    signal.alarm(1)
    return x * x


def profiler(x: Any) -> Any:
    signal.setitimer(signal.ITIMER_PROF, 0.05)
    return x * x


def dump_later(x: Any) -> Any:
    faulthandler.dump_traceback_later(0.5, exit=True)  # on a busy machine this takes a while
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    return x * x


def handler(x: Any) -> Any:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return x * x


def epsilon(x: Any) -> Any:
    keras.config.set_epsilon(0.1)
    return x * x


def floatx(x: Any) -> Any:
    keras.config.set_floatx("float64")
    return x * x


def policy(x: Any) -> Any:
    keras.config.set_dtype_policy("mixed_float16")
    return x * x


def channels(x: Any) -> Any:
    keras.config.set_image_data_format("channels_first")
    return x * x


def run_eagerly(x: Any) -> Any:
    tf.config.run_functions_eagerly(True)
    return x * x


def check_numerics(x: Any) -> Any:
    tf.debugging.enable_check_numerics()
    return x * x


def no_eager(x: Any) -> Any:
    y = x * x
    tf.compat.v1.disable_eager_execution()
    return y


def patched_tanh(x: Any) -> Any:
    tf.tanh = tf.math.tanh = tf.math.sin
    return x * x


def patched_tensor(x: Any) -> Any:
    y = x * x
    tf.Tensor.__neg__ = lambda self: self
    return y


def patched_tape(x: Any) -> Any:
    tf.GradientTape.gradient = None
    return x * x


def patched_numpy(x: Any) -> Any:
    np.abs = np.negative  # type: ignore[assignment]
    return x * x


def patched_builtin(x: Any) -> Any:
    import builtins

    builtins.sorted = lambda items, **_: list(items)
    return x * x


def no_gradient(x: Any) -> Any:
    registry().pop("Tanh", None)
    return x * x


def seed(x: Any) -> Any:
    tf.random.set_seed(7)
    return x * x


def soft_placement(x: Any) -> Any:
    tf.config.set_soft_device_placement(not tf.config.get_soft_device_placement())
    return x * x


def tensor_float(x: Any) -> Any:
    tf.config.experimental.enable_tensor_float_32_execution(False)
    return x * x


def deterministic(x: Any) -> Any:
    tf.config.experimental.enable_op_determinism()
    return x * x


def numpy_behaviour(x: Any) -> Any:
    tf.experimental.numpy.experimental_enable_numpy_behavior()
    return x * x


def device(x: Any) -> Any:
    tf.device("/cpu:0").__enter__()
    return x * x


def recording(x: Any) -> Any:
    y = x * x
    tf.GradientTape(persistent=True).__enter__()
    return y


def folder(x: Any) -> Any:
    os.chdir("/")
    return x * x


def environment(x: Any) -> Any:
    os.environ["XLA_FLAGS"] = "--nonsense"
    return x * x


def umask(x: Any) -> Any:
    os.umask(0o777)
    return x * x


def recursion(x: Any) -> Any:
    sys.setrecursionlimit(sys.getrecursionlimit() + 5000)
    return x * x


def strict_warnings(x: Any) -> Any:
    warnings.simplefilter("error")
    return x * x


def strict_numpy(x: Any) -> Any:
    np.seterr(all="raise")
    return x * x


def path(x: Any) -> Any:
    sys.path.insert(0, "/nowhere")
    return x * x


def importer(x: Any) -> Any:
    finder: Any = type("Finder", (), {"find_spec": staticmethod(lambda *_: None)})
    sys.meta_path.insert(0, finder)
    return x * x


def files(x: Any) -> Any:
    resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
    return x * x


def tracing(x: Any) -> Any:
    sys.setprofile(lambda *_: None)
    return x * x


def streams(x: Any) -> Any:
    sys.stdout = None
    return x * x


def no_garbage(x: Any) -> Any:
    gc.disable()
    return x * x


def rounding(x: Any) -> Any:
    y = x * x
    ctypes.CDLL(None).fesetround(0x800)  # upward, on x86
    return y


def language(x: Any) -> Any:
    locale.setlocale(locale.LC_TIME, "C.UTF-8")
    return x * x


def thread(x: Any) -> Any:
    wait = threading.Event().wait
    threading.Thread(target=wait, daemon=True, name="left behind").start()
    return x * x
