"""How a verdict on a gradient arises, top to bottom.

Stages gather evidence about all the inputs, each from what those before it found; then, input by
input, the first stage that can decide does. Evidence is never changed and no verdict is rewritten:
what a stage decides stands, and the Comparison says which stage it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gradcheck.checker.diagnose.diagnose import diagnose
from gradcheck.checker.diagnose.elsewhere import OtherPoints
from gradcheck.checker.judge import notes
from gradcheck.checker.judge.bisect import find_wrong_element
from gradcheck.checker.judge.confirm import confirmed
from gradcheck.checker.judge.evidence import Evidence, OfInput
from gradcheck.checker.judge.figures import Figures, comparison, figures_of
from gradcheck.checker.judge.first_look import look_at
from gradcheck.checker.judge.formula import UNUSABLE, Standing, opinions
from gradcheck.checker.judge.repeat import must_repeat
from gradcheck.checker.judge.rounding import Roundings
from gradcheck.checker.judge.ties import with_ties
from gradcheck.checker.precision.low_precision import judge_precision
from gradcheck.checker.precision.own_precision import OwnPrecision
from gradcheck.checker.reference.derivatives import along_elements, with_measured_noise
from gradcheck.checker.reference.plan import along_coordinates, make_plan, with_sample
from gradcheck.model import Comparison, Diagnosis, Mode, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.estimate import Noise
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.problem import Differentiate
    from gradcheck.checker.subject.tape import Tape


def judge_gradients(
    point: Point, recorded: Tape | None = None, noise: Noise | None = None, *, causes: bool = True
) -> list[Comparison]:
    """One comparison per input that is differentiated.

    Args:
        point: the function at its point.
        recorded: the tape that recorded that evaluation, if one did.
        noise: of the function, where it is known already.
        causes: look for the causes of mismatches.
    """
    evidence = gradients(point, recorded, noise)
    for stage in GATHERING:
        evidence = stage(evidence)
    precision = own_precision(evidence)
    points = OtherPoints(evidence) if causes else None
    return [_decided(evidence, own, precision, points) for own in evidence.inputs]


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
        evidence = replace(evidence, noise=derivatives.noise)
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
        evidence = replace(evidence, plan=derivatives.plan, noise=derivatives.noise)
    by_input = evidence.by_input(estimate)
    evidence = replace(evidence, derivatives=derivatives, estimate=estimate)
    return replace(evidence, along=along, inputs=by_input)


def confirmation(evidence: Evidence) -> Evidence:
    """Compare; what looks wrong is looked at again, and what rounding may do to it is granted."""
    derivatives, whole = evidence.derivatives, evidence.estimate
    if derivatives is None or whole is None:
        return evidence
    roundings = Roundings(evidence.point, evidence.passed, derivatives.noise)
    judged = tuple(
        confirmed(derivatives, roundings, whole, evidence.along, own)
        if own.can_be_compared and not evidence.is_settled(own.part)
        else own
        for own in evidence.inputs
    )
    return replace(evidence, inputs=judged)


def ties(evidence: Evidence) -> Evidence:
    """Move equal elements at a kink together: there it is gone, and their gradients must add up."""
    derivatives, estimate = evidence.derivatives, evidence.estimate
    if derivatives is None or estimate is None:
        return evidence
    return replace(
        evidence, inputs=with_ties(derivatives, evidence.inputs, evidence.analytic, estimate)
    )


def repeatability(evidence: Evidence) -> Evidence:
    """Before blame: is it the same function, and the same gradient, again? Else this ends here."""
    if evidence.derivatives is not None:
        suggested = [own.suggestion[0] for own in evidence.inputs]
        if not all(verdict is Verdict.PASS for verdict in suggested):
            must_repeat(evidence)
    return evidence


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


# ---- Deciding: input by input


@dataclass(frozen=True, eq=False)
class Open:
    """An input on which no stage has decided yet, and what there is to say of it."""

    evidence: Evidence
    own: OfInput
    precision: OwnPrecision | None
    points: OtherPoints | None
    figures: Figures
    suggested: Verdict
    """What the numbers suggest, or a formula where they could not judge."""
    suggested_by: Stage
    note: str = ""

    def comparison(
        self, verdict: Verdict, stage: Stage, note: str = "", **changed: object
    ) -> Comparison:
        """The verdict, its stage and its reason."""
        return comparison(self.own, self.figures, verdict, stage, note, **changed)


def _decided(
    evidence: Evidence, own: OfInput, precision: OwnPrecision | None, points: OtherPoints | None
) -> Comparison:
    """What the first stage says that can decide on this input."""
    figures, note = figures_of(evidence, own), notes.on_numbers(evidence, own)
    asked = Open(evidence, own, precision, points, figures, *own.suggestion, note)
    for stage in DECIDING:
        told = stage(asked)
        if isinstance(told, Comparison):
            return told
        asked = told
    raise AssertionError("the last stage decides")


def connection(asked: Open) -> Open | Comparison:
    """None from the tape is `disconnected`."""
    if asked.own.gradient is not None:
        return asked
    if notes.is_for_other_outputs(asked.evidence, asked.own):
        return asked.comparison(Verdict.PASS, Stage.CONNECTION, notes.OTHER_OUTPUTS)
    if asked.evidence.point.problem.is_gradient and notes.stands_still(asked.evidence, asked.own):
        note, still = notes.linear(asked.evidence, asked.own)
        return asked.comparison(Verdict.PASS, Stage.CONNECTION, note, **still)
    note, moving = notes.missing_gradient(asked.evidence, asked.own)
    return asked.comparison(Verdict.DISCONNECTED, Stage.CONNECTION, note, failing=moving)


def shape_and_dtype(asked: Open) -> Open | Comparison:
    """A gradient has the shape and the dtype of its input."""
    if not asked.own.misfit:
        return asked
    return asked.comparison(Verdict.MISMATCH, Stage.SHAPE, asked.own.misfit)


def formula(asked: Open) -> Open | Comparison:
    """A closed formula decides where it differs from the tape, or cannot be evaluated at all."""
    problem, numbers = asked.evidence.point.problem, asked.suggested
    if not problem.formulas and not problem.claims:
        return asked
    for opinion in opinions(asked.evidence, asked.own, asked.figures, numbers):
        if opinion.values is not None:
            asked = replace(asked, figures=asked.figures.with_formula(opinion.values))
        if opinion.standing is Standing.AGREES:
            if numbers is Verdict.INCONCLUSIVE:
                # It vouches for the tape where the numeric derivative could not judge.
                asked = replace(asked, note=opinion.note, figures=replace(asked.figures, failing=0))
                asked = replace(asked, suggested=Verdict.PASS, suggested_by=Stage.FORMULA)
            continue
        note = notes.joined(asked.note, opinion.note)
        if opinion.standing in UNUSABLE:
            return asked.comparison(UNUSABLE[opinion.standing], Stage.FORMULA, note)
        if opinion.standing is Standing.LEFT_ASIDE:
            asked = replace(asked, note=note)
        if opinion.standing is Standing.DIFFERS and numbers is not Verdict.MISMATCH:
            failing = opinion.differing
            return asked.comparison(Verdict.MISMATCH, Stage.FORMULA, note, failing=failing)
    return asked


def numeric_derivative(asked: Open) -> Open | Comparison:
    """What the numbers show to be wrong, not finite or unknown is so."""
    own, verdict, stage = asked.own, asked.suggested, asked.suggested_by
    if verdict in (Verdict.PASS, Verdict.KINK):
        return asked
    if own.tie is not None:
        tied = Diagnosis("tie", own.tie.text)
        return asked.comparison(verdict, stage, asked.note, diagnosis=tied)
    if verdict is Verdict.MISMATCH and stage is Stage.DIRECTIONS:
        found = find_wrong_element(asked.evidence, own)
        worst = () if found is None else (found,)
        return asked.comparison(verdict, stage, asked.note, worst=worst)
    told = asked.comparison(verdict, stage, asked.note)
    if verdict is not Verdict.MISMATCH or asked.points is None:
        return told
    return replace(told, diagnosis=diagnose(told, asked.points))


def low_precision(asked: Open) -> Open | Comparison:
    """In float32 and below: does the gradient keep what it has in float64?"""
    if asked.precision is None:
        return asked
    told = judge_precision(asked.precision, asked.own, asked.figures.bound)
    if told.verdict is not None:
        return asked.comparison(told.verdict, Stage.PRECISION, told.note, **(told.figures or {}))
    return replace(asked, note=notes.joined(asked.note, told.note), suggested_by=Stage.PRECISION)


def nothing_against_it(asked: Open) -> Comparison:
    """What the numbers suggest stands: `pass`, or `kink`."""
    return asked.comparison(asked.suggested, asked.suggested_by, asked.note)


DECIDING: tuple[Callable[[Open], Open | Comparison], ...] = (
    connection,
    shape_and_dtype,
    formula,
    numeric_derivative,
    low_precision,
    nothing_against_it,
)
