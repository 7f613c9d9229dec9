"""How a verdict on a gradient arises, top to bottom.

Stages gather evidence about all the inputs, each from what those before it found; then, input by
input, the first stage that can decide does. Evidence is never changed and no verdict is rewritten
(but for outputs that turn out to have no derivative: `remarks.py`): what a stage decides stands,
and the Comparison says which stage it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.checker.beside_kinks import refuted_beside
from gradcheck.checker.budget import Spent
from gradcheck.checker.decide import decided
from gradcheck.checker.diagnose.elsewhere import OtherPoints
from gradcheck.checker.judge.confirm import confirmed
from gradcheck.checker.judge.evidence import Evidence, OfInput
from gradcheck.checker.judge.first_look import look_at
from gradcheck.checker.judge.left_open import as_far_as_it_goes, labelled, open_
from gradcheck.checker.judge.persistence import unless_it_is_rounding
from gradcheck.checker.judge.picture_data import with_close_ups
from gradcheck.checker.judge.repeat import must_repeat
from gradcheck.checker.judge.rounding import Roundings
from gradcheck.checker.judge.shared_factor import unless_off_together
from gradcheck.checker.judge.ties import with_ties
from gradcheck.checker.precision.own_precision import OwnPrecision
from gradcheck.checker.reference.beside_huge import surfaced
from gradcheck.checker.reference.hidden_noise import as_it_may_hide
from gradcheck.checker.reference.in_its_mode import (
    AnotherInItsMode,
    must_be_the_same_in_its_mode,
)
from gradcheck.checker.reference.measured import along_elements, with_measured_noise
from gradcheck.checker.reference.plan import along_coordinates, make_plan, with_sample
from gradcheck.model import Comparison, Mode, Verdict
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.estimate import Noise
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.problem import Differentiate
    from gradcheck.checker.subject.tape import Tape


def judge_gradients(
    point: Point,
    recorded: Tape | None = None,
    noise: Noise | None = None,
    *,
    causes: bool = True,
    same: bool = False,
    repeats: bool = False,
    beside: bool = False,
) -> list[Comparison]:
    """One comparison per input that is differentiated.

    Raises AnotherInItsMode where the function gives other outputs in its mode than eagerly.

    Args:
        point: the function at its point.
        recorded: the tape that recorded that evaluation, if one did.
        noise: of the function, where it is known already.
        causes: look for the causes of mismatches, and at what pictures of them need.
        same: take the function for the same one in its mode, whatever it gives.
        repeats: it is known to repeat itself.
        beside: the point is one beside another, where this was asked.
    """
    evidence = gradients(point, recorded, noise)
    precision = own_precision(evidence)
    if point.problem.mode is not Mode.EAGER and not same:
        _must_be_the_same(evidence, precision)
    for stage in GATHERING:
        if evidence.first_look_was_enough:
            break
        if not (repeats and stage is repeatability):
            evidence = as_far_as_it_goes(stage, evidence)
    if not beside:
        evidence = as_far_as_it_goes(beside_kinks, evidence)
    doubted = any(own.suggestion[0] is not Verdict.PASS for own in evidence.inputs)
    if doubted and not _vouches(point):
        return judge_gradients(
            point, None, noise, causes=causes, same=same, repeats=repeats, beside=beside
        )
    points = OtherPoints(evidence) if causes else None
    told = [decided(evidence, own, precision, points) for own in evidence.inputs]
    return with_close_ups(evidence, told) if causes else told


def _must_be_the_same(evidence: Evidence, precision: OwnPrecision | None) -> None:
    if precision is None:
        must_be_the_same_in_its_mode(evidence.point, evidence.passed)
    elif precision.another_function:
        raise AnotherInItsMode


def _vouches(point: Point) -> bool:
    """Whether points that shared a call got what single calls give; else no more of them will."""
    try:
        return point.evaluator.vouches()
    except Spent:
        return True


# ---- Gathering: about all the inputs


def gradients(point: Point, recorded: Tape | None, noise: Noise | None) -> Evidence:
    """What the tape says the gradients are.

    In low precision there are two questions: here the formula is judged, in double precision;
    `low_precision` judges the arithmetic.
    """
    problem = point.problem
    mode = Mode.EAGER if point.two_questions else problem.mode
    tape: Differentiate
    if recorded is not None and mode is Mode.EAGER:
        tape, passed = recorded, recorded.back(point.upstream)
    else:
        tape = problem.tape(problem.function, problem.operands, mode)
        passed = tape(point.values, point.upstream)
    problem.note_judged(tape)
    plan = make_plan(point)
    return Evidence(point, tape, passed, plan, along_coordinates(point, plan, passed), noise)


def first_look(evidence: Evidence) -> Evidence:
    """Suppose an ideal function: what agrees with its derivative to 1e-8 is right.

    A large input of which all elements were to be moved is sampled where that does not lead far:
    then its elements would have to be moved one by one.
    """
    point, passed, plan = evidence.point, evidence.passed, evidence.plan
    plan, look = look_at(point, plan, passed, evidence.analytic)
    evidence = evidence.looked_at(plan, look)
    if plan.sample is None:
        return evidence
    if look is not None:
        if int(look.doubtful.sum()) <= plan.sample:
            return evidence
        derivatives = with_measured_noise(point, plan, evidence.noise)
        evidence = altered(evidence, noise=derivatives.noise)
        if not derivatives.is_rough:
            return evidence
    plan = with_sample(point)
    analytic = along_coordinates(point, plan, passed)
    return evidence.looked_at(*look_at(point, plan, passed, analytic))


def measured_noise(evidence: Evidence) -> Evidence:
    """Measure the function's noise, and choose steps by it, where the first look left doubts."""
    look, point, derivatives, along = evidence.look, evidence.point, None, None
    if look is not None and evidence.all_settled:
        estimate = look.estimate
    else:
        derivatives = with_measured_noise(point, evidence.plan, evidence.noise)
        if look is None:
            derivatives, estimate = along_elements(derivatives, evidence.claimed)
            along = derivatives.by_direction()
        elif (doubtful := look.doubtful_with(derivatives.noise)).any():
            known = look.estimate, doubtful
            derivatives, estimate = along_elements(derivatives, evidence.claimed, *known)
        else:
            derivatives, estimate = derivatives.where_it_rounds(look.estimate, evidence.claimed)
        derivatives, estimate = as_it_may_hide(derivatives, estimate)
        evidence = altered(evidence, plan=derivatives.plan, noise=derivatives.noise)
    by_input = evidence.by_input(estimate)
    return altered(
        evidence, derivatives=derivatives, estimate=estimate, along=along, inputs=by_input
    )


def confirmation(evidence: Evidence) -> Evidence:
    """Compare; what looks wrong is looked at again, and what rounding may do to it is granted."""
    derivatives, whole = evidence.derivatives, evidence.estimate
    if derivatives is None or whole is None:
        return evidence
    roundings = Roundings(evidence.point, evidence.passed, derivatives.noise)

    def judged(own: OfInput) -> OfInput:
        if not own.can_be_compared or evidence.is_settled(own.part):
            return own
        try:
            told = confirmed(derivatives, roundings, whole, evidence.along, own)
            found = surfaced(derivatives, own.part, told.estimate, own.analytic, whole)
            if found is not None:
                own = altered(own, estimate=found[1].take(own.part.span))
                closer = confirmed(found[0], roundings, found[1], evidence.along, own)
                # (It may show that a zero is none, of which rounding takes all: that decides
                # nothing. Else `test_where_tanh_is_one` fails.)
                told = told if closer.suggestion[0] is Verdict.INCONCLUSIVE else closer
            told = unless_it_is_rounding(derivatives, told, evidence.along)
            return labelled(unless_off_together(derivatives, roundings, told))
        except Spent:
            return open_(evidence, own)

    return altered(evidence, inputs=tuple(judged(own) for own in evidence.inputs))


def ties(evidence: Evidence) -> Evidence:
    """Move equal elements at a kink together: there it is gone, and their gradients must add up."""
    derivatives, estimate = evidence.derivatives, evidence.estimate
    if derivatives is None or estimate is None:
        return evidence
    return altered(
        evidence, inputs=with_ties(derivatives, evidence.inputs, evidence.analytic, estimate)
    )


def repeatability(evidence: Evidence) -> Evidence:
    """Before blame: is it the same function, and the same gradient, again? Else this ends here."""
    if evidence.derivatives is not None:
        suggested = [own.suggestion[0] for own in evidence.inputs]
        if not all(verdict is Verdict.PASS for verdict in suggested):
            must_repeat(evidence)
    return evidence


def beside_kinks(evidence: Evidence) -> Evidence:
    """What is outside of a kink's sides is judged beside the kink, where there is a derivative."""

    def judge(point: Point) -> list[Comparison]:
        return judge_gradients(point, causes=False, same=True, repeats=True, beside=True)

    return refuted_beside(evidence, judge)


GATHERING: tuple[Callable[[Evidence], Evidence], ...] = (
    first_look,
    measured_noise,
    confirmation,
    ties,
    repeatability,
)


def own_precision(evidence: Evidence) -> OwnPrecision | None:
    """The gradients in the precision of the inputs too, where that is not double."""
    if not evidence.point.two_questions:
        return None
    return OwnPrecision(evidence.point, evidence.passed)
