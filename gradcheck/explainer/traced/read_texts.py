"""What the rules that write ops as calls have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from gradcheck.model import Shape

__all__ = ["NoRule", "Texts", "given", "must", "number", "word"]


class NoRule(Exception):  # noqa: N818  (an answer: the op stays closed)
    """There is no declared op that this one is."""


class Texts(Protocol):
    """What a rule may ask of an op that ran."""

    @property
    def count(self) -> int:
        """How many inputs it has."""

    def x(self, place: int) -> str:
        """An input: a name, or a constant that is written out."""

    def plain(self, place: int) -> Any:
        """An input's value, as plain numbers and lists; NoRule where it depends on inputs."""

    def moves(self, place: int) -> bool:
        """Whether an input depends on the inputs of the function."""

    def shape(self, place: int) -> Shape:
        """The shape of an input."""

    def out_shape(self, place: int) -> Shape:
        """The shape of an output."""

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the op."""


def must(condition: bool) -> None:
    """NoRule where the op is called in a way that no declared one is."""
    if not condition:
        raise NoRule("called in a way that is not declared")


def given(**named: Any) -> str:
    """Keyword arguments, those left out that say nothing."""
    return "".join(f", {k}={v!r}" for k, v in named.items() if v not in (None, False, ""))


def word(value: Any) -> str:
    """An attribute that is a text."""
    return value.decode() if isinstance(value, bytes) else str(value)


def number(op: Texts, place: int) -> float:
    """The one number that an input holds, as often as it may stand there."""
    values = np.unique(np.asarray(op.plain(place)))
    must(values.size == 1)
    return float(values[0])
