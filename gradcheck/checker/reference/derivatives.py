"""The numeric derivatives of a function at its point, once it is known how noisy it is."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.coordinates import Space, everywhere
from gradcheck.checker.numerics.differentiator import differentiate, sequence
from gradcheck.checker.numerics.fit_evidence import (
    contested,
    disagrees,
    is_of_floats,
    is_stairs,
    spacing_of,
)
from gradcheck.checker.numerics.fitted import Rough
from gradcheck.checker.numerics.look_again import confirm
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.numerics.polynomial_fit import fit, smoothed, with_few_steps
from gradcheck.checker.numerics.stairs import jumps_along, stands_still_on_a_side
from gradcheck.checker.numerics.switches import beside_switches
from gradcheck.checker.numerics.vectors import largest
from gradcheck.model.frozen import altered, frozen

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate, Noise
    from gradcheck.checker.numerics.fitted import Fitted
    from gradcheck.checker.numerics.sparsity import Colouring
    from gradcheck.checker.reference.plan import Plan
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array


@frozen()
class Derivatives:
    """The derivatives of a function whose noise is known."""

    point: Point
    plan: Plan
    noise: Noise
    fitted: Array | None = None
    """By coordinate of the elements: the function rounds along it, and a fit tells its derivative;
    None if it does so along none."""

    level: Array | None = None
    """By output: its rounding, as fits know it, where there are some."""

    carried: Array | None = None
    """By coordinate: its derivative was told by changes that were carried, which quotients are too
    poor to tell more of; None if none was."""

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
        return beside_switches(self._elements, differentiate(self._elements, known, doubtful))[0]

    def by_fit(self, estimate: Estimate) -> Estimate:
        """The estimate; of a function that rounds to few bits, with what a polynomial tells."""
        if not self.is_coarse:
            return estimate
        return smoothed(estimate, self._rough, self.point.problem.seed)

    def where_it_rounds(self, estimate: Estimate, claimed: Array) -> tuple[Derivatives, Estimate]:
        """What is known once it is seen along which coordinates the function rounds.

        Noise was measured along one direction, in which all the inputs move: one that is rounded
        while the others are not hides in it, and shows as stairs along its own coordinates. Over
        steps that are shorter than these the function stands still, and that is no derivative.

        Without it `test_one_input_is_rounded` and `test_part_of_an_input_is_rounded` fail.
        """
        if self.point.keeps_its_digits or self.point.is_exact:
            return self, estimate
        noisy = max(self.noise.relative, self.noise.lost) > tolerances.COARSE
        # (Of a few inputs a fit is cheap.)
        few = len(claimed) <= limits.CONFIRMED and self.point.precision is None
        noisy |= self.is_rough and few
        columns = contested(estimate, claimed, rough=self.is_rough, rounds=noisy)
        some, rest = columns, columns[:0]
        if not noisy and len(columns) > 2 * limits.JUMPS_LOOKED_FOR:
            # (Of a gradient that is wrong throughout all are. Without this
            # `test_what_is_wrong_throughout_takes_few_fits` fails.)
            among = np.linspace(0, len(columns) - 1, limits.JUMPS_LOOKED_FOR).astype(int)
            some, rest = columns[among], np.delete(columns, among)
        derivatives, best = self._with_fits(estimate, claimed, some)
        if derivatives.fitted is None or noisy:
            return derivatives, best
        if len(rest):
            derivatives, best = derivatives._with_fits(best, claimed, rest)
        others = contested(best, claimed, rounds=True)
        if derivatives.fitted is not None:
            others = others[~derivatives.fitted[others]]
        return derivatives._with_fits(best, claimed, others)

    @property
    def _least_that_scatters(self) -> float:
        """What the scalar must scatter to show more than the last digits of double precision."""
        point = self.point
        # (Where everything cancels, what there was is as large as the inputs.)
        size = largest(point.weights * point.base) or largest(point.weights) * largest(point.at)
        return tolerances.ROUGH * size

    def _with_fits(
        self, estimate: Estimate, claimed: Array, columns: Array
    ) -> tuple[Derivatives, Estimate]:
        """What is known once polynomials are fitted along these coordinates."""
        fits = self._fits(columns)
        if fits is None:
            return self, estimate
        derivatives, told, rounds = fits
        best, before = estimate.copy(), estimate.take(columns)
        wrong, still = disagrees(before, claimed[columns]), before.scale == 0
        # What scatters like rounding and stands still over shorter steps is unknown, unless the
        # claim says so too and nothing rounds for sure.
        scatters = told.scatter > self._least_that_scatters
        unknown = told.known & still & scatters & ~rounds & (told.share > tolerances.NOISE_SHARE)
        unknown &= wrong | rounds.any()
        wrong |= still
        precisions = self.point.problem.rounds_in
        if self.fitted is None and not is_of_floats(told, rounds, precisions):
            unknown, rounds = unknown | (rounds & wrong), np.zeros_like(rounds)
        if rounds.any() or self.fitted is not None:
            # Nor do quotients know of stairs that no fit could be laid through.
            others = np.flatnonzero(wrong & ~rounds)
            some = others[: limits.JUMPS_LOOKED_FOR]
            jumps = derivatives._jumps(columns[some])
            high = told.known & scatters
            rounds[some] |= high[some] & (jumps >= told.scatter[some])
            jumping = jumps > self._least_that_scatters
            unknown[some] |= jumping
            # (Where there are many, what holds for some of them may hold for the others.)
            unknown[others[len(some) :]] |= jumping.any()
        unknown &= ~rounds
        # (Of what is said to stand still, and does, as far as one goes to one side.)
        said = np.flatnonzero(unknown & still & (claimed[columns] == 0))
        if len(said):
            unknown[said] = ~derivatives._stands_still(columns[said])
        best.error[columns[unknown]] = np.inf
        rounds &= wrong | (told.estimate.error < before.bound)
        found = np.flatnonzero(rounds)
        if not len(found):
            return self, best
        best.put(columns[found], told.estimate.take(found))
        fitted = np.zeros(len(estimate.value), dtype=bool)
        fitted[columns[found]] = True
        if self.fitted is not None:
            fitted |= self.fitted
        rounds_to = max(self.noise.rounds_to, spacing_of(told.quantum[found], precisions))
        noise = altered(self.noise, rounds_to=rounds_to)
        return altered(derivatives, noise=noise, fitted=fitted), best

    def _fits(self, columns: Array) -> tuple[Derivatives, Fitted, Array] | None:
        """Fits along these coordinates: what they tell, and along which of them it rounds.

        None if there is nothing to fit, or if what scatters is no rounding.
        """
        if not len(columns):
            return None
        seed, least = self.point.problem.seed, self._least_that_scatters
        told = fit(self._rough, columns, seed)
        # (Not what scatters in the last digits of double precision.)
        rounds = told.rounds & (told.scatter > least)
        if not rounds.any():
            return self, told, rounds
        if self.fitted is None and not is_stairs(self._rough, columns, told, rounds, seed):
            return None
        level = with_few_steps(self._rough, columns, told, least, seed)
        return altered(self, level=level), told, told.rounds & (told.scatter > least)

    def _jumps(self, columns: Array) -> Array:
        """By coordinate: how high the scalar jumps within its unit."""
        reach = self.plan.coordinates.space.unit[columns]
        return jumps_along(self._rough, columns, reach, self.point.problem.seed)

    def _stands_still(self, columns: Array) -> Array:
        """By coordinate: whether nothing changes on one of its sides, within its unit."""
        reach = self.plan.coordinates.space.unit[columns]
        return stands_still_on_a_side(self._rough, columns, reach)

    @property
    def _rough(self) -> Rough:
        point, space = self.point, self.plan.coordinates.space
        level = self.noise.level if self.level is None else self.level
        return Rough(point.evaluator, point.base, point.weights, level, space)

    def rounds_along(self, columns: Array) -> Array:
        """Along which of these the function rounds so that smaller steps would show little else."""
        if self.is_coarse or self.fitted is None:
            return np.full(len(columns), self.is_coarse)
        return self.fitted[columns]

    def knows_best(self, columns: Array) -> Array:
        """Along which of these no smaller steps would show more: it rounds, or they drown."""
        rounds = self.rounds_along(columns)
        return rounds if self.carried is None else rounds | self.carried[columns]

    def alone(self, estimate: Estimate, columns: Array, claimed: Array) -> tuple[Estimate, Array]:
        """Look again at these elements, each alone: what is known then, and who is refuted."""
        best, refuted = self._confirmed(self._elements, estimate, columns, claimed)
        before, after = estimate.take(columns), best.take(columns)
        with np.errstate(all="ignore"):
            apart = np.abs(before.numeric - after.numeric) > tolerances.BOUND_SAFETY * (
                before.bound + after.bound
            )
        # Steps that contradict each other may be those of stairs.
        rows = np.flatnonzero(apart & refuted)
        if len(rows) and not (self.point.keeps_its_digits or self.point.is_exact):
            every = np.zeros(len(best.value))
            every[columns] = claimed
            derivatives, best = self._with_fits(best, every, columns[rows])
            if derivatives.fitted is not None:
                agrees = ~disagrees(best.take(columns), claimed)
                refuted = refuted & ~(derivatives.fitted[columns] & agrees)
        return best, refuted

    def by_steps(self, columns: Array, first: Array, space: Space) -> Array:
        """Along these coordinates, by one sequence of steps that begins with these."""
        with np.errstate(all="ignore"):
            return sequence(self._mover(space), columns, first).numeric

    def by_direction(self) -> Estimate | None:
        """Along random directions, if there are inputs over the budget."""
        directions = self.plan.coordinates.directions
        return None if directions is None else self._differentiated(directions)

    def along(self, vectors: Array, unit: Array | None = None) -> Estimate:
        """Along these vectors, a row each, by steps that suit them, or so many times each."""
        return self._differentiated(everywhere(self.plan.coordinates.space, vectors, unit))

    def along_again(
        self, vectors: Array, unit: Array | None, estimate: Estimate, claimed: Array, rows: Array
    ) -> tuple[Estimate, Array]:
        """Look again along some of these vectors: what is known then, and who is refuted."""
        mover = self._mover(everywhere(self.plan.coordinates.space, vectors, unit))
        return self._confirmed(mover, estimate, rows, claimed[rows])

    def with_weights(self, weights: Array) -> Estimate:
        """Along every element, for another upstream."""
        space = self.plan.coordinates.space
        return differentiate(self._mover(space, self._colouring, weights))

    def _differentiated(self, space: Space) -> Estimate:
        """Along coordinates of another kind than elements."""
        mover = self._mover(space)
        return beside_switches(mover, differentiate(mover))[0]

    def _confirmed(
        self, mover: Mover, estimate: Estimate, columns: Array, claimed: Array
    ) -> tuple[Estimate, Array]:
        """Some coordinates moved again, closer; and which of the claims are refuted by that."""
        best, refuted = confirm(mover, estimate, columns, claimed, rounds=not self.point.is_exact)
        # (Who is as well known as before has no switch beside it that matters.)
        among = np.zeros(len(best.value), dtype=bool)
        among[columns] = best.kink[columns] | (estimate.bound[columns] < best.bound[columns])
        best, beside = beside_switches(mover, best, among)
        return best, refuted | (beside[columns] & mover.can_refute)

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
