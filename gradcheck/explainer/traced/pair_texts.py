"""Complex numbers as two texts, and what adding and multiplying makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gradcheck.explainer.traced.read_texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array

__all__ = ["Half", "Pair", "Pairs", "conjugate", "difference", "negative", "part", "product",
           "total"]  # fmt: skip

Half = str | None
"""The real or the imaginary part, as text; None is zero, which nothing is written for."""
Pair = tuple[Half, Half]


class Pairs(Texts, Protocol):
    """What a rule may ask of an op that is given complex numbers, or gives them."""

    def moves(self, place: int) -> bool:
        """Whether an input depends on those of the function."""

    def value(self, place: int) -> Array:
        """What it was given."""

    def is_complex(self, place: int) -> bool:
        """Whether an input is complex."""

    def pair(self, place: int) -> Pair:
        """The real and the imaginary part of an input."""

    def constant(self, value: Array, told: str, code: str = "") -> str:
        """The name of an array that stands still, what it is, and what makes it."""


def part(half: Half, text: str) -> Half:
    """The text with this half in it; zero stays zero."""
    return None if half is None else text.format(half)


def negative(half: Half) -> Half:
    """-x."""
    return part(half, "(-{})")


def conjugate(pair: Pair) -> Pair:
    """The number a - ib."""
    return pair[0], negative(pair[1])


def total(first: Half, second: Half) -> Half:
    """The sum of two halves."""
    if first is None or second is None:
        return first or second
    return f"({first} + {second})"


def difference(first: Half, second: Half) -> Half:
    """The distance of two halves."""
    if first is None or second is None:
        return first or negative(second)
    return f"({first} - {second})"


def product(first: Half, second: Half, by: Callable[[str, str], str]) -> Half:
    """x·y, in the way that is given."""
    return None if first is None or second is None else by(first, second)
