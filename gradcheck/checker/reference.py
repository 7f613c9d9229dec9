"""The numeric side of a check: the function in the best precision it has, and its derivatives."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.analytic import draw_upstream
from gradcheck.checker.coordinates import Coordinates, choose
from gradcheck.checker.evaluate import Evaluator
from gradcheck.checker.noise import Noise, measure_noise
from gradcheck.checker.numeric import STEPS, Differentiator
from gradcheck.checker.space import Space, everywhere
from gradcheck.checker.sparsity import Colouring, find_colouring
from gradcheck.checker.tensors import FunctionRaised, in_double

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.problem import Operand, Problem
    from gradcheck.model import Array, Estimate


ROUGH = 2.0**-40
"""Relative noise of a function that does not compute in double precision throughout."""


class Reference:
    """A problem's function at its point, evaluated in double precision where it has that."""

    def __init__(self, problem: Problem) -> None:
        """Evaluate the function once; raises FunctionRaised if it does."""
        self.problem = problem
        own = [operand.value for operand in problem.operands]
        double = in_double(own)
        self.is_low = any(a.dtype != b.dtype for a, b in zip(own, double, strict=True))
        self.no_double = ""
        """Why double precision is not to be had, where it is not."""
        self.values = double
        try:
            self.evaluator = Evaluator(problem.function, problem.operands, double)
        except FunctionRaised as error:
            if not self.is_low:
                raise
            # A function that cannot be had in double precision is checked in its own.
            self.evaluator = Evaluator(problem.function, problem.operands, own)
            self.values = own
            self.no_double = str(error)
        outputs = self.evaluator.outputs
        self.upstream = draw_upstream(
            problem.upstream, outputs.shapes, outputs.complex_, problem.seed
        )
        self.weights = outputs.flatten(
            [
                ct.astype(np.complex128) if is_complex else np.real(ct).astype(np.float64)
                for ct, is_complex in zip(self.upstream, outputs.complex_, strict=True)
            ]
        )

    @property
    def moved(self) -> Sequence[Operand]:
        """The operands that are differentiated."""
        return [operand for operand in self.problem.operands if operand.differentiate]

    @property
    def point_is_finite(self) -> Array:
        """By coordinate: whether the element it moves is finite."""
        finite: Array = np.isfinite(self.evaluator.point[self.coordinates.space.positions[:, 0]])
        return finite

    def unrepeatable(self, calls: int) -> float:
        """By how much calls at the same point differ: zero for a deterministic function."""
        largest = 0.0
        with np.errstate(all="ignore"):
            for _ in range(calls):
                first, second = self.evaluator.base, self.evaluator.again()
                same = (first == second) | (np.isnan(first) & np.isnan(second))
                apart = np.abs(np.where(same, 0.0, first - second))
                largest = max(largest, float(np.max(apart, initial=0.0)))
        return largest

    @cached_property
    def coordinates(self) -> Coordinates:
        """Along which coordinates the inputs are moved."""
        evaluator = self.evaluator
        return choose(
            self.moved, evaluator.inputs, evaluator.point, self.problem.seed, evaluator.precision
        )

    @cached_property
    def noise(self) -> Noise:
        """The noise of the outputs."""
        evaluator = self.evaluator
        noise = measure_noise(
            evaluator, evaluator.point, evaluator.base, self.coordinates.scale, self.problem.seed
        )
        evaluator.expect(2 * STEPS * len(self.coordinates.owner))
        return noise

    @cached_property
    def elements(self) -> Differentiator:
        """Differentiates along single elements."""
        return self._differentiator(self.coordinates.space, self._colouring)

    def differentiate(self) -> Estimate:
        """The derivative along every element."""
        estimate = self.elements.run()
        if self._colouring is not None and not self._consistent(estimate):
            # Elements that were moved together reach outputs in common after all.
            self.elements = self._differentiator(self.coordinates.space)
            estimate = self.elements.run()
        return estimate

    def _differentiator(
        self, space: Space, colouring: Colouring | None = None, weights: Array | None = None
    ) -> Differentiator:
        evaluator = self.evaluator
        chosen = self.weights if weights is None else weights
        return Differentiator(evaluator, evaluator.base, chosen, self.noise, space, colouring)

    @cached_property
    def _colouring(self) -> Colouring | None:
        coordinates, layout = self.coordinates, self.evaluator.inputs
        inputs = []
        for i, shape in enumerate(layout.shapes):
            columns = np.flatnonzero(coordinates.owner == i)
            if len(columns) != layout.sizes[i]:
                return None
            inputs.append((columns, (*shape, 2) if layout.complex_[i] else shape))
        if self.noise.relative > ROUGH:
            # Outputs that round hide what they depend on.
            return None
        evaluator = self.evaluator
        with np.errstate(all="ignore"):
            return find_colouring(
                evaluator, evaluator.base, coordinates.space, inputs, self.problem.seed
            )

    def _consistent(self, estimate: Estimate) -> bool:
        """Whether derivatives along elements add up to those along random directions."""
        space = self.coordinates.space
        rng = np.random.default_rng([self.problem.seed, 0x636F6E73])
        usable = np.isfinite(estimate.bound) & ~estimate.kink
        usable &= np.isinf(space.room_up) & np.isinf(space.room_down)
        steps = rng.choice([-1.0, -0.5, 0.5, 1.0], size=(2, len(usable))) * space.unit * usable
        vectors = np.zeros((2, len(space.point)))
        vectors[:, space.positions[:, 0]] = steps
        along = self.along(vectors)
        with np.errstate(all="ignore"):
            expected = steps @ np.where(usable, estimate.numeric, 0.0)
            allowed = np.abs(steps) @ np.where(usable, estimate.bound, 0.0) + along.bound
            allowed += 2.0**-40 * (np.abs(steps) @ np.where(usable, estimate.scale, 0.0))
        unclear = along.kink | ~np.isfinite(along.bound)
        return bool((unclear | (np.abs(along.numeric - expected) <= 4 * allowed)).all())

    @cached_property
    def directions(self) -> Differentiator:
        """Differentiates along random directions, for inputs over the budget."""
        return self._differentiator(self.coordinates.directions)

    def along(self, vectors: Array) -> Estimate:
        """The derivatives along these vectors, a row each."""
        return self._differentiator(everywhere(self.coordinates.space, vectors)).run()

    def with_upstream_of_ones(self) -> Estimate:
        """The derivatives for another upstream."""
        ones = self._differentiator(self.coordinates.space, weights=np.ones_like(self.weights))
        return ones.run()
