"""How much of a gradient is rounding.

A gradient cannot be better than its inputs. They are changed at random in their last digits, in
double precision; what that changes in the gradient, rounding may change too. Nor can it be better
than its arithmetic, which shows when all of the upstream is made larger by the same factor.

What a gradient says at the point alone, and nowhere around it, is not rounding: rounding differs
from one neighbour to the next as much as it differs from the point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.draws import generator
from gradcheck.checker.evaluate import NotDeterministic
from gradcheck.checker.layout import to_double
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.checker.analytic import Backward
    from gradcheck.checker.problem import Differentiate, Formula
    from gradcheck.checker.reference import Reference
    from gradcheck.model import Array

DRAWS = 16
"""Two terms that cancel can do so in one draw, and a difference that is rounded to a few digits can
come out the same in some of them; hardly in all."""

SCALED = 2.0**-9
"""By how much of itself the upstream is made larger to see what rounding does to the gradient."""

LAST_DIGIT = 2.0**-52
"""Relative change by which a number in double precision is not quite the same."""

REORDERED = 2.0**-40
"""Share of its largest element by which a gradient may differ from one call to the next: sums that
are taken in another order do that, and it is rounding."""

STANDS_OUT = 2.0**10
"""How many times farther from its neighbours than they are from each other a gradient must be to
count as one that is special to the point. (Rounding can have long tails, but not such.)"""

CALLS = 3
"""How often a gradient is called before what changes in it counts as rounding."""


class Spread:
    """What a gradient is at neighbours of the point that differ in the last digits."""

    def __init__(self, base: Array) -> None:
        """No neighbour yet.

        Args:
            base: the gradient at the point.
        """
        self._base = to_double(base)
        self._first: Array | None = None
        self._change, self._apart = np.zeros(base.shape), np.zeros(base.shape)
        self._low = np.full(base.shape, np.inf, self._base.dtype)
        self._high = np.full(base.shape, -np.inf, self._base.dtype)
        if np.iscomplexobj(base):
            self._low.imag, self._high.imag = np.inf, -np.inf

    def add(self, gradient: Array) -> None:
        """The gradient at one more neighbour."""
        if self._first is None:
            self._first = gradient
        np.fmax(self._change, np.abs(gradient - self._base), out=self._change)
        np.fmax(self._apart, np.abs(gradient - self._first), out=self._apart)
        for extreme, of in ((self._low, np.fmin), (self._high, np.fmax)):
            of(extreme.real, gradient.real, out=extreme.real)
            if np.iscomplexobj(extreme):
                of(extreme.imag, gradient.imag, out=extreme.imag)

    @property
    def size(self) -> Array:
        """By element: how far the gradient may be off by rounding."""
        return np.where(self._change > STANDS_OUT * self._apart, 2 * self._apart, self._change)

    @property
    def ends(self) -> tuple[Array, Array]:
        """By element: the least and the largest that it was; of complex ones, by part."""
        return self._low, self._high


def gradient_spread(
    reference: Reference, base: Backward, relative: Mapping[str, float]
) -> list[Spread]:
    """How each gradient changes, element by element, over a few random changes.

    Args:
        reference: the problem in double precision.
        base: the gradients as they are.
        relative: by name of the input, how large its relative change is at most; the upstream
            changes by the largest of them.

    Raises NotDeterministic where the gradient is another one each time: its own randomness would
    be taken for rounding, and excuse whatever it says.
    """
    problem = reference.problem
    rng = generator(problem.seed, 0x726E64)
    spreads = [
        Spread(np.zeros(operand.value.shape) if gradient is None else gradient)
        for operand, gradient in zip(reference.moved, base.gradients, strict=True)
    ]
    largest = max(relative.values(), default=0.0)
    tape = problem.tape(problem.function, problem.operands, Mode.EAGER)
    _must_repeat(reference, tape)
    for _ in range(DRAWS):
        values = [
            _changed(value, relative[operand.name], rng) if operand.differentiate else value
            for value, operand in zip(reference.values, problem.operands, strict=True)
        ]
        # A gradient is linear in its upstream, but what it rounds on the way is not. (The factor
        # is close to one, so that a fault that is not linear either is no excuse for itself.)
        factor = 1 + SCALED * rng.uniform(0.5, 1.0)
        upstream = [factor * _changed(to_double(ct), largest, rng) for ct in reference.upstream]
        moved = tape(values, upstream)
        for spread, before, after in zip(spreads, base.gradients, moved.gradients, strict=True):
            if before is not None and after is not None and before.shape == after.shape:
                with np.errstate(all="ignore"):
                    spread.add(np.asarray(to_double(after) / factor))
    return spreads


def another_each_time(name: str) -> NotDeterministic:
    """What is said of an input whose gradient does not repeat itself."""
    return NotDeterministic(
        f"the gradient of {name} is not deterministic: it differs from one call to the next. Fix "
        "its seed (tf.random.stateless_…)"
    )


def _must_repeat(reference: Reference, tape: Differentiate) -> None:
    first, *others = (tape(reference.values, reference.upstream) for _ in range(CALLS))
    for again in others:
        for operand, one, other in zip(
            reference.moved, first.gradients, again.gradients, strict=True
        ):
            if one is None or other is None or one.shape != other.shape:
                continue
            with np.errstate(all="ignore"):
                apart = np.abs(to_double(one) - to_double(other))
                size = np.abs(to_double(one))
            known = np.isfinite(apart)
            if apart[known].max(initial=0.0) > REORDERED * size[known].max(initial=0.0):
                raise another_each_time(operand.name)


def _changed(value: Array, relative: float, rng: np.random.Generator) -> Array:
    # Of random size: two signs alone would give an element two values, which may round alike.
    sizes = rng.uniform(0.25, 1.0, size=value.shape) * rng.choice([-1.0, 1.0], size=value.shape)
    return np.asarray(value * (1 + relative * sizes)).astype(value.dtype)


def formula_spread(
    formula: Formula, inputs: list[Array], upstream: list[Array], outputs: list[Array], seed: int
) -> Array:
    """The largest change of a formula's values when all that it is given changes in the last digit.

    Args:
        formula: a closed one.
        inputs: its arguments, in double precision.
        upstream: likewise.
        outputs: likewise.
        seed: for the changes.
    """
    rng = generator(seed, 0x666D6C)

    def beside(arrays: list[Array]) -> list[Array]:
        return [_changed(a, LAST_DIGIT, rng) if a.dtype.kind in "fc" else a for a in arrays]

    with np.errstate(all="ignore"):
        base = np.asarray(formula(inputs, upstream, outputs))
        spread = np.zeros(base.shape)
        for _ in range(DRAWS):
            moved = np.asarray(formula(beside(inputs), beside(upstream), beside(outputs)))
            spread = np.fmax(spread, np.abs(moved - base))
    return spread
