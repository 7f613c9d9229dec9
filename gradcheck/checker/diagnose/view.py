"""The gradient of one input at one point, beside what it should be: what a suspect looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes, limits, tolerances

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence
    from gradcheck.model import Array, Comparison, Shape


@dataclass(frozen=True, eq=False)
class View:
    """One input of a function at one point."""

    name: str
    analytic: Array
    numeric: Array
    """NaN where it is not known."""
    bound: Array
    evidence: Evidence

    @classmethod
    def of(cls, comparison: Comparison, evidence: Evidence) -> View | None:
        """None where there are no numbers to look at."""
        analytic, numeric, bound = comparison.analytic, comparison.numeric, comparison.bound
        if analytic is None or numeric is None or bound is None or not np.isfinite(numeric).any():
            return None
        return cls(comparison.name, analytic, numeric, np.nan_to_num(bound), evidence)

    @property
    def shape(self) -> Shape:
        """Of the input, and of its gradient."""
        return self.analytic.shape

    @cached_property
    def known(self) -> Array:
        """Where there is a numeric derivative."""
        return np.isfinite(self.numeric)

    @cached_property
    def largest(self) -> float:
        """The largest numeric derivative."""
        return float(np.max(np.abs(self.numeric[self.known]), initial=0.0))

    @property
    def allowed(self) -> Array:
        """How far the gradient may be from the numeric derivative."""
        return tolerances.BOUND_SAFETY * self.bound

    @cached_property
    def wrong(self) -> Array:
        """Where the gradient is wrong by more than could be taken for rounding."""
        error = np.abs(self.analytic - self.numeric)
        return np.asarray(error > self.allowed + causes.FIT * self.largest)

    @cached_property
    def position(self) -> int:
        """Which of the inputs that are differentiated it is."""
        return [operand.name for operand in self.evidence.point.moved].index(self.name)

    @cached_property
    def value(self) -> Array:
        """The input itself."""
        point = self.evidence.point
        return point.inputs.unflatten(point.at)[self.position]

    @cached_property
    def outputs(self) -> list[Array]:
        """Of the function."""
        point = self.evidence.point
        return point.outputs.unflatten(point.base)

    @cached_property
    def upstream(self) -> list[Array]:
        """A cotangent for each output."""
        point = self.evidence.point
        return point.outputs.unflatten(point.weights)

    @property
    def others(self) -> dict[str, Array]:
        """The other operands that are floating-point or complex, by name."""
        point = self.evidence.point
        given = zip(point.problem.operands, point.values, strict=True)
        return {o.name: v for o, v in given if o.name != self.name and v.dtype.kind in "fc"}

    @property
    def function_text(self) -> str:
        """The function of its inputs, as formulas name it."""
        names = ", ".join(operand.name for operand in self.evidence.point.problem.operands)
        return f"f({names})" if len(names) <= causes.LONGEST_NAMES else "f"

    @property
    def columns(self) -> Array:
        """The coordinates of the input."""
        return self.evidence.plan.coordinates.parts[self.position].columns

    @cached_property
    def jacobian(self) -> Array | None:
        """(outputs, coordinates of the input): how each output moves with each of them.

        None where there is none of real numbers, or it would be too large.
        """
        point, plan, columns = self.evidence.point, self.evidence.plan, self.columns
        if (
            any(point.inputs.complex_)
            or any(point.outputs.complex_)
            or plan.coordinates.space.partners is not None
            or len(columns) != self.analytic.size
            or len(columns) * len(point.base) > limits.JACOBIAN_ENTRIES
        ):
            return None
        space = plan.coordinates.space
        steps = causes.JACOBIAN_STEP * np.array([1.0, -1.0, 0.5, -0.5])
        moves = steps * space.unit[columns, np.newaxis]
        points, actual = space.points(np.repeat(columns, moves.shape[1]), moves.ravel())
        found = point.evaluator(points).reshape(*moves.shape, len(point.base))
        actual = actual.reshape(moves.shape)
        wide, narrow = (
            (found[:, i] - found[:, i + 1]) / (actual[:, i] - actual[:, i + 1])[:, np.newaxis]
            for i in (0, 2)
        )
        return np.asarray((4 * narrow - wide) / 3).T
