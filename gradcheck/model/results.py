"""What a check saw: elements, comparisons, the result of a case."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.model.cases import Case, CheckKind
from gradcheck.model.shown import Shown
from gradcheck.model.stages import Stage
from gradcheck.model.verdicts import Verdict

if TYPE_CHECKING:
    from gradcheck.model.arrays import Array, Scalar, Shape
    from gradcheck.model.called_gradients import GradientCall
    from gradcheck.model.close_ups import CloseUp


NO_DOUBLE = "the function has no double precision"
"""How the note begins of a gradient that was compared in its own precision alone: the bar is wide,
and an error below it would not show."""

NOTHING_TO_JUDGE = "nothing to judge"
JUDGED_SOME = "judged "
"""How a part of the note begins that says what a pass did not judge: all of it, or some outputs."""


ANOTHER_KIND = (
    "The gradient has not the shape or dtype of its input: look at what the gradient function of "
    "this input returns."
)
"""What a mismatch means where no numbers were compared."""

ANOTHER_IN_ITS_MODE = "another function in "
"""How the part of a note begins that says a gradient was compared with the derivative of what the
function is in its mode, which is not what it is eagerly."""

LEFT_CHANGED = "the function leaves changed: "
"""How the part of a note begins that says what of the process is not as it was before the case."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a gradient, as the oracles see it."""

    index: tuple[int, ...]
    value: Scalar
    """The value of the input there."""
    analytic: Scalar
    numeric: Scalar
    bound: float
    formula: Scalar | None = None
    left: Scalar | None = None
    right: Scalar | None = None
    """The one-sided derivatives, where they differ."""

    @property
    def error(self) -> float:
        """How far the analytic value is from the numeric one; at a kink, from the nearer side."""
        if self.left is None or self.right is None:
            return magnitude(self.analytic - self.numeric)
        nearest = complex(
            _between(self.analytic.real, self.left.real, self.right.real),
            _between(self.analytic.imag, self.left.imag, self.right.imag),
        )
        return magnitude(self.analytic - nearest)


def magnitude(value: Scalar) -> float:
    """The absolute value; infinite where Python's own raises, for complex numbers at the edge."""
    return math.hypot(value.real, value.imag)


def _between(value: float, one: float, other: float) -> float:
    return min(max(value, min(one, other)), max(one, other))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The likely cause of a mismatch."""

    cause: str
    """A short stable name: `sign`, `factor`, `transposed`, …"""
    text: str
    """One sentence for the report."""


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A function in the user's own code."""

    path: str
    """From the working directory, where it lies below that; else the whole path."""
    line: int
    """Where the function begins, counted from 1."""
    function: str
    """Its name, after those that it is nested in."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}, in {self.function}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Shown):
    """The gradient of one input against the numeric one, element by element."""

    name: str
    verdict: Verdict
    shape: Shape
    dtype: str
    check: CheckKind = CheckKind.REVERSE
    note: str = ""
    """What there is to say beyond the verdict's meaning."""
    judged: int = 0
    """How many elements were compared one by one."""
    directions: int = 0
    """How many random directions were compared on top, for inputs over the budget."""
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    error_bar: float | None = None
    """The numeric derivative's bound at the element where it is widest."""
    worst: tuple[Element, ...] = ()
    """The elements that stand out most, worst first."""
    failing: int = 0
    """How many elements are not as they should be."""
    analytic: Array | None = None
    numeric: Array | None = None
    bound: Array | None = None
    formula: Array | None = None
    """Whole arrays of the input's shape; None where there is nothing to show or it is too large."""
    diagnosis: Diagnosis | None = None
    places: tuple[CodePlace, ...] = ()
    """The user's gradient functions that made this gradient what it is: those that were found to be
    wrong by themselves or, where that cannot be told, all that ran, three at most."""
    decided_by: Stage | None = None
    """The stage of the check in which the verdict arose."""
    shades: str = ""
    """How wrong each element is, a digit for each, where a report told no more than that; see
    `report/error_shades`."""
    close_up: CloseUp | None = None
    """What the function does around the worst element, where a picture of it was asked for."""
    jacobian: tuple[str, ...] = ()
    """A row for each output, with a sign for each element of the input: `+` and `-` where moving
    it up moves the output, `0` where it does not, `?` where that is not known. Empty if nobody
    asked, or it would be too large to look at."""

    @property
    def elements(self) -> int:
        """How many elements the input has."""
        return math.prod(self.shape)

    @property
    def reservation(self) -> str:
        """What was not judged of a gradient that passes, in a few words; empty if all of it was."""
        told = (NOTHING_TO_JUDGE, JUDGED_SOME)
        parts = (part for part in self.note.split("; ") if part.startswith(told))
        return next(parts, "") if self.verdict.acceptable else ""

    @property
    def another_in_its_mode(self) -> str:
        """That the function gives other outputs in its mode than eagerly; empty as a rule."""
        parts = (part for part in self.note.split("; ") if part.startswith(ANOTHER_IN_ITS_MODE))
        return next(parts, "")

    @property
    def left_changed(self) -> str:
        """What the function left changed in its process; empty as a rule."""
        parts = (part for part in self.note.split("; ") if part.startswith(LEFT_CHANGED))
        return next(parts, "")

    @property
    def worst_index(self) -> tuple[int, ...] | None:
        """The index of the element that stands out most."""
        return self.worst[0].index if self.worst else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(Shown):
    """A Case, its Verdict, its Comparisons, its time."""

    id: str
    verdict: Verdict
    comparisons: tuple[Comparison, ...] = ()
    message: str = ""
    """What happened, where the comparisons do not say it: an exception, a signal, a time limit."""
    seconds: float = 0.0
    case: Case | None = None
    decided_by: Stage | None = None
    """The stage of the check in which the verdict arose; None for a case that was not run."""
    called: tuple[GradientCall, ...] | None = None
    """The registered gradient functions that were called on the ways back that were judged; None
    where nobody asked."""

    @property
    def meaning(self) -> str:
        """What the verdict means; of one that a stage of another kind made, what that means."""
        if self.decided_by is Stage.BUDGET:
            return Stage.BUDGET.meaning
        if self.decided_by is Stage.SHAPE and self.verdict is Verdict.MISMATCH:
            return ANOTHER_KIND
        return self.verdict.meaning

    @property
    def ended(self) -> bool:
        """Whether the check was over before everything was compared: then the message says why."""
        return bool(self.message)

    @property
    def expected(self) -> bool:
        """Whether the verdict is the one that the case expects.

        A known bug may be absent in a mode or a check that the run has added: that is no surprise.
        Nor is it that a gradient which is wrong by one input has derivatives that are by others.
        """
        expect = self.case.expect if self.case else None
        if expect is None or self.verdict is Verdict.SKIPPED:
            return self.verdict.acceptable
        if self.case is not None and self.case.added and self.verdict.acceptable:
            return True
        if isinstance(expect, Verdict):
            return self.verdict in self._as_good_as({expect})
        # What is expected of something that was not looked at did not come true.
        compared = {c.name for c in self.comparisons}
        if not self.comparisons or self.ended or not expect.keys() <= compared:
            return False
        case = self.case
        added = case is not None and case.added
        further = added and case is not None and CheckKind.REVERSE not in case.checks
        other = self._as_good_as({*expect.values()}) if further else set()
        return all(
            (c.name in expect and c.verdict == expect[c.name])
            or (c.verdict.acceptable and (added or c.name not in expect))
            or c.verdict in other
            for c in self.comparisons
        )

    def _as_good_as(self, expect: set[Verdict]) -> set[Verdict]:
        """The verdicts that are expected, and those that the same bug has in a check that is added.

        Forward mode goes through the gradient of each op: of an input for which that is None it
        says None, or zero.
        Without it `test_what_is_none_on_the_tape_and_zero_in_forward_mode` fails.
        """
        case = self.case
        forward = case is not None and case.added and case.checks == (CheckKind.FORWARD,)
        zero = {Verdict.MISMATCH} if forward and Verdict.DISCONNECTED in expect else set()
        return expect | zero

    @property
    def anything_judged(self) -> bool:
        """Whether there was a gradient to judge, right or wrong."""
        return any(not c.reservation.startswith(NOTHING_TO_JUDGE) for c in self.comparisons)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The likely cause of the first mismatch that has one."""
        return next((c.diagnosis for c in self.comparisons if c.diagnosis), None)

    @property
    def places(self) -> tuple[CodePlace, ...]:
        """The gradient functions that the comparisons point at, each once."""
        return tuple(dict.fromkeys(place for c in self.comparisons for place in c.places))
