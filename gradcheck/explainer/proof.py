"""What a printed formula is proved by: its errors against the tape and central differences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer.document import Paragraph, Section, Table
from gradcheck.model import Array, Verdict

if TYPE_CHECKING:
    from gradcheck.model import Comparison

__all__ = [
    "Proof",
    "beside_the_tape",
    "moved_within",
    "proof_of",
    "proof_section",
    "visible_within",
]

PROOF_TOLERANCE = 2.0**-36
"""Rounding granted between two exact formulas, relative to the gradient's largest element."""


@dataclass(frozen=True)
class Proof:
    """One printed formula against the two other oracles; errors relative to the largest element.

    NaN stands where there is nothing to compare with: code is run beside the tape alone.
    """

    name: str
    formula: str
    against_tape: float
    against_numeric: float
    tape_against_numeric: float
    holds: bool


def proof_of(comparison: Comparison, formula: str, value: Array, structure: str) -> Proof:
    """The value of a printed formula beside what a check found for the same gradient."""
    tape, numeric = comparison.analytic, comparison.numeric
    if tape is None or numeric is None or value.shape != tape.shape:
        return Proof(comparison.name, formula, np.inf, np.inf, np.inf, holds=False)
    value = moved_within(value, structure)
    tape, numeric = visible_within(tape, structure), visible_within(numeric, structure)
    scale = max(1.0, float(np.max(np.abs(tape), initial=0.0)))

    def apart(one: Array, other: Array) -> float:
        return float(np.max(np.abs(one - other), initial=0.0)) / scale

    from_tape = apart(value, tape)
    judged_right = comparison.verdict in (Verdict.PASS, Verdict.KINK)
    return Proof(
        comparison.name,
        formula,
        from_tape,
        apart(value, numeric),
        apart(tape, numeric),
        holds=judged_right and from_tape <= PROOF_TOLERANCE,
    )


def beside_the_tape(proof: Proof) -> Proof:
    """Where a value is held fixed, the gradient is not the derivative: the tape alone decides."""
    if math.isnan(proof.against_numeric):
        return proof
    holds = proof.against_tape <= PROOF_TOLERANCE
    return replace(proof, against_numeric=math.nan, tape_against_numeric=math.nan, holds=holds)


def visible_within(gradient: Array, structure: str) -> Array:
    """Of matrices that are moved within a structure the check gives the lower triangle."""
    return np.tril(gradient) if structure in ("symmetric", "lower") else gradient


def moved_within(gradient: Array, structure: str) -> Array:
    """The derivative along each move: of a symmetric matrix two elements move together."""
    if structure == "symmetric":
        twice = gradient + np.swapaxes(gradient, -1, -2)
        return np.tril(twice - np.eye(gradient.shape[-1]) * gradient)
    return visible_within(gradient, structure)


def proof_section(proofs: list[Proof]) -> Section:
    """The errors, as a table."""
    rows = tuple(
        (
            f"∂L/∂{p.name}",
            p.formula,
            _shown(p.against_tape),
            _shown(p.against_numeric),
            _shown(p.tape_against_numeric),
            "holds" if p.holds else "FAILS",
        )
        for p in proofs
    )
    head = ("gradient", "printed as", "formula−tape", "formula−numeric", "tape−numeric", "")
    text = (
        "At a random point with a random G; errors relative to the largest element of the "
        "gradient. The code is run as it is printed."
    )
    return Section("Proof", (Paragraph(text), Table(head, rows)))


def _shown(error: float) -> str:
    return "–" if math.isnan(error) else f"{error:.1e}"
