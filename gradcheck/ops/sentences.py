"""Sentences that more than one family prints: pitfalls, and a rule that derivations lean on."""

from __future__ import annotations

BROADCAST_IS_SUMMED = "An input that was broadcast gets the gradient summed over the repeated axes."

HALVES_ARE_A_CONVENTION = (
    "The input is symmetric, so how the gradient is shared between its two halves is a convention: "
    "TensorFlow's differs from op to op."
)

MOVE = (
    "In an inner product a factor moves over to the other side transposed, a left one to the left "
    "and a right one to the right: sum(A ⊙ (B C)) = sum((Bᵀ A) ⊙ C) = sum((A Cᵀ) ⊙ B)."
)

LAST_AXIS_IS_APART = (
    "Every axis but the last is a batch axis, and what belongs to the last alone is summed over "
    "them."
)
