"""On what a run ran: versions, machine and flags, for the header of a report."""

from __future__ import annotations

import os
import platform
from importlib import metadata

PACKAGES = ("gradcheck", "tensorflow", "numpy", "keras")

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


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
