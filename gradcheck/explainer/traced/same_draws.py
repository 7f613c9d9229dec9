"""Random numbers that a function draws, drawn again at each call: what was drawn is held.

A page is about one call, and its masks and noise stand on it as constants. Differences and tape
have to be those of the same numbers, so every call begins at the same seed.
"""

from __future__ import annotations

import contextlib
import random
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.callee import Callee
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.checker.subject.quantile import draws
from gradcheck.checker.subject.tensors import FunctionRaised, call
from gradcheck.explainer.traced.ran_ops import watch
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.traced.ran_ops import Watched
    from gradcheck.model import Array

__all__ = ["DRAWN", "are_held", "drawn_again", "random_state_kept"]

DRAWN = (
    "It draws random numbers: those of one call are held here, and the proof draws the same again."
)
NO_DRAW = 1e-5
"""Between two calls, by the largest number: of rounding, as another order of sums leaves it."""


@frozen(slots=True)
class _Held(Callee):
    """A function that begins at the same seeds each time, wherever in it something is drawn.

    Inside of a tf.function every op keeps a sequence of its own, which no seed begins again: so
    each is run as the Python that it was made of. Without that
    `test_a_mask_inside_of_a_function_is_held` fails.
    """

    seed: int = 0

    def __call__(self, *tensors: Any) -> Any:
        """What the target returns for these, with the numbers that are always drawn."""
        import tensorflow as tf

        if not tf.executing_eagerly():
            raise NotImplementedError("what is drawn in a graph is drawn again at every run")
        _begin_again(self.seed)
        with as_python():
            # (No `super()` of no arguments: a class with slots is made twice.)
            return Callee.__call__(self, *tensors)


def drawn_again(problem: Problem, watched: Watched) -> tuple[Problem, Watched]:
    """The two with the same draws at every call; as they are where nothing is drawn.

    A sampler whose numbers depend on the inputs is left alone: its gradient is not that of a
    number that is held. So is what draws from where no seed of ours reaches.
    """
    drawn = draws(watched.kinds)
    if (not drawn and _repeats(problem, watched, NO_DRAW)) or _samples_of_inputs(watched):
        return problem, watched
    seeded = replace(problem, function=_held(problem.function, problem.seed))
    again = watch(seeded)
    return (seeded, again) if _repeats(seeded, again, 0.0) else (problem, watched)


def are_held(problem: Problem) -> bool:
    """Whether this is a problem of `drawn_again` in which something is drawn."""
    return isinstance(problem.function, _Held)


def _held(function: Callable[..., Any], seed: int) -> _Held:
    """With what the user brought in its place: others look there for its variables."""
    if isinstance(function, Callee):
        return _Held(function.target, function.arrange, function.select, seed)
    return _Held(function, seed=seed)


def _repeats(problem: Problem, watched: Watched, rounds: float) -> bool:
    """Whether another call gives the same, but for what may be rounded."""
    with contextlib.suppress(FunctionRaised), explored(problem) as whole:
        outputs = call(whole.function, [o.give(o.value) for o in whole.operands])
        pairs = zip(outputs, watched.outputs, strict=True)
        return all(_are_same(x.numpy(), y.numpy(), rounds) for x, y in pairs)
    return True  # what it raises is for others to say


def _samples_of_inputs(watched: Watched) -> bool:
    """Whether something is drawn that has a gradient of its own by what it is drawn with."""
    moving = {id(given) for given in watched.given}
    for ran in watched.ran:
        if any(id(given) in moving for given in ran.inputs):
            if "Gamma" in ran.kind and draws([ran.kind]):
                return True
            moving |= {id(out) for out in ran.outputs}
    return False


def _begin_again(seed: int) -> None:
    """All sequences that a function may draw from without being given one: back to their start."""
    import tensorflow as tf

    tf.random.set_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)


def _are_same(one: Array, other: Array, rounds: float) -> bool:
    if one.shape != other.shape:
        return False
    scale = float(np.max(np.abs(other), initial=0.0, where=np.isfinite(other)))
    return bool(np.allclose(one, other, 0.0, rounds * scale, equal_nan=True))


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Put the seeds of the process, and where their sequences have come to, back at the end."""
    of_numpy, of_python = np.random.get_state(), random.getstate()
    with _state_of_tensorflow_kept():
        try:
            yield
        finally:
            np.random.set_state(of_numpy)
            random.setstate(of_python)


@contextmanager
def _state_of_tensorflow_kept() -> Iterator[None]:
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
