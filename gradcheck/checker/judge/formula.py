"""The third oracle: a closed formula, declared with the op or claimed in the spec.

Measured, classified and put into words one after the other: what the formula gives, how that stands
to the tape and to the numeric derivative, and what is to be said about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.judge.figures import place
from gradcheck.checker.judge.rounding import formula_spread
from gradcheck.checker.numerics.vectors import to_double
from gradcheck.checker.subject.tensors import in_double
from gradcheck.model import Array, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence, OfInput
    from gradcheck.checker.judge.figures import Figures
    from gradcheck.checker.subject.problem import Formula


class Standing(Enum):
    """How a formula stands to the tape."""

    UNUSABLE = auto()
    """It cannot be evaluated, or gives no number."""
    MISSHAPEN = auto()
    SILENT = auto()
    """There is nothing to compare, or only rounding and overflow to see."""
    AGREES = auto()
    LEFT_ASIDE = auto()
    """The tape and the numeric derivative agree, and not with this declaration of ours."""
    DIFFERS = auto()


UNUSABLE = {Standing.UNUSABLE: Verdict.ERROR, Standing.MISSHAPEN: Verdict.MISMATCH}
"""What follows, whatever the numbers say, of a formula that nothing can be compared with."""


@dataclass(frozen=True, eq=False)
class Opinion:
    """What a formula says of one gradient."""

    standing: Standing
    note: str = ""
    """What is to be said about it."""
    values: Array | None = None
    """What it gives, where that is an array of the right shape."""
    differing: int = 0
    """How many elements differ."""


def opinions(evidence: Evidence, own: OfInput, figures: Figures, numbers: Verdict) -> list[Opinion]:
    """What the declared formula and the claim say, as far as there are any.

    Args:
        evidence: what is known of all the gradients.
        own: what is known of this one.
        figures: the numbers that are shown of it.
        numbers: the verdict that they suggest.
    """
    problem, name = evidence.point.problem, own.operand.name
    told = []
    for source, what in ((problem.formulas, _DECLARED), (problem.claims, _CLAIMED)):
        formula = source.get(name)
        if formula is not None:
            told.append(_Case(evidence, own, figures, numbers, formula, what).opinion())
    return told


_DECLARED, _CLAIMED = "the declared formula", "the claimed gradient"


@dataclass(frozen=True, eq=False)
class _Case:
    """One formula against one gradient."""

    evidence: Evidence
    own: OfInput
    figures: Figures
    numbers: Verdict
    """What the numeric derivative suggests."""
    formula: Formula
    what: str

    @property
    def claimed(self) -> bool:
        """Whether the spec says it; else the op's declaration does."""
        return self.what is _CLAIMED

    def opinion(self) -> Opinion:
        """Evaluate the formula and see how it stands."""
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(self.formula(*self._arguments()))
        except Exception as raised:  # whatever a formula of the user's may raise
            note = f"{self.what} cannot be evaluated: {type(raised).__name__}: {raised}"
            return Opinion(Standing.UNUSABLE, note)
        operand = self.own.operand
        if values.shape != operand.value.shape:
            note = (
                f"{self.what} has shape {list(values.shape)}, but {operand.name} has shape "
                f"{list(operand.value.shape)}: a gradient has the shape of its input"
            )
            return Opinion(Standing.MISSHAPEN, note)
        if not np.issubdtype(values.dtype, np.number) and values.dtype != np.bool_:
            return Opinion(Standing.UNUSABLE, f"{self.what} is not a number")
        if not values.size:
            return Opinion(Standing.SILENT, values=values)
        return self._compared(values)

    def _arguments(self) -> tuple[list[Array], list[Array], list[Array]]:
        """Inputs, upstream and outputs, in double precision."""
        point = self.evidence.point
        inputs = point.values if point.precision is None else in_double(point.values)
        return list(inputs), list(point.upstream), in_double(self.evidence.passed.outputs)

    def _compared(self, shown: Array) -> Opinion:
        """How the formula's values stand to the tape's."""
        structure = self.own.operand.structure
        gradient = within(to_double(np.asarray(self.own.gradient)), structure)
        values = within(shown, structure)
        with np.errstate(all="ignore"):
            error = np.abs(gradient - values)
            allowed = self._allowed(values)
            same = (error <= allowed) | (gradient == values)
            same |= np.isnan(gradient) & np.isnan(values)
        if same.all():
            note = f"{self.what} agrees with the tape where the numeric derivative could not judge"
            return Opinion(Standing.AGREES, note, shown)
        if not self.claimed and self._is_contradicted(values):
            index = _worst(same, error)
            note = (
                f"{self.what} does not hold at this point and was left aside: at {place(index)} "
                f"it gives {values[index]:.8g}, where the tape and the numeric derivative agree"
            )
            return Opinion(Standing.LEFT_ASIDE, note, shown)
        # What overflows in a formula of ours says nothing, neither for the tape nor against it.
        same |= ~np.isfinite(values) & (not self.claimed)
        if not same.all():
            # Before blame: how much of the difference may be rounding in the formula?
            seed = self.evidence.point.problem.seed
            spread = within(formula_spread(self.formula, *self._arguments(), seed), structure)
            with np.errstate(all="ignore"):
                same |= error <= allowed + tolerances.FORMULA_SAFETY * spread
        if same.all():
            return Opinion(Standing.SILENT, values=shown)
        index = _worst(same, error)
        note = (
            f"{self.what} differs from the tape at {place(index)}: it gives {values[index]:.8g}, "
            f"the tape {gradient[index]:.8g}"
        )
        if self.numbers in (Verdict.PASS, Verdict.KINK):
            note += ", and the numeric derivative agrees with the tape"
        if self.numbers is Verdict.KINK and not self.claimed:
            # At a kink two formulas may choose different values, and both be right.
            return Opinion(Standing.SILENT, values=shown)
        return Opinion(Standing.DIFFERS, note, shown, int((~same).sum()))

    def _allowed(self, values: Array) -> Array | float:
        """How far the two may be apart."""
        largest = np.max(np.abs(values[np.isfinite(values)]), initial=0.0)
        allowed = tolerances.FORMULA * largest
        if self.numbers is Verdict.INCONCLUSIVE or self.figures.bound is None:
            return float(allowed)
        # Where the function itself is noisy, two formulas may differ as much as it does.
        return np.asarray(allowed + np.nan_to_num(self.figures.bound, nan=0.0, posinf=0.0))

    def _is_contradicted(self, values: Array) -> bool:
        """Whether the numeric derivative agrees with the tape and speaks against the formula.

        Without it `test_a_declaration_that_is_wrong_is_no_fault_of_the_gradient` fails.
        """
        numeric, bound = self.figures.numeric, self.figures.bound
        if self.numbers is not Verdict.PASS or numeric is None or bound is None:
            return False
        with np.errstate(all="ignore"):
            largest = np.max(np.abs(numeric[np.isfinite(numeric)]), initial=0.0)
            allowed = tolerances.BOUND_SAFETY * bound + tolerances.FORMULA * largest
            against = np.abs(values - numeric) > allowed
            against |= np.isfinite(numeric) & ~np.isfinite(values)
        return bool(against.any())


def _worst(same: Array, error: Array) -> tuple[int, ...]:
    """Where the error is largest among those that are not the same."""
    most = np.argmax(np.where(same, -1, np.nan_to_num(error, nan=np.inf)))
    return tuple(int(i) for i in np.unravel_index(most, same.shape))


def within(gradient: Array, structure: str) -> Array:
    """The part of a gradient that a change within the structure can see.

    Of a symmetric matrix both halves move together, so how a gradient is shared out between them
    is a convention: TensorFlow's differs from op to op.
    """
    if structure == "symmetric":
        return np.asarray((gradient + np.conj(np.swapaxes(gradient, -1, -2))) / 2)
    return np.tril(gradient) if structure == "lower" else gradient
