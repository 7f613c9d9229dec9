"""Names of inputs that mean something else on a page, and what they are called there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from gradcheck.ops.language.vocabulary import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Renaming", "renamed"]

Kind = TypeVar("Kind")

_MEANINGS = {
    "G": "the upstream gradient",
    "I": "the identity matrix",
    "out": "the output",
    "dout": "the change of the output",
    "e": "Euler's number",
    "pi": "the number π",
    "inf": "infinity",
    "math": "a module in the code",
    "tf": "TensorFlow in the code",
    "keras": "Keras in the code",
}
"""By name: what it is on a page."""


@dataclass(frozen=True)
class Renaming:
    """What inputs are called on a page in place of their own names, and why."""

    names: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    def of(self, values: Mapping[str, Kind]) -> dict[str, Kind]:
        """The values under the names of the page."""
        return {self.names.get(name, name): value for name, value in values.items()}

    def text(self, text: str) -> str:
        """An expression with the names of the page; it must be one that can be read."""
        if not self.names:
            return text
        tree = ast.parse(text.strip(), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = self.names.get(node.id, node.id)
        return ast.unparse(tree)


def renamed(names: Iterable[str]) -> Renaming:
    """Other names for those inputs that could be taken for something else."""
    given = list(names)
    found: dict[str, str] = {}
    reasons = []
    for name in given:
        meaning = _meaning(name, given)
        if meaning:
            found[name] = _fresh(name, {*given, *found.values()})
            reasons.append(
                f"The input {name} is written {found[name]} here, in the code too: "
                f"{name} is {meaning}."
            )
    return Renaming(found, tuple(reasons))


def _meaning(name: str, given: list[str]) -> str:
    if name in _MEANINGS:
        return _MEANINGS[name]
    if name in CONSTANTS:
        return "a constant of the language"
    if name.startswith("d") and name[1:] in given:
        return f"what the code calls the gradient of {name[1:]}"
    if name.endswith("_bar"):
        return "what the gradient of a step is called"
    return ""


def _fresh(name: str, taken: set[str]) -> str:
    base = name.removesuffix("_bar").rstrip("0123456789_") or "x"
    return next(new for i in range(1, 1000) if (new := f"{base}{i}") not in taken)
