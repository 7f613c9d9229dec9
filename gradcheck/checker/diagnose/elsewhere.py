"""The same function at other points of the same shapes, and at one of another shape.

What explains a gradient at one point may be an accident of it: at zero many terms vanish, one
number has any factor, a symmetric matrix is its own transpose. A suspect has to hold at points that
were drawn at random as well.

Without it `test_an_accident_of_the_point_is_no_cause` fails.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.diagnose.view import View
from gradcheck.checker.judge.evidence import Evidence
from gradcheck.checker.judge.figures import comparison, figures_of
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.reference.measured import along_elements, with_measured_noise
from gradcheck.checker.reference.plan import along_coordinates, with_sample
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.memoise import RememberingEvaluator
from gradcheck.checker.subject.upstream import draw_upstream
from gradcheck.model import Mode, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Differentiate, Problem
    from gradcheck.model import Array


class OtherPoints:
    """Other points for a function and its gradients; nothing is evaluated before somebody asks.

    Suspects ask for the same points again: each for another upstream, and of each input. By now the
    function is known to repeat itself, so that it is called once for each of them. Without it
    `test_suspects_share_what_they_evaluate` fails.
    """

    def __init__(self, here: Evidence) -> None:
        self._here = here
        self._drawn: dict[tuple[int, str], Evidence | None] = {}

    @cached_property
    def here(self) -> Evidence:
        """The evidence at the point itself; most checks never ask."""
        return _remembering(self._here)

    def drawn(self, number: int, mirrored: str = "") -> Evidence | None:
        """The point of this number, as far away as the function allows; None if nowhere.

        Args:
            number: gives another point each time.
            mirrored: an operand that has the other sign there; those of the others are drawn.
        """
        if (number, mirrored) not in self._drawn:
            self._drawn[number, mirrored] = self._draw(number, mirrored)
        return self._drawn[number, mirrored]

    def resized(self, axes: Collection[tuple[str, int]]) -> Evidence | None:
        """A point where these axes, each of an operand by name, are longer by one.

        None where the function must not be given other shapes.
        """
        if not self.here.point.problem.takes_other_shapes:
            return None
        rng = generator(self.here.point.problem.seed, 0x7369)

        def longer(operand: Operand) -> Array:
            value = operand.value
            for name, axis in axes:
                if name == operand.name:
                    length = value.shape[axis]
                    value = np.take(value, np.arange(length + 1) % length, axis)
            return moved_by_shares(replace(operand, value=value), causes.OTHER_REACHES[-1], rng)

        return self._at([longer(o) for o in self.here.point.problem.operands], 1, None)

    def _draw(self, number: int, mirrored: str) -> Evidence | None:
        rng = generator(self.here.point.problem.seed + number, 0x656C)
        operands = self.here.point.problem.operands
        for shuffle in (True, False) if number % 2 else (False,):
            for reach in causes.OTHER_REACHES:
                values = [moved_by_shares(o, reach, rng, shuffle=shuffle) for o in operands]
                if mirrored:
                    given = zip(values, operands, strict=True)
                    values = [_with_signs(v, o, rng, o.name == mirrored) for v, o in given]
                evidence = self._at(values, 1 + number, self.here.tape)
                if evidence is not None:
                    return evidence
        return None

    def _at(
        self, values: Sequence[Array], draw: int, tape: Differentiate | None
    ) -> Evidence | None:
        """Both derivatives at these values; None if the function or its gradient has none.

        Args:
            values: of all the operands.
            draw: gives another upstream each time, where it is random.
            tape: takes gradients for operands of these shapes; None if they are others.
        """
        before = self.here.point
        given = zip(before.problem.operands, values, strict=True)
        operands = tuple(replace(operand, value=value) for operand, value in given)
        upstream = before.problem.upstream
        problem = replace(
            before.problem,
            operands=operands,
            seed=before.problem.seed + draw,
            upstream="random" if isinstance(upstream, tuple) else upstream,
        )
        try:
            point = evaluate_at(problem) if tape is None else _at_another(before, problem)
            lost = np.count_nonzero(~np.isfinite(point.base))
            if lost > np.count_nonzero(~np.isfinite(before.base)):
                return None
            if tape is None:
                mode = Mode.EAGER if point.two_questions else problem.mode
                tape = problem.tape(problem.function, operands, mode)
            return _seen(point, tape)
        except Exception:  # whatever the function does at another point
            return None


def _remembering(here: Evidence) -> Evidence:
    point = replace(here.point, evaluator=RememberingEvaluator(here.point.evaluator))
    known = here.derivatives
    return replace(
        here, point=point, derivatives=None if known is None else replace(known, point=point)
    )


class Elsewhere:
    """Other points for the input of a view."""

    def __init__(self, here: View, points: OtherPoints) -> None:
        self.here = here
        self._points = points
        self._views_of: dict[int, list[View]] = {}

    def views(self) -> Iterator[View]:
        """The input at other points; fewer than wanted, or none, where the function fails there.

        A point costs both derivatives there, so that none is drawn before it is asked for: the
        first one tells most.
        """
        point = self.here.evidence.point
        count = causes.OTHER_POINTS
        if self._has_few:
            count = causes.OTHER_POINTS_IF_FEW
        elif len(point.at) * len(point.base) > causes.ELSEWHERE_PAYS:
            count = 1
        for number in range(count):
            if number not in self._views_of:
                self._views_of[number] = self._views([self._points.drawn(number)])
            yield from self._views_of[number]

    @cached_property
    def with_other_signs(self) -> list[View]:
        """The input at points where its elements have the other sign, if they are to be had.

        What holds for the signs of the point alone is no formula. Without it
        `test_a_formula_for_one_sign_is_none` fails.
        """
        count = causes.OTHER_POINTS_IF_FEW if self._has_few else 1
        return self._views(self._points.drawn(n, self.here.name) for n in range(count))

    @property
    def _has_few(self) -> bool:
        return self.here.analytic.size < causes.FEW_ELEMENTS

    def resized(self, axes: Collection[tuple[str, int]]) -> View | None:
        """The input at a point where these axes, each of an operand by name, are longer by one."""
        return next(iter(self._views([self._points.resized(axes)])), None)

    def _views(self, points: Iterable[Evidence | None]) -> list[View]:
        found = []
        for evidence in points:
            own = None if evidence is None else evidence.inputs[self.here.position]
            if evidence is not None and own is not None and own.can_be_compared:
                figures = figures_of(evidence, own)
                told = comparison(own, figures, Verdict.MISMATCH, Stage.CONFIRMATION)
                found.append(View.of(told, evidence))
        return [view for view in found if view is not None]


def _seen(point: Point, tape: Differentiate) -> Evidence:
    """Both derivatives there."""
    passed = tape(point.values, point.upstream)
    plan = with_sample(point)
    analytic = along_coordinates(point, plan, passed)
    derivatives, estimate = along_elements(with_measured_noise(point, plan))
    evidence = Evidence(
        point, tape, passed, derivatives.plan, analytic, derivatives.noise,
        derivatives=derivatives, estimate=estimate,
    )  # fmt: skip
    return replace(evidence, inputs=evidence.by_input(estimate))


def _at_another(before: Point, problem: Problem) -> Point:
    """The function at another point of the same shapes, called in the way that was found before."""
    given = zip(problem.operands, before.values, strict=True)
    values = [o.value.astype(v.dtype) if o.differentiate else v for o, v in given]
    moved = tuple(operand for operand in problem.operands if operand.differentiate)
    at = before.inputs.flatten(
        [v for v, o in zip(values, problem.operands, strict=True) if o.differentiate]
    )
    base = before.evaluator(at[np.newaxis])[0]
    outputs = before.outputs
    upstream = draw_upstream(problem.upstream, outputs.shapes, outputs.complex_, problem.seed)
    return replace(
        before,
        problem=problem,
        moved=moved,
        values=values,
        upstream=upstream,
        weights=outputs.flatten(upstream),
        at=at,
        base=base,
    )


def moved_by_shares(
    operand: Operand, reach: float, rng: np.random.Generator, *, shuffle: bool = False
) -> Array:
    """Other values of an operand: each element by a share of itself, zeros too; signs stay."""
    value = operand.value
    if not operand.differentiate or not value.size:
        return value
    wide = value.astype(np.complex128 if np.iscomplexobj(value) else np.float64)
    if operand.structure == "symmetric":
        # (What is positive definite stays so.)
        scale = 1 + reach * _shares(value.shape[:-1], rng)
        moved = wide * scale[..., np.newaxis] * scale[..., np.newaxis, :]
        return np.asarray(moved.astype(value.dtype))
    if shuffle and operand.structure == "general":
        wide = rng.permutation(wide.ravel()).reshape(wide.shape)
    moved = _by_share(wide.real, reach, rng)
    if np.iscomplexobj(wide):
        moved = moved + 1j * _by_share(wide.imag, reach, rng)
    elif operand.structure == "lower":
        moved = np.tril(moved)
    else:
        moved = _inside(moved, wide, operand)
    return np.asarray(moved.astype(value.dtype))


def _with_signs(value: Array, operand: Operand, rng: np.random.Generator, mirrored: bool) -> Array:
    """The values with all signs turned, or with any."""
    if not operand.differentiate or operand.structure != "general":
        return value
    signs = -np.ones(value.shape) if mirrored else rng.choice([-1.0, 1.0], value.shape)
    return np.asarray((value * signs).astype(value.dtype))


def _by_share(values: Array, reach: float, rng: np.random.Generator) -> Array:
    finite = np.abs(values[np.isfinite(values)])
    typical = float(finite.max(initial=0.0)) or 1.0
    shares = reach * _shares(values.shape, rng)
    return np.where(values == 0, typical * shares, values * (1 + shares))


def _shares(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Between −1 and 1, and not close to zero."""
    return np.asarray(rng.uniform(0.3, 1.0, shape) * rng.choice([-1.0, 1.0], shape))


def _inside(moved: Array, before: Array, operand: Operand) -> Array:
    """Half of the way to the edge of the domain for what would lie beyond it."""
    for edge, beyond in (
        (operand.low, moved <= operand.low),
        (operand.high, moved >= operand.high),
    ):
        if np.isfinite(edge):
            moved = np.where(beyond & (before != edge), (before + edge) / 2, moved)
    return moved
