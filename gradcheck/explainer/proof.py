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
    "PROOF_TOLERANCE",
    "Proof",
    "beside_the_tape",
    "could_not_be_asked",
    "difference_told",
    "in_single",
    "moved_within",
    "proof_of",
    "proof_section",
    "visible_within",
]

PROOF_TOLERANCE = 2.0**-36
"""Rounding granted between two exact formulas, relative to the gradient's largest element."""


NUMERIC_SMALL = 2.0**-18
"""A formula that is as close as this to differences is what they say."""


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
    said: str = ""
    """Where the tape, or the formula, is wrong: by how much, and at which element."""
    points: int = 1
    """How many points it was made at: the errors are the largest."""
    tape_is_wrong: bool = False
    """Whether differences contradict the tape."""


def proof_of(comparison: Comparison, formula: str, value: Array, structure: str) -> Proof:
    """The value of a printed formula beside what a check found for the same gradient."""
    tape, numeric = comparison.analytic, comparison.numeric
    tape_is_wrong = comparison.verdict in (
        Verdict.MISMATCH,
        Verdict.NONFINITE,
        Verdict.DISCONNECTED,
    )
    if tape is None or numeric is None or value.shape != tape.shape:
        none = comparison.verdict is Verdict.DISCONNECTED
        said = f"For {comparison.name} the tape gives None, though the output depends on it."
        off = np.inf
        found = Proof(
            comparison.name, formula, off, off, off, holds=False, said=said if none else ""
        )
        return replace(found, tape_is_wrong=tape_is_wrong)
    if comparison.judged < value.size and structure in ("", "general"):
        # (Of what is dear some elements are compared, and the rest along directions.)
        numeric = np.where(np.isnan(numeric), tape, numeric)
        value = np.where(np.isnan(tape), tape, value)
        value, tape, numeric = (np.nan_to_num(x, nan=0.0) for x in (value, tape, numeric))
    value = moved_within(value, structure)
    tape, numeric = visible_within(tape, structure), visible_within(numeric, structure)
    scale = max(1.0, float(np.max(np.abs(tape), initial=0.0)))

    def apart(one: Array, other: Array) -> float:
        return float(np.max(np.abs(one - other), initial=0.0)) / scale

    from_tape, from_numeric = apart(value, tape), apart(value, numeric)
    judged_right = comparison.verdict in (Verdict.PASS, Verdict.KINK)
    found = Proof(
        comparison.name,
        formula,
        from_tape,
        from_numeric,
        apart(tape, numeric),
        holds=judged_right and from_tape <= PROOF_TOLERANCE,
        tape_is_wrong=tape_is_wrong,
    )
    return found if found.holds else replace(found, said=_told(found, value, tape, numeric))


def _told(proof: Proof, value: Array, tape: Array, numeric: Array) -> str:
    """Which of the three is wrong: the one that the two others contradict."""
    name = proof.name
    undefined = ~np.isfinite(value) & np.isfinite(numeric)
    if undefined.any():
        return _told_undefined(name, undefined, tape, numeric)
    if proof.against_numeric < proof.against_tape and proof.against_numeric < NUMERIC_SMALL:
        wrong = difference_told(name, value, tape, "the tape's gradient", PROOF_TOLERANCE)
        return f"{wrong} Differences of the function are on the side of the derivation."
    told = difference_told(name, tape, value, "the formula of this page", PROOF_TOLERANCE)
    if not told or proof.against_tape <= PROOF_TOLERANCE:
        return difference_told(name, numeric, tape, "what differences give", PROOF_TOLERANCE)
    return told


def _told_undefined(name: str, where: Array, tape: Array, numeric: Array) -> str:
    """Of a formula that is no number where there is a derivative all the same."""
    place = tuple(int(i) for i in np.argwhere(where)[0])
    at = f"{name}[{', '.join(map(str, place))}]" if place else name
    gives, says = float(tape[place]), float(numeric[place])
    right = abs(gives - says) <= NUMERIC_SMALL * max(1.0, abs(says))
    told = (
        f"For {name} the formula of this page is no number at {at}: it divides by 0 there, or the "
        f"like. Differences of the function give {says:.6g}"
    )
    return f"{told}, and so does the tape." if right else f"{told}; the tape gives {gives:.6g}."


def difference_told(name: str, right: Array, other: Array, who: str, tolerance: float) -> str:
    """A sentence about where `other` is not `right`, and by how much; empty where it is.

    Args:
        name: the input.
        right: what is derived.
        other: what is held against it.
        who: what `other` is.
        tolerance: what is granted, relative to the largest element.
    """
    if right.shape != other.shape:
        return f"For {name} {who} has the shape {list(other.shape)}, not {list(right.shape)}."
    with np.errstate(all="ignore"):
        apart = np.abs(other - right)
    apart = np.where(np.isnan(apart), np.inf, apart)
    scale = max(1.0, float(np.max(np.abs(right), initial=0.0, where=np.isfinite(right))))
    off = int(np.count_nonzero(apart > tolerance * scale))
    if not off:
        return ""
    worst = np.unravel_index(int(np.argmax(apart)), apart.shape)
    place = f"{name}[{', '.join(map(str, worst))}]" if apart.ndim else name
    derived, given = float(right[worst]), float(other[worst])
    share = f", {abs(given - derived) / abs(derived):.2g} of it" if derived else ""
    far = f"off by {float(apart[worst]):.3g}{share}"
    return (
        f"For {name} {who} DIFFERS from the derivation: at {place} it is {given:.6g} where it "
        f"should be {derived:.6g}, {far}; {off} of {apart.size} elements differ."
    )


def could_not_be_asked(message: str, known: str) -> str:
    """What is said where there is no tape to prove formulas with."""
    told = message.rstrip(".")
    return (
        f"TensorFlow could not be asked: {told}. {known}"
        if known
        else f"TensorFlow could not be asked: {message}"
    )


def beside_the_tape(proof: Proof) -> Proof:
    """Where a value is held fixed, the gradient is not the derivative: the tape alone decides."""
    if math.isnan(proof.against_numeric):
        return proof
    holds = proof.against_tape <= PROOF_TOLERANCE
    said = _HELD if holds and proof.said else proof.said
    nothing = math.nan
    return replace(
        proof, against_numeric=nothing, tape_against_numeric=nothing, holds=holds, said=said
    )


_HELD = (
    "A value is held fixed here by stop_gradient. Differences of the function move it like "
    "everything else, so that they give another number: the tape alone is beside the formulas."
)


def in_single(proof: Proof, *, holds: bool) -> Proof:
    """What was computed in float32 is held to the digits of that."""
    return replace(proof, holds=holds, said="" if holds else proof.said)


def visible_within(gradient: Array, structure: str) -> Array:
    """Of matrices that are moved within a structure the check gives the lower triangle."""
    return np.tril(gradient) if structure in ("symmetric", "lower") else gradient


def moved_within(gradient: Array, structure: str) -> Array:
    """The derivative along each move: of a symmetric matrix two elements move together."""
    if structure == "symmetric":
        twice = gradient + np.swapaxes(gradient, -1, -2)
        return np.tril(twice - np.eye(gradient.shape[-1]) * gradient)
    return visible_within(gradient, structure)


def proof_section(proofs: list[Proof], known: str = "") -> Section:
    """The errors, as a table.

    Args:
        proofs: of all that is printed.
        known: what TensorFlow is known to get wrong, which is said where it is wrong.
    """
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
    count = max((proof.points for proof in proofs), default=1)
    where = "At a random point" if count == 1 else f"At {count} random points, on both sides of "
    where += "" if count == 1 else "the conditions in the formulas,"
    text = (
        f"{where} with a random G; {'the largest ' if count > 1 else ''}errors relative to the "
        "largest element of the gradient. The code is run as it is printed."
    )
    first: dict[str, str] = {}
    for proof in proofs:
        if proof.said:
            first.setdefault(proof.name, proof.said)
    sentences = [*first.values()]
    sentences += [known] if known and any(proof.tape_is_wrong for proof in proofs) else []
    said = [Paragraph(sentence) for sentence in dict.fromkeys(sentences)]
    return Section("Proof", (Paragraph(text), Table(head, rows), *said))


def _shown(error: float) -> str:
    return "–" if math.isnan(error) else f"{error:.1e}"
