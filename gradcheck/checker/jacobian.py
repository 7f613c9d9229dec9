"""The whole Jacobian in every way that TensorFlow makes it, against the numeric derivative.

The Jacobian that is assembled row by row is weighed with a random upstream, and judged as any
gradient is, with error bars. Each other way must give the same but for rounding. One that does not
is weighed and judged in its turn: no tolerance decides that it is wrong, the numeric derivative
does.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.judge.jacobian_difference import largest_difference, misshapen, why_no_map
from gradcheck.checker.judge.notes import joined
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.jacobian_ways import (
    CannotVectoriseError,
    JacobianMaker,
    Way,
    Weighed,
)
from gradcheck.checker.subject.tape import GradientRaised
from gradcheck.checker.subject.tensors import call
from gradcheck.checker.subject.upstream import draw_upstream
from gradcheck.model import JUDGED_SOME, CheckKind, Comparison, Diagnosis, Mode, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.judge.jacobian_difference import Differing
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.jacobian_ways import Made, Pair
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.model import Array

    Judge = Callable[[Problem], list[Comparison]]


NO_ROWS = "tape.jacobian was left out: it is not made for tensors without elements"


class _Setting(NamedTuple):
    """In what the ways are compared: values of one precision, in one mode."""

    values: Sequence[Array]
    mode: Mode


def check_jacobian(point: Point, judge: Judge) -> list[Comparison]:
    """One comparison per input that is differentiated.

    Args:
        point: the function at its point.
        judge: what judges the gradients of a problem.
    """
    if not all(map(prod, (*point.outputs.shapes, *point.inputs.shapes))):
        # (Of these TensorFlow makes no Jacobian: some ways raise, others give None.)
        told = judge(replace(point.problem, recorded=None))
        return [_as_told(c, NO_ROWS) for c in told]
    problem, sampled = _of_some_outputs(point)
    makers = _RowMakers()
    by_rows = judge(replace(problem, tape=makers.tape))
    settings = _settings(point)
    rows = [makers.made(problem, setting) for setting in settings]
    pairs, no_map = _maps(rows[0], point)
    ways = [way for way in Way if way is not Way.ROWS and (pairs or not way.is_batch)]
    told, left_out = by_rows, [no_map] if no_map else []
    for way in ways:
        try:
            found = _differing(problem, way, pairs, settings, rows)
        except CannotVectoriseError as error:
            left_out.append(f"{way} was left out: {error}")
            continue
        except (GradientRaised, Ended) as error:
            # (What the rows are wrong by may be what it raises for.)
            if all(c.verdict is not Verdict.MISMATCH for c in by_rows):
                raise
            told = [_also_raised(c, str(error)) for c in told]
            continue
        if isinstance(found, dict):
            told = [
                _the_worse(c, _of_wrong_shape(c), by_rows[i], way, f"{way} is wrong: {found[i]}")
                if i in found
                else c
                for i, c in enumerate(told)
            ]
        elif found is not None:
            again = judge(_with_way(problem, way, pairs))
            only = len(point.outputs.shapes) == 1
            name = point.moved[found.position].name
            text = f"{way} is wrong: {found.told(name, only_output=only)}"
            told = [
                _the_worse(first, other, by_row, way, text)
                for first, other, by_row in zip(told, again, by_rows, strict=True)
            ]
    looked_at = joined(sampled, *left_out)
    return [_as_told(c, looked_at) for c in told]


def _of_wrong_shape(by_row: Comparison) -> Comparison:
    """The comparison of a block that has not the shape of the one that the rows make."""
    return replace(
        by_row,
        verdict=Verdict.MISMATCH,
        max_abs_error=None,
        max_rel_error=None,
        worst=(),
        note="",
        decided_by=Stage.SHAPE,
    )


def _also_raised(told: Comparison, raised: str) -> Comparison:
    """What was told of gradients that are wrong row by row, with what another way made of them.

    Without it `test_a_gradient_of_the_wrong_shape_by_its_jacobian` fails.
    """
    if told.verdict is not Verdict.MISMATCH:
        return told
    return replace(told, note=joined(told.note, raised))


def _the_worse(
    told: Comparison, way_told: Comparison, by_row: Comparison, way: Way, text: str
) -> Comparison:
    """What was told so far, or what is to be said of a way that is wrong where the rows are not."""
    fine = way_told.verdict.acceptable or way_told.verdict is Verdict.INCONCLUSIVE
    if fine or not by_row.verdict.acceptable:
        return told
    if not told.verdict.acceptable:
        return replace(told, note=joined(told.note, text))
    cause = (
        f"{way} does not make the Jacobian that the gradients make row by row, which is right: "
        "not the gradient is wrong, but how TensorFlow runs it on all rows at once; "
        f"{Way.LOOPED} takes another way"
        if way.is_vectorised
        else f"{way} does not make the Jacobian that the gradients make row by row, which is right"
    )
    diagnosis = Diagnosis("jacobian", cause)
    return replace(way_told, note=joined(text, way_told.note), diagnosis=diagnosis, places=())


def _as_told(comparison: Comparison, looked_at: str) -> Comparison:
    """The comparison as one of this check; of what is right, with what was not looked at."""
    note = comparison.note
    if comparison.verdict.acceptable:
        note = joined(note, looked_at)
    by_budget = comparison.decided_by is Stage.BUDGET
    stage = Stage.BUDGET if by_budget else Stage.JACOBIAN
    return replace(comparison, check=CheckKind.JACOBIAN, note=note, decided_by=stage)


def _of_some_outputs(point: Point) -> tuple[Problem, str]:
    """The problem with a real upstream, as Jacobians have; of many outputs, some are drawn."""
    problem, shapes = point.problem, list(point.outputs.shapes)
    sizes = [prod(shape) for shape in shapes]
    most = min(limits.JACOBIAN_ROWS, limits.JACOBIAN_ENTRIES // max(1, len(point.at)))
    note = ""
    if sum(sizes) > max(1, most):
        rng = generator(problem.seed, 0x6A6163)
        each = max(1, most // len(sizes))
        chosen = [np.sort(rng.choice(n, min(n, each), replace=False)) for n in sizes]
        problem = replace(problem, function=_Some(problem.function, chosen))
        shapes = [(len(places),) for places in chosen]
        note = f"{JUDGED_SOME}{sum(map(len, chosen))} of {sum(sizes)} rows of the Jacobian"
    upstream = draw_upstream("random", shapes, [False] * len(shapes), problem.seed)
    changed = replace(
        problem,
        upstream=tuple(np.array(ct) for ct in upstream),
        formulas={},
        claims={},
        recorded=None,
        recorded_in_double=None,
        without_twin=None,
    )
    return changed, note


class _Some:
    """A function of which only some elements of each output count."""

    def __init__(self, function: Callable[..., Any], chosen: Sequence[Array]) -> None:
        self._function, self._chosen = function, chosen

    def __call__(self, *arguments: Any) -> list[Any]:
        import tensorflow as tf

        pairs = zip(call(self._function, arguments), self._chosen, strict=True)
        return [tf.gather(tf.reshape(output, [-1]), places) for output, places in pairs]


class _RowMakers:
    """Makes Jacobians row by row; what is traced for one who asks is not traced for another.

    Without it `test_rows_are_compiled_once` fails.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], tuple[object, JacobianMaker]] = {}
        """By function, mode, and dtypes: a variable that is captured has one. With what must live
        as long, for a function need not be one that can be looked up."""

    def tape(self, function: Any, operands: Any, mode: Mode = Mode.EAGER) -> Weighed:
        """How a check takes gradients."""
        return Weighed(partial(self._make, function, operands, mode))

    def made(self, problem: Problem, setting: _Setting) -> Made:
        """The Jacobian there."""
        return self._make(problem.function, problem.operands, setting.mode, setting.values)

    def _make(self, function: Any, operands: Any, mode: Mode, values: Sequence[Array]) -> Made:
        key = (id(function), id(operands), mode, *(value.dtype for value in values))
        if key not in self._known:
            maker = JacobianMaker(function, operands, mode, Way.ROWS)
            self._known[key] = (function, operands), maker
        return self._known[key][1](values)


def _make(problem: Problem, setting: _Setting, way: Way, pairs: Sequence[Pair] = ()) -> Made:
    maker = JacobianMaker(problem.function, problem.operands, setting.mode, way, pairs)
    return maker(setting.values)


def _with_way(problem: Problem, way: Way, pairs: Sequence[Pair] = ()) -> Problem:
    """The problem whose gradients are those that this way makes."""

    def tape(function: Any, operands: Any, mode: Mode = Mode.EAGER) -> Weighed:
        return Weighed(JacobianMaker(function, operands, mode, way, pairs))

    return replace(problem, tape=tape)


def _settings(point: Point) -> list[_Setting]:
    """As gradients are judged: where the formula and the arithmetic are, apart, in both of them."""
    problem = point.problem
    if not point.two_questions:
        return [_Setting(point.values, problem.mode)]
    own = [operand.value for operand in problem.operands]
    return [_Setting(point.values, Mode.EAGER), _Setting(own, problem.mode)]


def _maps(made: Made, point: Point) -> tuple[list[Pair], str]:
    """For which outputs and inputs the function is a map of their leading axis, by the rows.

    Should the rows say so and be wrong, they are found to be wrong themselves. Also why it is a map
    for none of them, where that is so.
    """
    pairs: list[Pair] = []
    why = ""
    for k, (output, blocks) in enumerate(zip(made.outputs, made.blocks, strict=True)):
        for i, block in enumerate(blocks):
            reason = why_no_map(output.shape, block)
            if not reason:
                pairs.append((k, i))
            why = why or f"tape.batch_jacobian was left out: {reason} ({point.moved[i].name})"
    return pairs, "" if pairs else why


def _differing(
    problem: Problem,
    way: Way,
    pairs: Sequence[Pair],
    settings: Sequence[_Setting],
    rows: Sequence[Made],
) -> Differing | dict[int, str] | None:
    """Where this way differs most from the rows by more than rounding; None if nowhere.

    Of blocks of other shapes that is what there is to tell, by the position of their inputs.
    """
    for setting, by_row in zip(settings, rows, strict=True):
        made = _make(problem, setting, way, pairs)
        told = misshapen(made.blocks, by_row.blocks)
        if told:
            return told
        shapes = [output.shape for output in by_row.outputs]
        found = largest_difference(made.blocks, by_row.blocks, shapes)
        if found is not None:
            return found
    return None
