"""Which version of a package is installed, and how versions compare; nothing is imported for it."""

from __future__ import annotations

import operator
import platform
import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_DISTRIBUTIONS = {
    "tensorflow": (
        "tensorflow",
        "tensorflow-cpu",
        "tf-nightly",
        "tf-nightly-cpu",
        "tensorflow-intel",
        "tensorflow-macos",
        "tensorflow-rocm",
    ),
    "keras": ("keras", "keras-nightly"),
}
"""Under which names a package is distributed, where it has several."""

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


@cache
def installed_version(package: str) -> str | None:
    """The version of a package, or of Python; None where it is not installed."""
    # (It imports a parser of mail, and most commands ask for no version.)
    from importlib import metadata

    if package == "python":
        return platform.python_version()
    for name in _DISTRIBUTIONS.get(package, (package,)):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version. 2.22.0rc0 is (2, 22, 0): a candidate has what the release will."""
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def compares(version: str, comparison: str, wanted: str) -> bool:
    """Whether a version is, say, `<` the wanted one, by as many numbers as that has.

    2.21.3 is == 2.21 and <= 2.21, and not > 2.21.
    """
    right = release(wanted)
    left = (*release(version), *([0] * len(right)))[: len(right)]
    return COMPARISONS[comparison](left, right)
