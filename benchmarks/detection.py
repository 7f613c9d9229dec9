"""The smallest planted error that each checker catches, and what it says of correct gradients."""

from __future__ import annotations

from benchmarks.checkers import Checker, Judgement, available
from benchmarks.frameworks import note_of_missing
from benchmarks.markdown import table
from benchmarks.planting import plant
from benchmarks.subjects import DETECTION, Subject
from gradcheck.model import Array

SIZES = (0.5, *(10.0**-k for k in range(1, 11)))
"""Relative errors that are planted, from the one that is hard to miss."""

DRAWS = 5
"""How many inputs are drawn for each function with its correct gradient."""

TEXT = """\
The smallest relative error d that is caught when the whole gradient / the middle element of the
first input's gradient is multiplied by 1 + d, in float64, with each checker's defaults. The errors
planted are 0.5, 0.1, 1e-2, … 1e-10; an error counts as caught if all the larger ones are too, and
“nothing” is a checker that lets 0.5 pass. A false alarm is a correct gradient that does not pass;
each function is checked at {draws} random inputs for that."""


def run(*, quick: bool = False) -> str:
    """The table of detection floors, as a section of Markdown."""
    draws = 1 if quick else DRAWS
    header = ["checker", *(subject.name for subject in DETECTION), "false alarms"]
    rows = [
        [checker.name, *(_cell(checker, s) for s in DETECTION), _false_alarms(checker, draws)]
        for checker in available()
    ]
    parts = ["## Detection", TEXT.format(draws=draws), table(header, rows), note_of_missing()]
    return "\n\n".join(part for part in parts if part) + "\n"


def caught(checker: Checker, subject: Subject, size: float, *, whole: bool) -> bool:
    """Whether the checker says that a gradient with this error is wrong."""
    framework = checker.framework
    inputs = subject.inputs(framework)
    factors = [_ones(x) for x in inputs]
    if whole:
        factors = [factor * (1 + size) for factor in factors]
    else:
        factors[0].flat[factors[0].size // 2] += size
    function = plant(framework, subject.function(framework), factors)
    return checker.judge(function, inputs) is Judgement.WRONG


def floor(checker: Checker, subject: Subject, *, whole: bool) -> float | None:
    """The smallest error that is caught together with all larger ones; None for none at all."""
    smallest = None
    for size in SIZES:
        if not caught(checker, subject, size, whole=whole):
            break
        smallest = size
    return smallest


def _cell(checker: Checker, subject: Subject) -> str:
    return " / ".join(_text(floor(checker, subject, whole=whole)) for whole in (True, False))


def _text(size: float | None) -> str:
    if size is None:
        return "nothing"
    # Nothing smaller was planted, so it may be less.
    prefix = "≤ " if size == SIZES[-1] else ""
    return prefix + (f"{size:g}" if size >= 0.1 else f"1e{round(_exponent(size))}")


def _exponent(size: float) -> float:
    from math import log10

    return log10(size)


def _false_alarms(checker: Checker, draws: int) -> str:
    framework = checker.framework
    alarms = sum(
        checker.judge(subject.function(framework), subject.inputs(framework, seed))
        is not Judgement.RIGHT
        for subject in DETECTION
        for seed in range(draws)
    )
    return f"{alarms} of {draws * len(DETECTION)}"


def _ones(tensor: object) -> Array:
    import numpy as np

    shape: tuple[int, ...] = tuple(getattr(tensor, "shape", ()))
    return np.ones(shape)
