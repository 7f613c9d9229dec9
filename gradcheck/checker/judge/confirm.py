"""Judging one input's derivatives, and looking twice before any of them is called wrong.

What looks wrong is moved again, alone and with smaller steps; and what the rounding of the inputs,
and on the way to the gradient, makes of it is granted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.judge.agreement import (
    INCONCLUSIVE,
    MISMATCH,
    PASS,
    Agreement,
    compare,
    must_be_able_to_fail,
)
from gradcheck.checker.judge.nonfinite import nobody_sees, reach_nonfinite
from gradcheck.checker.judge.rounding import Roundings, as_slack, in_place
from gradcheck.checker.numerics.vectors import largest
from gradcheck.checker.reference.hidden_noise import listening
from gradcheck.checker.reference.rounds_beside import as_it_rounds_beside
from gradcheck.model import Stage, Verdict
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import OfInput
    from gradcheck.checker.judge.gradient_spread import Spread
    from gradcheck.checker.numerics.coordinates import Directions
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.model import Array


def confirmed(
    derivatives: Derivatives,
    roundings: Roundings,
    whole: Estimate,
    along: Estimate | None,
    own: OfInput,
) -> OfInput:
    """One input judged element by element, and along random directions where there are some.

    Args:
        derivatives: the numeric side.
        roundings: what rounding does to the gradients.
        whole: the numeric derivative along each coordinate of all the inputs.
        along: the same along random directions.
        own: what is known of this input so far.
    """
    point = derivatives.point
    size = own.size_that_matters(point.weights * derivatives.noise.counted(point.base))
    must_be_able_to_fail(point.problem.tolerance, size, own.operand.name)
    judge = _Judge(derivatives, roundings, own, size)
    own = judge.elements(whole)
    space = derivatives.plan.coordinates.directions
    if space is None or along is None or not len(own.part.directions):
        return own
    return altered(own, directed=judge.directions(space, along.take(own.part.directions)))


@dataclass(frozen=True, eq=False)
class _Judge:
    """Compares the derivatives of one input."""

    derivatives: Derivatives
    roundings: Roundings
    own: OfInput
    size: float
    """Of a derivative that counts for this input; a bound must be well below it."""

    def elements(self, whole: Estimate) -> OfInput:
        """Compare element by element; what looks wrong is looked at again, alone and closer."""
        own, part, analytic = self.own, self.own.part, self.own.analytic
        derivatives, point = self.derivatives, self.derivatives.point
        positions = derivatives.plan.coordinates.space.position[part.span]
        unseen = nobody_sees(point, positions, analytic, own.estimate, self._moves_by_rounding)
        estimate, slack = own.estimate.without(unseen), np.zeros(len(analytic))
        looked_at, nudged, stage = np.zeros(len(analytic), dtype=bool), False, Stage.NOISE
        while True:
            agreement = self._compare(estimate, slack, unseen)
            wrong = agreement.grades == MISMATCH
            if wrong.any() and not looked_at.any():
                hidden = reach_nonfinite(point, positions[wrong])
                if hidden.any():
                    # (What the finite outputs do is not all that its gradient is made of.)
                    unseen[wrong] = hidden
                    estimate = estimate.without(unseen)
                    continue
                louder = listening(derivatives)
                if louder is not derivatives:
                    return self._again(louder, whole, wrong)
            surely = wrong & looked_at
            if not wrong.any() or (surely.any() and nudged):
                rounding = nudged and not wrong.any()
                stage = Stage.ROUNDING if rounding else stage
                agreement = self._granted_zeros(altered(agreement, rounding=rounding), estimate)
                return altered(own, estimate=estimate, agreement=agreement, stage=stage)
            if surely.any():
                most = self._most_to_lose(derivatives.plan.coordinates.space.unit[part.span])
                if (agreement.error > most)[surely].any():
                    return altered(own, estimate=estimate, agreement=agreement, stage=stage)
                nudged, spread = True, self.roundings.on_the_way[part.position]
            else:
                # (One that is surely wrong is enough.)
                few = limits.CONFIRMED_IF_DEAR if self._is_dear else limits.CONFIRMED
                suspects, stage = agreement.worst(few), Stage.CONFIRMATION
                # (Of a coarse function smaller steps show but rounding, of an empty one nothing.)
                looked_at[suspects] = True
                suspects = suspects[~derivatives.knows_best(part.columns[suspects])]
                if len(suspects) and len(point.base):
                    columns = part.columns[suspects]
                    whole, refuted = derivatives.alone(whole, columns, analytic[suspects])
                    unseen[suspects] |= ~refuted
                whole = as_it_rounds_beside(derivatives, whole, part, analytic, looked_at)
                estimate = whole.take(part.span)
                surely = looked_at & ~unseen & self._beyond_rounding(estimate)
                if (self._is_dear or point.passes_are_dear) and surely.any():
                    agreement = self._compare(estimate, self._granted_unasked(surely), unseen)
                    return altered(own, estimate=estimate, agreement=agreement, stage=stage)
                spread = self.roundings.of_inputs[part.position]
            slack = np.maximum(slack, self._slack(spread, estimate))
            slack[looked_at & self._beyond_rounding(estimate)] = 0.0

    def _again(self, louder: Derivatives, whole: Estimate, wrong: Array) -> OfInput:
        """Compare again, of a function that rounds more than it showed: smaller steps tell less."""
        part = self.own.part
        doubtful = np.zeros(len(whole.value), dtype=bool)
        doubtful[part.columns[wrong]] = True
        whole = louder.by_element(whole, doubtful)
        own = altered(self.own, estimate=whole.take(part.span))
        return altered(self, derivatives=louder, own=own).elements(whole)

    def directions(self, space: Directions, estimate: Estimate) -> Agreement:
        """Compare along the random directions that stand for the elements of a large input."""
        point, part = self.derivatives.point, self.own.part
        full = in_place(point, part.position, np.asarray(self.own.gradient))
        analytic = space.project(full)[part.directions]
        tolerance, size = point.problem.tolerance, self.size

        def compared(spreads: list[Spread] | None) -> Agreement:
            slack: Array | float = 0.0
            if spreads is not None:
                rounding = as_slack(point, part.position, spreads[part.position])
                slack = space.project_size(rounding)[part.directions]
            return compare(analytic, estimate, reference=size, tolerance=tolerance, slack=slack)

        agreement = compared(None)
        if agreement.overall is Verdict.MISMATCH:
            agreement = compared(self.roundings.of_inputs)
        most = self._most_to_lose(space.unit[part.directions])
        if agreement.overall is Verdict.MISMATCH and not (agreement.error > most).any():
            agreement = compared(self.roundings.on_the_way)
        return agreement

    def _compare(self, estimate: Estimate, slack: Array | float, unseen: Array) -> Agreement:
        point, space = self.derivatives.point, self.derivatives.plan.coordinates.space
        coarse = self.derivatives.rounds_along(self.own.part.columns)
        return compare(
            self.own.analytic,
            estimate,
            reference=self.size,
            slack=slack + self.own.last_place,
            tolerance=point.problem.tolerance,
            excused=~np.isfinite(point.at[space.position[self.own.part.span]]),
            beyond_reach=unseen,
            vacuous=np.where(coarse, tolerances.VACUOUS_IF_COARSE, tolerances.VACUOUS),
        )

    def _granted_zeros(self, agreement: Agreement, estimate: Estimate) -> Agreement:
        """What nobody could judge passes where both derivatives are zero but for rounding.

        Attention does not change with the bias of its keys: what is left of that gradient is the
        rounding of terms that cancel, and against nothing no bound is small. (Beside derivatives
        that are known, a bound is what it is against these.)

        Without it `test_a_derivative_that_cancels_to_nothing` fails.
        """
        unknown = agreement.grades == INCONCLUSIVE
        small = np.abs(estimate.numeric) <= tolerances.BOUND_SAFETY * estimate.bound
        zero = unknown & small & ~estimate.kink & np.isfinite(self.own.analytic)
        if not zero.any() or (~unknown & ~small).any():
            return agreement
        part, size = self.own.part, np.abs(self.own.analytic)
        bar = estimate.bound * self.derivatives.plan.coordinates.space.unit[part.span]
        # Its last digits are all there is of it: they are others where the inputs' are, or where
        # it rounds differently.
        granted = size <= self._slack(self.roundings.on_the_way[part.position], estimate)
        known = bar <= tolerances.ROUGH * self._output
        if (zero & known & ~granted).any():
            others = self._slack(self.roundings.of_inputs[part.position], estimate)
            granted |= known & (size <= others)
        small = bar <= tolerances.VACUOUS * self._output
        if (zero & granted & ~small).any() and self._all_is_rounding:
            weight = largest(self.derivatives.point.weights)
            made_of = min(tolerances.ROUGH * self.roundings.scale, tolerances.VACUOUS * weight)
            if not self._output and not self.own.analytic.any():
                made_of = max(made_of, tolerances.GOOD * weight)
            # (Over the size of one: what is tiny itself moves little, whatever its derivative is.)
            small |= np.fmax(bar, estimate.bound) <= made_of
        granted &= zero & small
        return altered(agreement, grades=np.where(granted, PASS, agreement.grades))

    @cached_property
    def _all_is_rounding(self) -> bool:
        """Whether the outputs may be nothing but what was rounded off on the way to them.

        (Of one plus x less one something is left, however little.)
        """
        point = self.derivatives.point
        if self.derivatives.noise.parts is None:
            return True
        return self._output <= tolerances.HIDES * largest(point.weights * point.rounded_off)

    @cached_property
    def _output(self) -> float:
        """The size of the outputs, without those that are large and depend on nothing."""
        point, noise = self.derivatives.point, self.derivatives.noise
        return largest(point.weights * noise.counted(point.base))

    def _most_to_lose(self, unit: Array) -> Array:
        """By coordinate: an error that no rounding on the way explains, at a glance.

        What that does is dear to find out: the gradient has to be traced.
        """
        point, noise = self.derivatives.point, self.derivatives.noise
        output = self._output
        # (A function that rounds to fewer digits inside loses more.)
        share = tolerances.LOST_ON_THE_WAY * max(1.0, noise.rounds_to / tolerances.LAST_DIGIT)
        return share * (max(self.size, output, largest(point.weights)) + output / unit)

    def _beyond_rounding(self, estimate: Estimate) -> Array:
        """By coordinate: the gradient is off by more than any rounding, from what is known well.

        Where it depends on the last digits of the inputs all the same, that is its own fault: the
        slope of the function does not.

        Without it `test_far_from_a_slope_that_is_known_well` fails.
        """
        if self.derivatives.is_rough or not self.derivatives.can_refute:
            return np.zeros(len(self.own.analytic), dtype=bool)
        unit = self.derivatives.plan.coordinates.space.unit[self.own.part.span]
        error = np.abs(self.own.analytic - estimate.numeric)
        far = error > np.maximum(tolerances.DISJOINT * estimate.bound, self._most_to_lose(unit))
        return np.asarray(far & ~estimate.kink)

    @property
    def _moves_by_rounding(self) -> Array:
        """By coordinate: a slope by which outputs of this size may seem to move."""
        unit = self.derivatives.plan.coordinates.space.unit[self.own.part.span]
        return np.asarray(tolerances.STILL * self._output / unit)

    @property
    def _is_dear(self) -> bool:
        """Whether a pass takes long: every point costs a call, or is large."""
        point = self.derivatives.point
        large = len(point.at) + len(point.base) > limits.LARGE_POINT
        return large or not point.evaluator.is_batched

    def _granted_unasked(self, surely: Array) -> Array:
        """By coordinate: all that rounding could do, where nobody asks what it does.

        Some are wrong beyond all rounding: what it does to the others would change nothing, and
        takes some twenty passes. Without it `test_beyond_all_rounding_takes_few_passes` fails.
        """
        unit = self.derivatives.plan.coordinates.space.unit[self.own.part.span]
        return np.where(surely, 0.0, self._most_to_lose(unit))

    def _slack(self, spread: Spread, estimate: Estimate) -> Array:
        """By coordinate: what the gradient may be off by rounding."""
        point, part = self.derivatives.point, self.own.part
        rounding = as_slack(point, part.position, spread)
        slack = self.derivatives.plan.coordinates.space.project_size(rounding)[part.span]
        # Beside a kink the gradient is another one, which excuses no value that it has nowhere.
        slack[estimate.kink & self._beyond(spread)] = 0.0
        return slack

    def _beyond(self, spread: Spread) -> Array:
        """By coordinate: whether the gradient is outside of all that it is at its neighbours.

        Where elements move in pairs, nobody can tell.

        Without it `test_the_wrong_one_is_a_mismatch_there` fails.
        """
        point, space = self.derivatives.point, self.derivatives.plan.coordinates.space
        part, analytic = self.own.part, self.own.analytic
        if space.partners is not None:
            return np.zeros(len(analytic), dtype=bool)
        low, high = (
            space.project(in_place(point, part.position, end))[part.span] for end in spread.ends
        )
        margin = tolerances.ARITHMETIC * np.maximum(np.abs(low), np.abs(high))
        return np.asarray((analytic < low - margin) | (analytic > high + margin))
