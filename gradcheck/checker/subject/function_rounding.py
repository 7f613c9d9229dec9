"""What a function rounds off on the way to its outputs, however little is left of it there.

The logarithm of one less a last digit is nearly zero, and stands still until that digit moves. Over
short steps such a function has no slope, and no noise either: nothing that it gives tells that it
was made of larger numbers. It shows when the results on the way are changed in their last digits.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.budget import Spent, current
from gradcheck.checker.numerics.vectors import to_double
from gradcheck.checker.subject.alike import passes_alike
from gradcheck.checker.subject.carry.cargo import CannotCarry, Cargo
from gradcheck.checker.subject.carry.carrying import carrying
from gradcheck.checker.subject.carry.passes import passes_at
from gradcheck.checker.subject.monte_carlo import Nudges
from gradcheck.checker.subject.tensors import call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.substituted import Run
    from gradcheck.model import Array


def rounded_off(
    problem: Problem, values: Sequence[Array], outputs: Sequence[Array]
) -> list[Array] | None:
    """By output: how far it moves where the results on the way to it round differently.

    None where that is not to be had: the function runs no ops that can be seen.

    Args:
        problem: whose function it is.
        values: of all the operands, in double precision.
        outputs: there.
    """
    one_by_one = partial(_one_by_one, plain=outputs)
    found = _tried(_carried, problem, values) or _tried(one_by_one, problem, values)
    if found is None:
        return None
    plain, drawn = found
    with np.errstate(all="ignore"):
        return [_spread(output, [each[i] for each in drawn]) for i, output in enumerate(plain)]


Draws = tuple[list["Array"], list[list["Array"]]]
"""The outputs as they are, and by draw."""


def _tried(
    draw: Callable[[Problem, Sequence[Array]], Draws], problem: Problem, values: Sequence[Array]
) -> Draws | None:
    """What is drawn so; None where that is not to be had."""
    try:
        return draw(problem, values)
    except Spent:
        raise
    except Exception:  # not everything can be carried, nor watched
        return None


def _carried(problem: Problem, values: Sequence[Array]) -> Draws:
    """All the draws together, carried along with one call."""

    def forth(arguments: list[Any], _upstream: list[Any], _given: list[Any]) -> Any:
        return call(problem.function, arguments), []

    points = [values] * (1 + limits.ROUNDING_DRAWS)
    nudges = Nudges(problem.seed, inside=True)
    found = passes_at(forth, problem.operands, points, [], nudges)
    plain, *drawn = ([to_double(output) for output in outputs] for outputs, _ in found)
    alone, shared = _called(problem, values), found[0][0]
    if len(shared) != len(alone) or not passes_alike(shared, alone, drawn):
        raise CannotCarry("it is another one then")
    _must_have_seen(nudges)
    return plain, drawn


def _one_by_one(problem: Problem, values: Sequence[Array], plain: Sequence[Array]) -> Draws:
    """A call for each draw, of a function that looks at its values, or runs what has no rule.

    Without it `test_what_is_added_where_values_are_looked_at` fails. A tape inside
    of the function loses what is replaced: where draws are far off, it has to give the same where
    all is replaced by itself. Else `test_a_gradient_that_looks_at_values_stands_still` fails.
    """
    nudges = Nudges(problem.seed, inside=True)

    def drawn(*, changed: bool) -> list[Array]:
        current().must_be_left()
        with carrying(_RoundingAnew(nudges, changed=changed)):
            outputs = [to_double(output) for output in _called(problem, values)]
        if [each.shape for each in outputs] != [each.shape for each in plain]:
            raise CannotCarry("it is another one then")
        _must_have_seen(nudges)
        return outputs

    draws = [drawn(changed=True) for _ in range(limits.ROUNDING_DRAWS_OF_ITS_OWN)]
    close = all(_are_close(each, plain) for each in draws)
    if not (close or passes_alike(drawn(changed=False), plain)):
        raise CannotCarry("it is another one then")
    return list(plain), draws


def _are_close(outputs: Sequence[Array], plain: Sequence[Array]) -> bool:
    """Whether no number is off by more than its last digits."""
    pairs = zip(outputs, plain, strict=True)
    return all((np.abs(a - b) <= tolerances.ROUGH * np.abs(b)).all() for a, b in pairs)


def _must_have_seen(nudges: Nudges) -> None:
    """Raise CannotCarry where nothing that rounds was seen: it may have been done elsewhere."""
    if not nudges.count:
        raise CannotCarry("nothing that rounds is seen")


class _RoundingAnew(Cargo):
    """Carries nothing: what each op gives is nudged at once, and whoever looks at it sees that."""

    def __init__(self, nudges: Nudges, *, changed: bool) -> None:
        super().__init__(2)
        self._nudges, self._changed = nudges, changed

    def execute(self, kind: str, inputs: Sequence[Any], run: Run) -> Any:
        """What the op gives, but for its last digits."""
        returned = run(*inputs)
        if self._is_busy:
            return returned
        self._is_busy = True
        try:
            # (Along a leading axis of points, a slice would cost as much as the op.)
            nudge = partial(self._nudges.of_one, kind, inputs, run=run, changed=self._changed)
            is_list = isinstance(returned, list)
            return [nudge(each) for each in returned] if is_list else nudge(returned)
        finally:
            self._is_busy = False


def _called(problem: Problem, values: Sequence[Array]) -> list[Array]:
    held = [operand.hold(value) for operand, value in zip(problem.operands, values, strict=True)]
    return [np.asarray(output.numpy()) for output in call(problem.function, held)]


def _spread(output: Array, drawn: Sequence[Array]) -> Array:
    """How far the draws are from the output, by number; those that are not finite tell nothing."""
    parts = [np.abs(np.real(each - output)) for each in drawn]
    most = np.max(np.where(np.isfinite(parts), parts, 0.0), axis=0)
    if not np.iscomplexobj(output):
        return np.asarray(most)
    parts = [np.abs(np.imag(each - output)) for each in drawn]
    return np.asarray(most + 1j * np.max(np.where(np.isfinite(parts), parts, 0.0), axis=0))
