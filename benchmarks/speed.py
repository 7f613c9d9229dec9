"""The time of one check and the accuracy of its numeric gradient, side by side with others.

All checkers take turns in one process, forwards and backwards, and the best time of each counts:
whatever else the machine does only ever adds to a time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import gradcheck
from benchmarks.frameworks import installed, load, note_of_missing
from benchmarks.markdown import table
from benchmarks.subjects import SPEED, Subject

if TYPE_CHECKING:
    from gradcheck.model import Array

OURS = "gradcheck"

ROUNDS, SECONDS = 100, 10.0
"""A function gets so many rounds, or as many as fit into so many seconds; two at least."""

TORCH_STEP = 1e-6
"""The step that torch.autograd.gradcheck takes."""

EXACT = 2.0**-53
"""An error of zero counts as this where errors are multiplied."""

TEXT = """\
Milliseconds for one check of one function with all its inputs differentiated, in float64: the best
of up to {rounds} interleaved rounds in one process, after one to warm up. A ratio says how many
times longer than gradcheck the other one takes; tf is `tf.test.compute_gradient`, torch is
`torch.autograd.gradcheck` in its slow mode. The error is that of the numeric gradient against the
analytic one, the largest of an input relative to the input's largest element: in the gradient for a
random upstream for gradcheck, in the Jacobian for the others."""


@dataclass(frozen=True)
class Measured:
    """What was measured of one function, by checker."""

    seconds: Mapping[str, float]
    errors: Mapping[str, float]

    def ratio(self, other: str) -> float:
        """How many times longer than gradcheck the other one takes."""
        return self.seconds[other] / self.seconds[OURS]


def run(*, quick: bool = False) -> str:
    """The table of times and errors, as a section of Markdown."""
    rounds = 2 if quick else ROUNDS
    others = ["tf", "torch"] if installed("torch") else ["tf"]
    measured = [measure(subject, others, rounds) for subject in SPEED]
    header = ["function", f"{OURS} ms"]
    for other in others:
        header += [f"{other} ms", "ratio"]
    header += [f"error of {name}" for name in (OURS, *others)]
    rows = [_row(s.name, [m], others) for s, m in zip(SPEED, measured, strict=True)]
    rows.append(_row("**geometric mean**", measured, others))
    parts = ["## Speed", TEXT.format(rounds=rounds), table(header, rows), note_of_missing()]
    return "\n\n".join(part for part in parts if part) + "\n"


def measure(subject: Subject, others: Iterable[str], rounds: int) -> Measured:
    """The best time of each checker, and the error of its numeric gradient."""
    checks, errors = {}, {}
    for name in (OURS, *others):
        check, error = _CONTENDERS[name](subject)
        checks[name], errors[name] = check, error()
    return Measured(best_times(checks, rounds), errors)


def best_times(checks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The shortest time of each, taken in turns."""
    best = dict.fromkeys(checks, float("inf"))
    for check in checks.values():
        check()
    started = time.perf_counter()
    for number in range(rounds):
        if number >= 2 and time.perf_counter() - started > SECONDS:
            break
        # Nobody always comes after the same neighbour, whose threads may not be at rest yet.
        for name in list(checks)[:: 1 if number % 2 else -1]:
            begun = time.perf_counter()
            checks[name]()
            best[name] = min(best[name], time.perf_counter() - begun)
    return best


def geometric_mean(values: Iterable[float]) -> float:
    """The mean that suits ratios."""
    return float(np.exp(np.mean(np.log(list(values)))))


def _row(name: str, measured: list[Measured], others: list[str]) -> list[str]:
    """One function's figures, or the geometric means of several."""
    cells = [name, _milliseconds(m.seconds[OURS] for m in measured)]
    for other in others:
        cells.append(_milliseconds(m.seconds[other] for m in measured))
        cells.append(f"{geometric_mean(m.ratio(other) for m in measured):.1f}")
    cells += [
        f"{geometric_mean(max(m.errors[checker], EXACT) for m in measured):.0e}"
        for checker in (OURS, *others)
    ]
    return cells


def _milliseconds(seconds: Iterable[float]) -> str:
    return f"{1e3 * geometric_mean(seconds):.1f}"


def _worst(pairs: Iterable[tuple[Array | None, Array | None]]) -> float:
    """The largest error of the numeric gradients (second) against the analytic ones (first)."""
    errors = []
    for analytic, numeric in pairs:
        if analytic is None or numeric is None:
            raise ValueError("a checker gave no gradient to compare")
        errors.append(float(np.abs(analytic - numeric).max() / np.abs(analytic).max()))
    return max(errors)


Contender = tuple[Callable[[], object], Callable[[], float]]
"""One check, and the error of its numeric gradient."""


def _ours(subject: Subject) -> Contender:
    function, inputs = subject.function("tensorflow"), subject.inputs("tensorflow")

    def error() -> float:
        result = gradcheck.check(function, *inputs)
        if not result.verdict.acceptable:
            raise ValueError(f"{subject.name}: a false alarm, {result.verdict}")
        return _worst((c.analytic, c.numeric) for c in result.comparisons)

    return lambda: gradcheck.check(function, *inputs), error


def _tensorflow(subject: Subject) -> Contender:
    compute = load("tensorflow").test.compute_gradient
    function, inputs = subject.function("tensorflow"), subject.inputs("tensorflow")
    return (
        lambda: compute(function, inputs),
        lambda: _worst(zip(*compute(function, inputs), strict=True)),
    )


def _torch(subject: Subject) -> Contender:
    torch = load("torch")
    function, inputs = subject.function("torch"), tuple(subject.inputs("torch"))

    def error() -> float:
        # The only public way to torch's numeric Jacobian calls itself deprecated.
        numerically: Any = import_module("torch.autograd.gradcheck").get_numerical_jacobian
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            numeric = numerically(lambda xs: function(*xs), inputs, eps=TORCH_STEP)
        analytic = torch.autograd.functional.jacobian(function, inputs)
        return _worst(
            (a.reshape(-1, x.numel()).numpy(), n.T.detach().numpy())
            for a, n, x in zip(analytic, numeric, inputs, strict=True)
        )

    return lambda: torch.autograd.gradcheck(function, inputs), error


_CONTENDERS: dict[str, Callable[[Subject], Contender]] = {
    OURS: _ours,
    "tf": _tensorflow,
    "torch": _torch,
}
