"""gradcheck: proves TensorFlow gradients right, or shows which element is wrong and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcheck.checker.api import check
    from gradcheck.errors import GradcheckError, UsageError
    from gradcheck.explainer.explanation import Explanation, explain
    from gradcheck.model import Comparison, Diagnosis, Element, Result, Tolerance, Verdict
    from gradcheck.testing.assertion import assert_gradients
    from gradcheck.testing.variants import parametrize

    __version__: str

__all__ = [
    "Comparison",
    "Diagnosis",
    "Element",
    "Explanation",
    "GradcheckError",
    "Result",
    "Tolerance",
    "UsageError",
    "Verdict",
    "assert_gradients",
    "check",
    "explain",
    "parametrize",
]

_HOMES = {
    "assert_gradients": "gradcheck.testing.assertion",
    "check": "gradcheck.checker.api",
    "Explanation": "gradcheck.explainer.explanation",
    "explain": "gradcheck.explainer.explanation",
    "GradcheckError": "gradcheck.errors",
    "UsageError": "gradcheck.errors",
    "parametrize": "gradcheck.testing.variants",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `import gradcheck` costs next to nothing, and no TensorFlow."""
    if name == "__version__":
        return _version()
    if name not in __all__:
        raise AttributeError(f"module 'gradcheck' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES.get(name, "gradcheck.model")), name)
    globals()[name] = value  # the next use finds it here
    return value


def _version() -> str:
    """What is installed; a tree that nobody installed has no version."""
    from importlib import metadata

    try:
        return metadata.version("gradcheck")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def __dir__() -> list[str]:
    """What there is for users, whether or not it was used before."""
    return sorted([*__all__, "__version__"])
