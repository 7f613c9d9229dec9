"""gradcheck: proves TensorFlow gradients right, or shows which element is wrong and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcheck.checker.api import assert_gradients, check
    from gradcheck.errors import GradcheckError, UsageError
    from gradcheck.model import Comparison, Diagnosis, Element, Result, Tolerance, Verdict

__all__ = [
    "Comparison",
    "Diagnosis",
    "Element",
    "GradcheckError",
    "Result",
    "Tolerance",
    "UsageError",
    "Verdict",
    "assert_gradients",
    "check",
]

__version__ = "0.1.0"

_HOMES = {
    "assert_gradients": "gradcheck.checker.api",
    "check": "gradcheck.checker.api",
    "GradcheckError": "gradcheck.errors",
    "UsageError": "gradcheck.errors",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `import gradcheck` costs next to nothing, and no TensorFlow."""
    if name not in __all__:
        raise AttributeError(f"module 'gradcheck' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES.get(name, "gradcheck.model")), name)
    globals()[name] = value  # the next use finds it here
    return value
