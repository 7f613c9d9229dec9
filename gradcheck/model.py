"""The nouns of gradcheck, as frozen dataclasses over the standard library and numpy.

Everything here can be pickled and sent to another process, and nothing here computes: a Case is
what the spec said, a Result is what the check saw.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

if TYPE_CHECKING:
    from gradcheck.errors import SpecProblem

Array = npt.NDArray[Any]
Shape = tuple[int, ...]
Scalar = float | complex


class Verdict(StrEnum):
    """How a check ended. The text of each member is `meaning`: what it says, what to do next."""

    PASS = "pass"
    MISMATCH = "mismatch"
    DISCONNECTED = "disconnected"
    NONFINITE = "nonfinite"
    KINK = "kink"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"

    @property
    def meaning(self) -> str:
        """What the verdict means and what to do about it, in a sentence or two."""
        return _MEANINGS[self]

    @property
    def acceptable(self) -> bool:
        """Whether a case that expects nothing in particular may end this way."""
        return self in _ACCEPTABLE


_ACCEPTABLE = frozenset({Verdict.PASS, Verdict.KINK, Verdict.SKIPPED})

_MEANINGS = {
    Verdict.PASS: "The gradient agrees with the numeric derivative within its error bar.",
    Verdict.MISMATCH: (
        "The gradient differs from the numeric derivative by more than the error bar allows: "
        "look at the gradient function of this input."
    ),
    Verdict.DISCONNECTED: (
        "The tape returned None: no differentiable path leads from this input to the output. "
        "Look for values computed outside the function, casts to integers, numpy calls or "
        "tf.stop_gradient on the way."
    ),
    Verdict.NONFINITE: (
        "The gradient holds NaN or infinity where the function itself is finite: look for 0/0, "
        "0·inf or a log or root at the edge of its domain in the gradient function."
    ),
    Verdict.KINK: (
        "The function has a kink here; the gradient lies between the two one-sided derivatives."
    ),
    Verdict.INCONCLUSIVE: (
        "The numeric derivative is too poor to judge by: its error bar hides the gradient. Choose "
        "a point where the function is better conditioned, or give a `gradient:` formula."
    ),
    Verdict.ERROR: "The function, its gradient or the check itself raised: see the message.",
    Verdict.CRASHED: "The process that ran the case died: see the signal and the last output.",
    Verdict.TIMEOUT: "The case took longer than its time limit; `timeout:` in the spec raises it.",
    Verdict.SKIPPED: "The case was not run.",
}

# From the gravest to the mildest: a case is as bad as its worst input.
_SEVERITY = (
    Verdict.CRASHED,
    Verdict.TIMEOUT,
    Verdict.ERROR,
    Verdict.MISMATCH,
    Verdict.NONFINITE,
    Verdict.DISCONNECTED,
    Verdict.INCONCLUSIVE,
    Verdict.KINK,
    Verdict.PASS,
    Verdict.SKIPPED,
)


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of the verdicts; `skipped` when there is none."""
    return min(verdicts, key=_SEVERITY.index, default=Verdict.SKIPPED)


class Mode(StrEnum):
    """How TensorFlow runs the function whose gradient is checked."""

    EAGER = "eager"
    GRAPH = "graph"
    XLA = "xla"


class CheckKind(StrEnum):
    """Which derivative is checked: the tape's, the forward accumulator's, the tape's own."""

    REVERSE = "reverse"
    FORWARD = "forward"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a spec file; line and column count from 1."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Sample:
    """How values are drawn: a name from `gradcheck.ops.samples` and its parameters."""

    name: str = "normal"
    params: tuple[float, ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{p:g}' for p in self.params)})"


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """One tensor that the function takes: given values, or a shape and how to fill it."""

    name: str
    shape: Shape
    location: Location
    values: Array | None = None
    sample: Sample | None = None
    """None: as the op's declaration says, else standard normal."""
    dtype: str | None = None
    """None: the case's dtype, or what the op's declaration or the values demand."""
    grad: bool = True
    variable: bool = False


class TargetKind(StrEnum):
    """The three ways a spec names the function under test."""

    OP = "op"
    EXPR = "expr"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Target:
    """The function under test, as the spec names it."""

    kind: TargetKind
    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A tolerance given by hand, in place of the one that follows from the error bars."""

    rtol: float = 0.0
    atol: float = 0.0


Upstream = Literal["random", "ones"] | tuple[Array, ...]
"""The cotangent: drawn, all ones, or one array per output."""

Expectation = Verdict | Mapping[str, Verdict] | None
"""The verdict a case expects: of the whole, or input by input (the others pass)."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One fully concrete check."""

    id: str
    path: str
    name: str
    location: Location
    target: Target
    inputs: tuple[Input, ...]
    args: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float64"
    mode: Mode = Mode.EAGER
    checks: tuple[CheckKind, ...] = (CheckKind.REVERSE,)
    upstream: Upstream = "random"
    gradient: Mapping[str, str | Array] = field(default_factory=dict)
    """Claims about gradients by input: a formula's text, or the values."""
    expect: Expectation = None
    reason: str = ""
    seed: int = 0
    tolerance: Tolerance | None = None
    timeout: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A numeric gradient with its error bars, one entry per coordinate that was moved."""

    numeric: Array
    bound: Array
    """The true derivative lies within `numeric ± bound`."""
    step: Array
    """The smallest step that the kept estimate used."""
    scale: Array
    """How much the outputs move per unit, before upstream makes them cancel."""
    left: Array
    right: Array
    """One-sided derivatives; equal to `numeric` where the function is smooth."""
    kink: Array
    """Where the two one-sided derivatives differ."""
    evaluations: int


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
            return abs(self.analytic - self.numeric)
        nearest = complex(
            _between(self.analytic.real, self.left.real, self.right.real),
            _between(self.analytic.imag, self.left.imag, self.right.imag),
        )
        return abs(self.analytic - nearest)


def _between(value: float, one: float, other: float) -> float:
    return min(max(value, min(one, other)), max(one, other))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The likely cause of a mismatch."""

    cause: str
    """A short stable name: `sign`, `factor`, `transposed`, …"""
    text: str
    """One sentence for the report."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
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

    @property
    def elements(self) -> int:
        """How many elements the input has."""
        return math.prod(self.shape)

    @property
    def worst_index(self) -> tuple[int, ...] | None:
        """The index of the element that stands out most."""
        return self.worst[0].index if self.worst else None


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A Case, its Verdict, its Comparisons, its time."""

    id: str
    verdict: Verdict
    comparisons: tuple[Comparison, ...] = ()
    message: str = ""
    """What happened, where the comparisons do not say it: an exception, a signal, a time limit."""
    seconds: float = 0.0
    case: Case | None = None

    @property
    def expected(self) -> bool:
        """Whether the verdict is the one that the case expects."""
        expect = self.case.expect if self.case else None
        if expect is None or self.verdict is Verdict.SKIPPED:
            return self.verdict.acceptable
        if isinstance(expect, Verdict):
            return self.verdict == expect
        if not self.comparisons:
            return False
        return all(
            c.verdict == expect[c.name] if c.name in expect else c.verdict.acceptable
            for c in self.comparisons
        )

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The likely cause of the first mismatch that has one."""
        return next((c.diagnosis for c in self.comparisons if c.diagnosis), None)


@dataclass(frozen=True, slots=True)
class Shard:
    """Which part of a suite a run is: one of several on as many machines."""

    index: int
    """From 1 to `count`."""
    count: int
    cut: str
    """The same for all shards of one cut: a name for who got which case."""
    positions: tuple[int, ...]
    """Where the cases of this shard stand in the whole suite."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a run is about to do: said to the reporters before the first result."""

    cases: tuple[Case, ...]
    problems: tuple[SpecProblem, ...]
    """What is wrong in the specs; the cases that are right run all the same."""
    environment: Mapping[str, str]
    """Versions, machine and flags, for the header of a report."""
    shard: Shard | None = None
    """None for a whole suite."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended: said to the reporters after the last result."""

    total: int
    verdicts: Mapping[Verdict, int]
    failed: int
    """Results whose verdict is not the expected one."""
    known: int
    """Results that are not acceptable but expected: known bugs."""
    problems: int
    seconds: float
    interrupted: bool = False
