"""The numeric side of a check: the function in the best precision it has, and its derivatives."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.additivity import Walk
from gradcheck.checker.numerics.choose_coordinates import Coordinates, choose, sample_size
from gradcheck.checker.numerics.coordinates import Space, everywhere
from gradcheck.checker.numerics.differentiator import Differentiator
from gradcheck.checker.numerics.noise import Noise, assumed_noise, measure_noise
from gradcheck.checker.numerics.polynomial_fit import Rough, smoothed
from gradcheck.checker.numerics.sparsity import Colouring, find_colouring
from gradcheck.checker.subject.evaluator import Evaluator, OneByOne
from gradcheck.checker.subject.tape import draw_upstream
from gradcheck.checker.subject.tensors import FunctionRaised, in_double

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.noise import Evaluate
    from gradcheck.checker.subject.problem import Operand, Problem
    from gradcheck.checker.subject.tape import Tape
    from gradcheck.model import Array, Estimate


class Reference:
    """A problem's function at its point, evaluated in double precision where it has that."""

    def __init__(self, problem: Problem, tape: Tape | None = None) -> None:
        """Evaluate the function once; raises FunctionRaised if it does.

        Args:
            problem: what is asked.
            tape: records that one call, so that whoever wants its gradients need not repeat it.
        """
        self.problem = problem
        self.tape = tape
        self._walk: Walk | None = None
        self._spared: int | None = None
        """How many coordinates a sample would take where all of a large input are moved."""
        own = [operand.value for operand in problem.operands]
        double = in_double(own)
        self.is_low = any(a.dtype != b.dtype for a, b in zip(own, double, strict=True))
        self.no_double = ""
        """Why double precision is not to be had, where it is not."""
        self.values = double
        try:
            self.evaluator = Evaluator(problem.function, problem.operands, double, tape)
        except FunctionRaised as error:
            if not self.is_low:
                raise
            # A function that cannot be had in double precision is checked in its own.
            self.evaluator = Evaluator(problem.function, problem.operands, own, tape)
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

    def afresh(self, problem: Problem) -> Reference:
        """The numeric side of a problem that differs from this one in its gradients only.

        The function at its point and its noise stay known; the search for steps, which follows the
        gradients, starts again.
        """
        other = copy(self)
        other.problem = problem
        other.__dict__.pop("elements", None)
        return other

    @cached_property
    def moved(self) -> Sequence[Operand]:
        """The operands that are differentiated."""
        return [operand for operand in self.problem.operands if operand.differentiate]

    @property
    def point_is_finite(self) -> Array:
        """By coordinate: whether the element it moves is finite."""
        finite: Array = np.isfinite(self.evaluator.point[self.coordinates.space.position])
        return finite

    @cached_property
    def coordinates(self) -> Coordinates:
        """Along which coordinates the inputs are moved.

        Every element, if that is not too much: where few of a large input's elements interfere, all
        of them can be moved at little cost.
        """
        cost = sample_size(self.evaluator.inputs)
        if cost is None or self.evaluator.precision is not None:
            return self._choose(sample=True)
        every = self._choose(sample=False)
        colouring = self._find_colouring(every)
        if colouring is None or len(colouring.owner) > cost:
            self._walk = None
            return self._choose(sample=True)
        self._colouring = colouring
        self._spared = cost
        return every

    def _choose(self, *, sample: bool) -> Coordinates:
        point, precision = self.evaluator.point, self.evaluator.precision
        layout, seed = self.evaluator.inputs, self.problem.seed
        return choose(self.moved, layout, point, seed, precision, sample=sample)

    def must_sample(self, doubtful: int) -> bool:
        """Whether so many elements of a large input would now have to be moved one by one."""
        return self._spared is not None and doubtful > self._spared and self.is_rough

    def sample(self) -> bool:
        """Let a sample stand for a large input whose elements were all to be moved, if one was."""
        if self._spared is None:
            return False
        self.coordinates = self._choose(sample=True)
        self._colouring = self._walk = None
        self._spared = None
        return True

    @property
    def is_rough(self) -> bool:
        """Whether the function does not compute in double precision throughout."""
        return self.noise.relative > tolerances.ROUGH

    @cached_property
    def noise(self) -> Noise:
        """The noise of the outputs."""
        evaluator = self.evaluator
        noise = measure_noise(
            evaluator, evaluator.point, evaluator.base, self.coordinates.scale, self.problem.seed
        )
        evaluator.expect(2 * limits.STEPS * len(self.coordinates.element))
        return noise

    @cached_property
    def elements(self) -> Differentiator:
        """Differentiates along single elements."""
        return self._differentiator(self.coordinates.space, self._trusted_colouring)

    @property
    def _trusted_colouring(self) -> Colouring | None:
        # Outputs that round hide what they depend on.
        return None if self.is_rough else self._colouring

    def supposed_ideal(self, space: Space, *, one_by_one: bool = False) -> Differentiator:
        """Differentiates along coordinates as if the function did everything right.

        That is, with no more noise than the last digits of its outputs.

        Args:
            space: the coordinates.
            one_by_one: the function may not take many points at once. (If it does not, and this
                was not said, evaluating raises OneByOne.)
        """
        evaluator, base = self.evaluator, self.evaluator.base
        noise = assumed_noise(base)
        if one_by_one or len(space.unit) * len(base) >= limits.TESTS_PAY_BATCHED:
            colouring = self._colouring if space is self.coordinates.space else None
            return Differentiator(evaluator, base, self.weights, noise, space, colouring)
        return Differentiator(evaluator.together, base, self.weights, noise, space)

    def differentiate(
        self, known: Estimate | None = None, doubtful: Array | None = None
    ) -> Estimate:
        """The derivative along every element; of those that are known, only the doubtful ones."""
        estimate = self.elements.run(known, doubtful)
        # (With a large input there is no other way, and the first look found it consistent.)
        coloured = self.elements.moves_together and self._spared is None
        if coloured and not self.is_consistent(estimate):
            # Elements that were moved together reach outputs in common after all.
            self.elements = self._differentiator(self.coordinates.space)
            estimate = self.elements.run()
        if not self.is_coarse:
            return estimate
        evaluator, space = self.evaluator, self.coordinates.space
        rough = Rough(evaluator, evaluator.base, self.weights, self.noise.level, space)
        return smoothed(estimate, rough, self.problem.seed)

    @property
    def is_coarse(self) -> bool:
        """Whether the function rounds to so few bits that short steps show little else."""
        noise = self.noise
        return noise.rounds_to > 0 and max(noise.relative, noise.lost) > tolerances.COARSE

    def _differentiator(
        self, space: Space, colouring: Colouring | None = None, weights: Array | None = None
    ) -> Differentiator:
        evaluator = self.evaluator
        chosen = self.weights if weights is None else weights
        return Differentiator(evaluator, evaluator.base, chosen, self.noise, space, colouring)

    @cached_property
    def _colouring(self) -> Colouring | None:
        return self._find_colouring(self.coordinates)

    def _find_colouring(self, coordinates: Coordinates) -> Colouring | None:
        layout, inputs = self.evaluator.inputs, []
        for i, shape in enumerate(layout.shapes):
            columns = coordinates.columns(i)
            if len(columns) != layout.sizes[i]:
                return None
            inputs.append((columns, (*shape, 2) if layout.complex_[i] else shape))
        evaluator, space = self.evaluator, coordinates.space

        def find(evaluate: Evaluate, *, batched: bool) -> Colouring | None:
            with np.errstate(all="ignore"):
                return find_colouring(
                    evaluate,
                    evaluator.base,
                    space,
                    inputs,
                    seed=self.problem.seed,
                    batched=batched,
                )

        if len(space.unit) * len(evaluator.base) >= limits.TESTS_PAY_BATCHED:
            # If elements are moved together, that they add up is to be seen: in the same call.
            self._walk = Walk.along(space, self.problem.seed)
            with suppress(OneByOne):
                return find(self._walk.ride(evaluator.together), batched=True)
        evaluator.probe()
        return find(evaluator, batched=evaluator.is_batched)

    def is_consistent(self, estimate: Estimate) -> bool:
        """Whether the derivatives along elements add up to the one along a random direction."""
        usable = np.isfinite(estimate.bound) & ~estimate.kink
        walk = self._walk
        if walk is None or walk.outputs is None or not usable[walk.steps != 0].all():
            walk = Walk.along(self.coordinates.space, self.problem.seed, usable)
            walk.outputs = self.evaluator(walk.points)
        return walk.agrees(estimate, self.evaluator.base, self.weights)

    def along_directions(self) -> Estimate | None:
        """The derivatives along random directions, if there are inputs over the budget."""
        directions = self.coordinates.directions
        return None if directions is None else self._differentiator(directions).run()

    def along(self, vectors: Array) -> Estimate:
        """The derivatives along these vectors, a row each."""
        return self._differentiator(everywhere(self.coordinates.space, vectors)).run()

    def with_weights(self, weights: Array) -> Estimate:
        """The derivatives for another upstream."""
        return self._differentiator(self.coordinates.space, self._trusted_colouring, weights).run()
