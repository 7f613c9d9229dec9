"""The frameworks that are compared: TensorFlow always, torch and jax where they are installed."""

from __future__ import annotations

import os
import platform
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

import gradcheck

OPTIONAL = ("torch", "jax")
"""Measured where they are installed, left out with a note elsewhere."""


def installed(framework: str) -> bool:
    """Whether it can be imported; looks, and does not import."""
    return find_spec(framework) is not None


def load(framework: str) -> Any:
    """The framework's module: without start-up noise, and in double precision."""
    # TensorFlow reads this when it is imported.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    module: Any = import_module(framework)
    if framework == "jax":
        module.config.update("jax_enable_x64", True)
    return module


def environment() -> list[tuple[str, str]]:
    """What the figures depend on, without a date: the same machine gives the same text."""
    versions = [
        (name, metadata.version(name))
        for name in ("tensorflow", "numpy", *OPTIONAL)
        if installed(name)
    ]
    return [
        ("gradcheck", gradcheck.__version__),
        *versions,
        ("python", platform.python_version()),
        ("processors", f"{os.cpu_count()} × {platform.machine()}"),
    ]


def note_of_missing() -> str:
    """One sentence on what was left out; empty if nothing was."""
    missing = [name for name in OPTIONAL if not installed(name)]
    if not missing:
        return ""
    verb = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(missing)} {verb} not installed and left out."
