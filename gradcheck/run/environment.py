"""On what a run ran: versions, machine and flags, for the header of a report."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from importlib import metadata

PACKAGES = ("gradcheck", "tensorflow", "numpy", "keras")
"""Whose versions a report tells: those on which a gradient may depend."""

FLAGS = (
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "TF_CUDNN_DETERMINISTIC",
    "TF_DETERMINISTIC_OPS",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_NUM_INTEROP_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_USE_LEGACY_KERAS",
    "TF_XLA_FLAGS",
    "XLA_FLAGS",
)
"""Environment variables that change what TensorFlow computes; shown when they are set."""


def describe() -> dict[str, str]:
    """Names and values, the same for the same machine; nothing is imported to find out."""
    environment = {name: _version(name) for name in PACKAGES}
    environment["python"] = platform.python_version()
    environment["platform"] = platform.platform()
    environment["processors"] = str(os.cpu_count() or 1)
    environment.update((flag, os.environ[flag]) for flag in FLAGS if flag in os.environ)
    return environment


def tensorflow_facts() -> dict[str, str]:
    """What TensorFlow itself says; nothing where this process has not loaded it.

    Flags have defaults that depend on the build and the processor: only TensorFlow knows them.
    """
    if "tensorflow" not in sys.modules:
        return {}
    import tensorflow as tf

    facts = {}
    # Names that are not public may be gone in another version: the fact is then left out.
    with contextlib.suppress(Exception):
        kinds = [device.device_type for device in tf.config.list_physical_devices()]
        facts["device"] = " ".join(f"{kind}:{kinds.count(kind)}" for kind in sorted({*kinds}))
    with contextlib.suppress(Exception):
        from tensorflow.python.util import _pywrap_util_port as port

        facts["oneDNN"] = _on(port.IsMklEnabled())
    with contextlib.suppress(Exception):
        facts["XLA"] = _on(bool(tf.config.optimizer.get_jit()))
    with contextlib.suppress(Exception):
        from tensorflow.python.framework import config

        facts["deterministic ops"] = _on(config.is_op_determinism_enabled())
    return facts


def _on(flag: bool) -> str:
    return "on" if flag else "off"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
