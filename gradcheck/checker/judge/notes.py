"""What a reader of a comparison should know besides its numbers, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.judge.agreement import INCONCLUSIVE, MISMATCH, NONFINITE, Agreement
from gradcheck.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.judge.describe import Part
    from gradcheck.checker.reference.reference import Reference
    from gradcheck.model import Array, Estimate, Shape


def another_shape(seen: Shape, wanted: Shape, outputs: Sequence[Shape]) -> str:
    """A gradient that does not have its input's shape, and what is likely to mend that."""
    note = f"the gradient has shape {list(seen)}, but its input has shape {list(wanted)}"
    if seen in outputs:
        note += ": that is the output's. "
        if math.prod(seen) > math.prod(wanted):
            return note + "Sum it over the axes that the input was broadcast along"
        if math.prod(seen) < math.prod(wanted):
            return note + "Spread it over the axes that the function reduces"
        return note + "Bring it back to the input's"
    if seen == wanted[::-1]:
        return f"{note}: perhaps it is transposed"
    if math.prod(seen) == math.prod(wanted):
        return f"{note}: perhaps it only lacks a tf.reshape"
    return note


def notes_on(
    reference: Reference, part: Part, gradient: Array, estimate: Estimate, agreement: Agreement
) -> list[str]:
    """What a reader of the numbers should know besides."""
    notes = []
    if reference.no_double:
        notes.append(
            "the function has no double precision, so the numeric derivative was taken in its own "
            f"({reference.no_double})"
        )
    rounds_to = reference.noise.rounds_to
    if rounds_to and reference.is_rough and not reference.no_double:
        notes.append(
            f"the function rounds inside, to about {-math.log2(rounds_to):.0f} bits, and the bar "
            "is that wide"
        )
    broken = agreement.grades == NONFINITE
    if broken.any():
        notes.append(_nonfinite_note(reference, part, gradient, broken))
    if (estimate.kink & (agreement.grades == MISMATCH)).any():
        notes.append(
            "the function has a kink there: its gradient may be anything between the one-sided "
            "derivatives, but not outside of them"
        )
    if agreement.rounding:
        notes.append(
            "what the gradient is off is what its own arithmetic loses where results cancel on the "
            "way to it"
        )
    unknown = int(np.count_nonzero(agreement.grades == INCONCLUSIVE))
    if unknown and agreement.overall is Verdict.INCONCLUSIVE:
        hidden = f"{unknown} of {len(agreement.grades)} derivatives"
        lost = np.flatnonzero(~np.isfinite(reference.evaluator.base))
        if len(lost):
            first = _output_at(reference, int(lost[0]))
            notes.append(
                f"the function is not finite at this point ({first}), which hides {hidden}"
            )
        elif (estimate.kink & (agreement.grades == INCONCLUSIVE)).any():
            notes.append(
                "the function has a kink there, and beside it the gradient varies more than the "
                "one-sided derivatives tell, as where more than two elements tie: choose another "
                "point"
            )
        else:
            notes.append(f"rounding in the function or its gradient hides {hidden}")
            if reference.noise.relative > tolerances.COARSE:
                notes.append(
                    "if the function rounds on purpose, as one that quantises does, and its "
                    "gradient passes straight through, say `expect: inconclusive` and why"
                )
    return notes


def _nonfinite_note(reference: Reference, part: Part, gradient: Array, broken: Array) -> str:
    """How many elements are NaN, how many infinite, and what the function is there."""
    parts = 2 if reference.evaluator.inputs.complex_[part.position] else 1
    element = reference.coordinates.element[part.span] // parts
    nan, infinite = (
        np.unique(element[broken & kind]) for kind in (np.isnan(gradient), np.isinf(gradient))
    )
    counts = [(nan, "NaN"), (infinite, "infinite")]
    said = " and ".join(f"{len(at)} {kind}" for at, kind in counts if len(at))
    evaluator = reference.evaluator
    base, outputs = evaluator.base, evaluator.outputs
    if not len(base):
        return f"{said}, of a function whose output is empty"
    if not np.isfinite(base).all():
        finite = int(np.isfinite(base).sum())
        return f"{said}; {finite} of the {len(base)} numbers that the function returns are finite"
    if outputs.shapes == (evaluator.inputs.shapes[part.position],):
        first = int(np.union1d(nan, infinite)[0])
        there = _output_at(reference, first * (2 if outputs.complex_[0] else 1))
        return f"{said}, where the function is finite ({there})"
    there = _output_at(reference, 0)
    if len(base) > 1:
        there = f"its outputs lie between {base.min():.6g} and {base.max():.6g}"
    return f"{said}; the function is finite ({there})"


def _output_at(reference: Reference, flat: int) -> str:
    """An output by its index, and its value."""
    outputs = reference.evaluator.outputs
    which = int(np.searchsorted(outputs.offsets, flat, side="right")) - 1
    per_element = 2 if outputs.complex_[which] else 1
    within = (flat - outputs.offsets[which]) // per_element
    index = tuple(int(i) for i in np.unravel_index(within, outputs.shapes[which]))
    value = outputs.unflatten(reference.evaluator.base)[which][index]
    name = "the output" if len(outputs.shapes) == 1 else f"output {which}"
    return f"{name}{f' at {list(index)}' if index else ''} is {value:.6g}"
