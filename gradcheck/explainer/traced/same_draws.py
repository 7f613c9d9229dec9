"""Random numbers that a function draws, drawn again at each call: what was drawn is held.

A page is about one call, and its masks and noise stand on it as constants. Differences and tape
have to be those of the same numbers, so every call begins at the same seed.
"""

from __future__ import annotations

import contextlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.callee import Callee
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.checker.subject.quantile import draws
from gradcheck.checker.subject.tensors import FunctionRaised, call
from gradcheck.explainer.traced.ran_ops import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradcheck.checker.subject.callee import Arguments
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.traced.ran_ops import Watched

__all__ = ["DRAWN", "drawn_again", "random_state_kept"]

DRAWN = (
    "It draws random numbers: those of one call are held here, and the proof draws the same again."
)


@dataclass(frozen=True, slots=True, eq=False)
class _Seeded:
    """A function, or the arranging of its arguments, that begins at the same seed each time."""

    function: Callable[..., Any]
    seed: int

    def __call__(self, *given: Any) -> Any:
        import tensorflow as tf

        tf.random.set_seed(self.seed)
        return self.function(*given)


def drawn_again(problem: Problem, watched: Watched) -> tuple[Problem, Watched]:
    """The two with the same draws at every call; as they are where nothing is drawn.

    A sampler whose numbers depend on the inputs is left alone: its gradient is not that of a
    number that is held. So is what draws other numbers in a graph than as Python.
    """
    kinds = {ran.kind for ran in watched.ran}
    if not draws(kinds) or any("Gamma" in kind for kind in kinds):
        return problem, watched
    seeded = replace(problem, function=_seeded(problem.function, problem.seed))
    again = watch(seeded)
    with contextlib.suppress(FunctionRaised), explored(seeded) as whole:
        outputs = call(whole.function, [o.give(o.value) for o in whole.operands])
        if _are_same(outputs, again.outputs):
            return seeded, again
    return problem, watched


def _seeded(function: Callable[..., Any], seed: int) -> Callable[..., Any]:
    """With what the user brought in its place: others look there for its variables."""
    if not isinstance(function, Callee):
        return _Seeded(function, seed)
    arrange: Callable[[Sequence[Any]], Arguments] = _Seeded(function.arrange, seed)
    return replace(function, arrange=arrange)


def _are_same(found: Sequence[Any], others: Sequence[Any]) -> bool:
    pairs = zip(found, others, strict=True)
    return all(np.array_equal(x.numpy(), y.numpy(), equal_nan=True) for x, y in pairs)


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Put the seed of the process, and where its sequence has come to, back at the end."""
    try:
        context = private(Private.CONTEXT)()
        # (There is no public way to ask.)
        seed, numbers = context._seed, context._rng
    except (Absent, AttributeError):
        yield
        return
    reached = None if numbers is None else numbers.getstate()
    try:
        yield
    finally:
        context._seed, context._rng = seed, numbers
        if numbers is not None:
            numbers.setstate(reached)
