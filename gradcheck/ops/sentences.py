"""Sentences that more than one family prints: pitfalls, and a rule that derivations lean on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Mapping

BROADCAST_IS_SUMMED = "An input that was broadcast gets the gradient summed over the repeated axes."


def halves(given: str, at: Mapping[str, Any], tape: Any, expr: str = "") -> Seen:
    """How TensorFlow shares the gradient of a symmetric matrix between its two halves."""
    return Seen(
        "The input is symmetric, so how the gradient is shared between its two halves is a "
        f"convention: TensorFlow gives it {given}.",
        at,
        dict.fromkeys(at, tape),
        expr=expr,
    )


def moved_over(a: str, b: str, c: str) -> str:
    """The rule by which factors change sides, of three matrices that are called so."""
    return (
        "In an inner product a factor moves over to the other side transposed, a left one to the "
        f"left and a right one to the right: sum({a} ⊙ ({b} {c})) = sum(({b}ᵀ {a}) ⊙ {c}) = "
        f"sum(({a} {c}ᵀ) ⊙ {b})."
    )


MOVE = moved_over("A", "B", "C")
"""The rule as declarations have it; a page writes it with letters that are free there."""


LAST_AXIS_IS_APART = (
    "Every axis but the last is a batch axis, and what belongs to the last alone is summed over "
    "them."
)

COMPLEX_LOSS = (
    "L is real, so along a change it changes by the real part of an inner product, with G "
    "conjugated. A factor moves over to the other side transposed and conjugated."
)

LAST_IS_TRANSFORMED = "Every axis but the last is a batch axis."
