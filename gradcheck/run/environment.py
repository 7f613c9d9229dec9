"""On what a run ran: versions, machine and flags, for the header of a report."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.model.versions import installed_version
from gradcheck.run.threads import more_than_one

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGES = ("gradcheck", "tensorflow", "numpy", "keras")
"""Whose versions a report tells: those on which a gradient may depend."""

FLAGS = (
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_TF32_OVERRIDE",
    "TF_CUDNN_DETERMINISTIC",
    "TF_DETERMINISTIC_OPS",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_USE_LEGACY_KERAS",
    "TF_XLA_FLAGS",
    "XLA_FLAGS",
)
"""Environment variables that change what TensorFlow computes; shown when they are set."""

INSTRUCTIONS = (
    *("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16"),
    *("amx_tile", "amx_bf16", "asimd", "asimdhp", "sve", "sve2", "bf16"),
)
"""What a processor may have that TensorFlow, XLA and numpy choose their kernels by."""

_INDIFFERENT = ("processors", "seed", "allow", "mode", "check")
"""What changes no result: every worker has one thread, every case its own seed, mode and checks,
and of what is allowed the files count, not the names."""

_LINUX = re.compile(r"Linux-.*?-([^-]+)((?:-with-.+)?)$")


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def describe() -> dict[str, str]:
    """Names and values, the same for the same machine; nothing is imported to find out."""
    environment = {name: _version(name) for name in PACKAGES}
    environment["python"] = platform.python_version()
    environment["platform"] = platform.platform()
    environment["processors"] = str(os.cpu_count() or 1)
    if instructions := _instructions():
        environment["instructions"] = instructions
    environment.update((flag, os.environ[flag]) for flag in FLAGS if flag in os.environ)
    environment.update(more_than_one(os.environ))
    return environment


def decisive(environment: Mapping[str, str]) -> dict[str, str]:
    """That of an environment on which a result may depend: where it is the same, results are.

    Of a platform that is the machine and the C library, whose functions numpy calls; the kernel
    has no part in it. Without it `test_what_changes_no_result_is_not_compared` fails.
    """
    kept = {name: value for name, value in environment.items() if name not in _INDIFFERENT}
    if "platform" in kept:
        kept["platform"] = _LINUX.sub(r"Linux-\1\2", kept["platform"])
    return kept


def _instructions() -> str:
    """Those of the first processor; empty where the system does not tell."""
    with contextlib.suppress(OSError), Path("/proc/cpuinfo").open(errors="replace") as told:
        for line in told:
            if line.startswith(("flags", "Features")):
                has = frozenset(line.split())
                return " ".join(name for name in INSTRUCTIONS if name in has)
    return ""


def tensorflow_facts() -> dict[str, str]:
    """What TensorFlow itself says; nothing where this process has not loaded it.

    Flags have defaults that depend on the build and the processor: only TensorFlow knows them.
    """
    if "tensorflow" not in sys.modules:
        return {}
    import tensorflow as tf

    from gradcheck.checker.subject.private_names import Private, private

    facts = {}
    # Names that are not public may be gone in another version: the fact is then left out.
    with contextlib.suppress(Exception):
        kinds = [device.device_type for device in tf.config.list_physical_devices()]
        facts["device"] = " ".join(f"{kind}:{kinds.count(kind)}" for kind in sorted({*kinds}))
    with contextlib.suppress(Exception):
        facts["oneDNN"] = _on(private(Private.ONE_DNN)())
    with contextlib.suppress(Exception):
        facts["XLA"] = _on(bool(tf.config.optimizer.get_jit()))
    with contextlib.suppress(Exception):
        facts["deterministic ops"] = _on(private(Private.DETERMINISTIC)())
    return facts


def _on(flag: bool) -> str:
    return "on" if flag else "off"


def _version(package: str) -> str:
    return installed_version(package) or "not installed"
