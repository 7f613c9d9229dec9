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

from gradcheck.checker import limits
from gradcheck.checker.diagnose.view import View
from gradcheck.checker.judge.evidence import Evidence, along_coordinates
from gradcheck.checker.judge.figures import comparison, figures_of
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.reference.derivatives import along_elements, with_measured_noise
from gradcheck.checker.reference.plan import with_sample
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.model import Mode, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Differentiate
    from gradcheck.model import Array


class Elsewhere:
    """Other points for the input of a view; nothing is evaluated before somebody asks."""

    def __init__(self, here: View) -> None:
        self.here = here

    @cached_property
    def views(self) -> list[View]:
        """The input at other points; fewer than wanted, or none, where the function fails there."""
        point = self.here.evidence.point
        count = limits.OTHER_POINTS
        if self.here.analytic.size < limits.FEW_ELEMENTS:
            count = limits.OTHER_POINTS_IF_FEW
        elif len(point.at) * len(point.base) > limits.ELSEWHERE_PAYS:
            count = 1
        return [view for i in range(count) if (view := self._drawn(i)) is not None]

    @cached_property
    def with_other_signs(self) -> View | None:
        """The input at a point where some elements have the other sign, if that is to be had.

        What holds for the signs of the point alone is no formula. Without it
        `test_a_formula_for_one_sign_is_none` fails.
        """
        return self._drawn(limits.OTHER_POINTS_IF_FEW, signs=True)

    def resized(self, axes: Collection[tuple[str, int]]) -> View | None:
        """The input at a point where these axes, each of an operand by name, are longer by one."""
        rng = generator(self.here.evidence.point.problem.seed, 0x7369)

        def longer(operand: Operand) -> Array:
            value = operand.value
            for name, axis in axes:
                if name == operand.name:
                    length = value.shape[axis]
                    value = np.take(value, np.arange(length + 1) % length, axis)
            return _moved(replace(operand, value=value), limits.OTHER_REACHES[-1], rng)

        return self._at([longer(o) for o in self._operands], 1, None)

    @property
    def _operands(self) -> Sequence[Operand]:
        return self.here.evidence.point.problem.operands

    def _drawn(self, number: int, *, signs: bool = False) -> View | None:
        """The point of this number, as far away as the function allows."""
        rng = generator(self.here.evidence.point.problem.seed + number, 0x656C)
        for shuffle in (True, False) if number % 2 else (False,):
            for reach in limits.OTHER_REACHES:
                values = [_moved(o, reach, rng, shuffle=shuffle) for o in self._operands]
                if signs:
                    given = zip(values, self._operands, strict=True)
                    values = [_with_other_signs(v, o, rng) for v, o in given]
                view = self._at(values, 1 + number, self.here.evidence.tape)
                if view is not None:
                    return view
        return None

    def _at(self, values: Sequence[Array], draw: int, tape: Differentiate | None) -> View | None:
        """The input at these values; None if the function or its gradient is not to be had.

        Args:
            values: of all the operands.
            draw: gives another upstream each time, where it is random.
            tape: takes gradients for operands of these shapes; None for a new one.
        """
        before = self.here.evidence.point
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
            point = evaluate_at(problem)
            lost = np.count_nonzero(~np.isfinite(point.base))
            if lost > np.count_nonzero(~np.isfinite(before.base)):
                return None
            if tape is None:
                mode = Mode.EAGER if point.two_questions else problem.mode
                tape = problem.tape(problem.function, operands, mode)
            passed = tape(point.values, point.upstream)
            plan = with_sample(point)
            analytic = along_coordinates(point, plan, passed)
            derivatives, estimate = along_elements(with_measured_noise(point, plan))
        except Exception:  # whatever the function does at another point
            return None
        evidence = Evidence(
            point, tape, passed, derivatives.plan, analytic, derivatives.noise,
            derivatives=derivatives, estimate=estimate,
        )  # fmt: skip
        evidence = replace(evidence, inputs=evidence.by_input(estimate))
        own = evidence.inputs[self.here.position]
        if not own.can_be_compared:
            return None
        figures = figures_of(evidence, own)
        return View.of(comparison(own, figures, Verdict.MISMATCH, Stage.CONFIRMATION), evidence)


def _moved(
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


def _with_other_signs(value: Array, operand: Operand, rng: np.random.Generator) -> Array:
    if not operand.differentiate or operand.structure != "general":
        return value
    signs = rng.choice([-1.0, 1.0], value.shape)
    # (Of one element, or of several that fell the same way, the first has the other one.)
    signs.ravel()[:1] = -1.0
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
