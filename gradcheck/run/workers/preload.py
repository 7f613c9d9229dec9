"""Imported by the fork server before any worker exists: TensorFlow is loaded once, and quietly.

Workers fork from the process that imported this, so each has TensorFlow within milliseconds. No
op may run here: TensorFlow's threads do not survive a fork.
"""

from __future__ import annotations

import contextlib
import gc
import os

QUIET = {
    # Information and warnings are about the machine, not about the case; errors stay.
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "GRPC_VERBOSITY": "ERROR",
    "GLOG_minloglevel": "2",
}


def _silence() -> None:
    """Send what libraries print while they load to nowhere; each worker opens its own outputs."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _load() -> None:
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    # A broken TensorFlow must not end the fork server: the worker imports it again and then has
    # a case to tell the reason in.
    with contextlib.suppress(Exception):
        import tensorflow  # noqa: F401  (loaded for its effect)

        import gradcheck.checker  # noqa: F401  (loaded for its effect)
    # Objects that exist now are never collected: workers keep sharing their memory pages.
    gc.freeze()


_silence()
_load()
