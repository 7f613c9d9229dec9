"""Small functions that round on their way: an input, all of them, something inside, or the outputs.

    python -m tools.rounded             a trial of 240 such functions, each right and with a fault
    python -m tools.rounded --first 60 --count 10 -v    some of them, with what the checks say

The rest of each function computes in float64, as a layer does whose policy rounds its weights. Its
gradient is that of the casts, which rounds too, or passes the rounding by. No right gradient may be
called wrong, and a factor that is many roundings from one must be found.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gradcheck.checker.api import check, describe
from gradcheck.model import Verdict
from tools.rounded_bodies import BODIES, Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.model import Array, Result

ROUNDINGS = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""What rounding to the nearest number changes at most, relative to it."""

PLACES = ("first", "last", "inputs", "inside", "output")
"""What is rounded: one of the inputs, all of them, an intermediate result, the output."""

LEAST_FAULT = 1e-4
FAULT_IN_ROUNDINGS = 64
"""The factor of a planted fault differs from one by the larger of these."""

ARRIVED = (Verdict.PASS, Verdict.KINK)

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Trial:
    """One function at one point."""

    body: Body
    place: str
    dtype: str
    straight: bool
    """The gradient passes the rounding by; else it is that of a cast, and rounds."""
    seed: int

    def __str__(self) -> str:
        """Its name, which says all of it."""
        how = "straight" if self.straight else "cast"
        return f"{self.body.name}[{self.place},{self.dtype},{how},{self.seed}]"

    @property
    def inputs(self) -> list[Array]:
        """Drawn, with all their bits."""
        return self.body.draw(np.random.default_rng([self.seed, 0x726F]))

    @property
    def fault(self) -> float:
        """The factor of a planted fault."""
        return 1 + max(LEAST_FAULT, FAULT_IN_ROUNDINGS * ROUNDINGS[self.dtype])

    def function(self, factor: float = 1.0) -> Function:
        """The function; its gradients are too large by this factor."""
        import tensorflow as tf

        def rounded(tensor: Any) -> Any:
            return tf.cast(tf.cast(tensor, self.dtype), tensor.dtype)

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def passed_by(tensor: Any) -> Any:
            return rounded(tensor), lambda upstream: upstream

        def mark(place: str, tensor: Any) -> Any:
            if place != self.place and not (self.place == "inputs" and place in PLACES[:2]):
                return tensor
            return passed_by(tensor) if self.straight else rounded(tensor)

        def function(*given: Any) -> Any:
            first, *others = [_scaled(tensor, factor) for tensor in given]
            marked = [mark("first", first), *others]
            if len(marked) > 1:
                marked[-1] = mark("last", marked[-1])
            return mark("output", self.body.function(*marked, mark=mark))

        return function

    def check(self, *, faulty: bool) -> Result:
        """The verdict on its gradients, right or wrong."""
        return check(self.function(self.fault if faulty else 1.0), *self.inputs, seed=self.seed)


def _scaled(tensor: Any, factor: float) -> Any:
    """The tensor, whose gradient is so many times what it should be."""
    import tensorflow as tf

    if factor == 1:
        return tensor

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def same(value: Any) -> Any:
        return tf.identity(value), lambda upstream: upstream * factor

    return same(tensor)


def trials(first: int, count: int) -> Iterator[Trial]:
    """So many of them: every body, place and precision in turn, drawn by their number."""
    for number in range(first, first + count):
        rng = np.random.default_rng([number, 0x747269])
        body = BODIES[int(rng.integers(len(BODIES)))]
        places = [p for p in PLACES if p in body.places]
        yield Trial(
            body,
            places[int(rng.integers(len(places)))],
            tuple(ROUNDINGS)[number % len(ROUNDINGS)],
            bool(rng.integers(2)),
            number,
        )


class Count:
    """How the trials ended, by precision and by what is rounded."""

    def __init__(self) -> None:
        self._ends: Counter[tuple[str, str, str]] = Counter()

    def add(self, trial: Trial, right: Result, wrong: Result) -> bool:
        """Count both results of a trial; returns whether one is not as it should be."""
        ends = []
        if right.verdict not in ARRIVED:
            ends.append("undecided" if right.verdict is Verdict.INCONCLUSIVE else "false alarm")
        if wrong.verdict in ARRIVED:
            ends.append("fault passed")
        elif wrong.verdict is not Verdict.MISMATCH:
            ends.append("fault undecided")
        for end in ["trials", *ends]:
            self._ends[trial.dtype, trial.place, end] += 1
        return bool(ends)

    @property
    def bad(self) -> int:
        """How many right gradients were called wrong and how many faults passed."""
        counted = self._ends.items()
        return sum(n for (_, _, end), n in counted if end in ("false alarm", "fault passed"))

    def __str__(self) -> str:
        """A line for each precision and each place, and one for all."""
        ends = ("trials", "false alarm", "undecided", "fault passed", "fault undecided")
        lines = [f"{'':10}" + "".join(f"{end:>16}" for end in ends)]
        for name in (*ROUNDINGS, *PLACES, "all"):
            mine = [
                sum(n for (*key, e), n in self._ends.items() if e == end and name in (*key, "all"))
                for end in ends
            ]
            lines.append(f"{name:10}" + "".join(f"{n:16}" for n in mine))
        return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try them, print what is not as it should be, and the count."""
    parser = argparse.ArgumentParser(prog="python -m tools.rounded", description=__doc__)
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER")
    parser.add_argument("--count", type=int, default=240, metavar="N")
    parser.add_argument("-v", dest="verbose", action="store_true")
    given = parser.parse_args(arguments)
    count = Count()
    for trial in trials(given.first, given.count):
        right, wrong = trial.check(faulty=False), trial.check(faulty=True)
        if count.add(trial, right, wrong) or given.verbose:
            print(f"{trial} {right.verdict}, with a fault {wrong.verdict}", flush=True)
            if given.verbose:
                print(f"{describe(right)}\n{describe(wrong)}", flush=True)
    print(count)
    return 1 if count.bad else 0


if __name__ == "__main__":
    sys.exit(main())
