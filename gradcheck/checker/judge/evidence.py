"""What is known of the gradients of one problem, after some of the stages of its check.

Evidence is never changed: a stage takes it and gives other evidence, or a verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import epsilon_of, largest
from gradcheck.checker.reference.plan import along_coordinates
from gradcheck.checker.subject.tensors import is_low_precision
from gradcheck.model import Stage, Verdict
from gradcheck.model.frozen import altered, frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.judge.agreement import Agreement
    from gradcheck.checker.judge.first_look import Look
    from gradcheck.checker.numerics.choose_coordinates import Part
    from gradcheck.checker.numerics.estimate import Estimate, Noise
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.checker.reference.plan import Plan
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Differentiate
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array, Shape


@dataclass(frozen=True)
class Tie:
    """Tied elements of an input whose gradients do not fit together."""

    text: str
    """What is wrong with them."""
    error: float
    relative: float
    """By how much."""
    elements: int
    """How many of them are the input's."""

    def and_(self, other: Tie | None) -> Tie:
        """This tie and another one of the input: this one's text, and what both amount to."""
        if other is None:
            return self
        return Tie(
            self.text,
            max(self.error, other.error),
            max(self.relative, other.relative),
            self.elements + other.elements,
        )


@frozen()
class OfInput:
    """What is known of one input's gradient."""

    operand: Operand
    part: Part
    """Its share of the coordinates."""
    gradient: Array | None
    """As the tape gave it."""
    misfit: str
    """What is wrong with its shape or dtype, in words; empty if nothing is."""
    analytic: Array
    """The gradient along each of its coordinates; zero where there is none."""
    estimate: Estimate
    """The numeric derivative along each of them."""
    stage: Stage = Stage.FIRST_LOOK
    """Which stage the agreement comes from."""
    agreement: Agreement | None = None
    """How the two compare; None where the first look was enough, or there is nothing to compare."""
    directed: Agreement | None = None
    """How they compare along random directions, for a large input."""
    tie: Tie | None = None
    """What tied elements do together, where that refutes the gradient."""

    @property
    def can_be_compared(self) -> bool:
        """Whether there is a gradient of the right kind, with elements in it."""
        return self.gradient is not None and not self.misfit and bool(self.gradient.size)

    @property
    def last_place(self) -> Array | float:
        """By coordinate: what its gradient rounds off in its own dtype, if that is no double.

        Without it `test_a_gradient_is_rounded_to_its_own_dtype` fails.
        """
        gradient = self.gradient
        if gradient is None or not is_low_precision(gradient.dtype):
            return 0.0
        return epsilon_of(gradient.dtype) * np.abs(self.analytic)

    def size_that_matters(self, outputs: Array) -> float:
        """The size of a derivative that counts here; a bound must be well below it.

        Args:
            outputs: weighed: where nothing moves there is only their size.
        """
        size = max(largest(self.estimate.numeric), largest(self.analytic))
        # Derivatives that cancel to nothing are still known well if the bound is tiny against what
        # the outputs move.
        size = max(size, tolerances.CANCELLED * largest(self.estimate.scale))
        return size if size > 0 else largest(outputs)

    @property
    def suggestion(self) -> tuple[Verdict, Stage]:
        """What the numbers alone suggest, and which stage that comes from.

        The stages after them decide whether it stands.
        """
        if self.gradient is None:
            return Verdict.DISCONNECTED, Stage.CONNECTION
        if self.misfit:
            return Verdict.MISMATCH, Stage.SHAPE
        if not self.part.count:
            return Verdict.PASS, Stage.SHAPE
        if self.tie is not None:
            return Verdict.MISMATCH, Stage.TIES
        verdict = Verdict.PASS if self.agreement is None else self.agreement.overall
        if self.directed is not None and verdict in (Verdict.PASS, Verdict.KINK):
            along = self.directed.overall
            if along is not Verdict.PASS:
                return along, Stage.DIRECTIONS
        return verdict, self.stage


@frozen()
class Evidence:
    """What is known of all the gradients of a problem."""

    point: Point
    tape: Differentiate
    passed: Backward
    """What the tape gave at the point."""
    plan: Plan
    analytic: Array
    """The gradients along each coordinate; zero where there is none."""
    noise: Noise | None = None
    """Of the function, where it was measured."""
    look: Look | None = None
    """What the first look showed; None where it could not settle anything: a tolerance is given, a
    gradient is missing or of another kind, nothing moves, or a random direction leaves doubts."""
    derivatives: Derivatives | None = None
    """With the noise measured; None while the first look was all that it took."""
    estimate: Estimate | None = None
    """The numeric derivative along each coordinate."""
    along: Estimate | None = None
    """The numeric derivative along random directions, where the first look did not settle them."""
    inputs: tuple[OfInput, ...] = ()
    """By input that is differentiated."""

    @property
    def claimed(self) -> Array:
        """The gradients along each coordinate; NaN where there is none."""
        claimed = self.analytic.copy()
        for part in self.plan.coordinates.parts:
            if self.passed.gradients[part.position] is None:
                claimed[part.span] = np.nan
        return claimed

    @property
    def first_look_was_enough(self) -> bool:
        """Whether there is a derivative for each input, and the first look has settled them all."""
        return self.derivatives is None and self.estimate is not None and self.all_settled

    def is_settled(self, part: Part) -> bool:
        """Whether the first look was enough for all the elements of an input."""
        look = self.look
        if look is None or not part.count:
            return False
        return look.all_settled or bool(look.settled[part.span].all())

    @property
    def all_settled(self) -> bool:
        """Whether it was enough for all the inputs that have elements."""
        parts = self.plan.coordinates.parts
        return all(self.is_settled(part) or not part.count for part in parts)

    def looked_at(self, plan: Plan, look: Look | None) -> Evidence:
        """This, with what the first look found out."""
        if plan is self.plan:
            return altered(self, look=look)
        analytic = along_coordinates(self.point, plan, self.passed)
        return altered(self, plan=plan, look=look, analytic=analytic)

    def by_input(self, estimate: Estimate) -> tuple[OfInput, ...]:
        """What is known of each input once there is a numeric derivative."""
        found, parts = [], self.plan.coordinates.parts
        given = zip(self.point.moved, parts, self.passed.gradients, strict=True)
        for operand, part, gradient in given:
            found.append(
                OfInput(
                    operand=operand,
                    part=part,
                    gradient=gradient,
                    misfit="" if gradient is None else misfit(self.point, part, gradient),
                    analytic=self.analytic[part.span],
                    estimate=estimate if len(parts) == 1 else estimate.take(part.span),
                )
            )
        return tuple(found)


def misfit(point: Point, part: Part, gradient: Array) -> str:
    """What is wrong with the shape or the dtype of a gradient, in words; empty if nothing is."""
    wanted, dtype = point.inputs.shapes[part.position], point.dtypes[part.position]
    if gradient.shape != wanted:
        return another_shape(gradient.shape, wanted, point.outputs.shapes)
    if gradient.dtype != dtype:
        return f"the gradient is {gradient.dtype.name}, its input {dtype.name}"
    return ""


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
