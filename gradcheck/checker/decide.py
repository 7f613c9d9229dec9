"""Deciding on one input, from the evidence about all of them: the first stage that can does.

What a stage decides stands, and the Comparison says which stage it was.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.checker import costs
from gradcheck.checker.budget import Spent, current
from gradcheck.checker.diagnose.diagnose import diagnose, diagnose_in_precision
from gradcheck.checker.judge import notes
from gradcheck.checker.judge.bisect import find_wrong_element
from gradcheck.checker.judge.figures import Figures, along_directions, comparison, figures_of
from gradcheck.checker.judge.formula import UNUSABLE, Standing, opinions
from gradcheck.checker.precision.low_precision import judge_precision, loses_it
from gradcheck.model import Comparison, Diagnosis, Stage, Verdict
from gradcheck.model.frozen import altered, frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.diagnose.elsewhere import OtherPoints
    from gradcheck.checker.judge.evidence import Evidence, OfInput
    from gradcheck.checker.precision.own_precision import OwnPrecision


@frozen()
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


def decided(
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
    if asked.evidence.point.problem.is_gradient and notes.jumps_between_constants(asked.own):
        return asked.comparison(Verdict.KINK, Stage.CONNECTION, notes.JUMPS)
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
                unjudged = notes.what_was_judged(asked.evidence.point, asked.own.operand)
                note = notes.joined(opinion.note, unjudged)
                asked = replace(asked, note=note, figures=replace(asked.figures, failing=0))
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
        found = None
        with suppress(Spent):
            found = find_wrong_element(asked.evidence, own)
        figures = {} if own.directed is None else along_directions(own, own.directed, found)
        return asked.comparison(verdict, stage, asked.note, **({"worst": ()} | figures))
    told = asked.comparison(verdict, stage, asked.note)
    if verdict is not Verdict.MISMATCH or asked.points is None:
        return told
    with suppress(Spent), current().up_to(costs.SPENT_ON_CAUSES):
        told = replace(told, diagnosis=diagnose(told, asked.points))
    return told


def low_precision(asked: Open) -> Open | Comparison:
    """In float32 and below: does the gradient keep what it has in float64?"""
    if asked.precision is None:
        return asked
    try:
        with current().up_to(costs.SPENT_ON_ROUNDING):
            told = judge_precision(asked.precision, asked.own, asked.figures.bound)
    except Spent as spent:
        note = f"the gradient is right in float64; of its own precision, {spent}"
        return asked.comparison(Verdict.INCONCLUSIVE, Stage.BUDGET, note)
    if told.verdict is not None:
        found = asked.comparison(told.verdict, Stage.PRECISION, told.note, **(told.figures or {}))
        if told.verdict is not Verdict.MISMATCH:
            return found
        cause = diagnose_in_precision(found, asked.evidence)
        if cause is None:
            return found
        # (A sign or a factor is no rounding.)
        own = asked.own.operand.precision.name
        note = found.note.replace(loses_it(own), f"in {own} it is another one")
        return replace(found, diagnosis=cause, note=note)
    return altered(asked, note=notes.joined(asked.note, told.note), suggested_by=Stage.PRECISION)


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
