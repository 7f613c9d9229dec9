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


MOVE = (
    "In an inner product a factor moves over to the other side transposed, a left one to the left "
    "and a right one to the right: sum(A ⊙ (B C)) = sum((Bᵀ A) ⊙ C) = sum((A Cᵀ) ⊙ B)."
)

LAST_AXIS_IS_APART = (
    "Every axis but the last is a batch axis, and what belongs to the last alone is summed over "
    "them."
)

COMPLEX_LOSS = (
    "L is real, so along a change it changes by the real part of an inner product, with G "
    "conjugated. A factor moves over to the other side transposed and conjugated."
)

LAST_IS_TRANSFORMED = "Every axis but the last is a batch axis."
