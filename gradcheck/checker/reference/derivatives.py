"""The numeric derivatives of a function at its point, once it is known how noisy it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.coordinates import Space, everywhere
from gradcheck.checker.numerics.differentiator import confirm, differentiate
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.numerics.noise import measure_noise
from gradcheck.checker.numerics.polynomial_fit import Rough, smoothed
from gradcheck.checker.reference.plan import Plan, with_tests

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate, Noise
    from gradcheck.checker.numerics.sparsity import Colouring
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class Derivatives:
    """The derivatives of a function whose noise is known."""

    point: Point
    plan: Plan
    noise: Noise

    @property
    def is_rough(self) -> bool:
        """Whether the function does not compute in double precision throughout."""
        return self.noise.relative > tolerances.ROUGH

    @property
    def is_coarse(self) -> bool:
        """Whether the function rounds to so few bits that short steps show little else."""
        noise = self.noise
        return noise.rounds_to > 0 and max(noise.relative, noise.lost) > tolerances.COARSE

    @property
    def can_refute(self) -> bool:
        """Whether the function keeps enough digits to refute anything."""
        return self._elements.can_refute

    def by_element(self, known: Estimate | None = None, doubtful: Array | None = None) -> Estimate:
        """Along every element; of those that are known, only the doubtful ones."""
        return differentiate(self._elements, known, doubtful)

    def by_fit(self, estimate: Estimate) -> Estimate:
        """The estimate; of a function that rounds to few bits, with what a polynomial tells."""
        if not self.is_coarse:
            return estimate
        point, space = self.point, self.plan.coordinates.space
        rough = Rough(point.evaluator, point.base, point.weights, self.noise.level, space)
        return smoothed(estimate, rough, point.problem.seed)

    def alone(self, estimate: Estimate, columns: Array, claimed: Array) -> tuple[Estimate, Array]:
        """Look again at these elements, each alone: what is known then, and who is refuted."""
        return confirm(self._elements, estimate, columns, claimed)

    def by_direction(self) -> Estimate | None:
        """Along random directions, if there are inputs over the budget."""
        directions = self.plan.coordinates.directions
        return None if directions is None else differentiate(self._mover(directions))

    def along(self, vectors: Array) -> Estimate:
        """Along these vectors, a row each."""
        return differentiate(self._mover(everywhere(self.plan.coordinates.space, vectors)))

    def with_weights(self, weights: Array) -> Estimate:
        """Along every element, for another upstream."""
        space = self.plan.coordinates.space
        return differentiate(self._mover(space, self._colouring, weights))

    @cached_property
    def _elements(self) -> Mover:
        return self._mover(self.plan.coordinates.space, self._colouring)

    @property
    def _colouring(self) -> Colouring | None:
        # Outputs that round hide what they depend on.
        return None if self.is_rough else self.plan.colouring

    def _mover(
        self, space: Space, colouring: Colouring | None = None, weights: Array | None = None
    ) -> Mover:
        point = self.point
        chosen = point.weights if weights is None else weights
        return Mover(point.evaluator, point.base, chosen, self.noise, space, colouring)


def with_measured_noise(point: Point, plan: Plan, noise: Noise | None = None) -> Derivatives:
    """Measure how noisy the function is, unless that was measured before."""
    if noise is None:
        evaluator, scale = point.evaluator, plan.coordinates.scale
        noise = measure_noise(evaluator, point.at, point.base, scale, point.problem.seed)
    return Derivatives(point, plan, noise)


def along_elements(
    derivatives: Derivatives, known: Estimate | None = None, doubtful: Array | None = None
) -> tuple[Derivatives, Estimate]:
    """The derivatives along every element.

    Args:
        derivatives: what is asked.
        known: an estimate that is good for all but some elements.
        doubtful: which those are.

    Returns:
        The derivatives, with what was found out about who may be moved together, and an estimate.
    """
    if not derivatives.is_rough:
        derivatives = replace(derivatives, plan=with_tests(derivatives.point, derivatives.plan))
    return derivatives, derivatives.by_fit(derivatives.by_element(known, doubtful))
