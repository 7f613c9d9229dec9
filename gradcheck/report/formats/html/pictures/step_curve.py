"""The error of the difference quotient against its step: truncation falls, round-off rises."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.model import Verdict
from gradcheck.report import numbers
from gradcheck.report.formats.html import drawing
from gradcheck.report.formats.html.markup import Html, joined

if TYPE_CHECKING:
    from gradcheck.model import CloseUp, Comparison

_FEWEST_STEPS = 4
"""Steps that make a curve."""
_DEEPEST = 1e-17
"""Errors are drawn down to this share of the derivative: below, there are none."""


def step_curve(comparison: Comparison) -> Html | None:
    """The curve, the step that was chosen, the error bar, and how far the gradient is off."""
    seen = comparison.close_up
    if seen is None or comparison.verdict is Verdict.KINK or _at_a_kink(comparison, seen):
        return None
    pairs = [
        (step, error)
        for step, error in zip(seen.steps, seen.errors, strict=True)
        if 0 < step < math.inf and math.isfinite(error)
    ]
    if len(pairs) < _FEWEST_STEPS or not math.isfinite(seen.numeric):
        return None
    off = abs(seen.analytic - seen.numeric)
    floor = _DEEPEST * max(abs(seen.numeric), 1e-290)
    heights = [max(error, floor) for _, error in pairs]
    x = drawing.across([step for step, _ in pairs], logarithmic=True)
    lines = [value for value in (seen.bound, off) if 0 < value < math.inf]
    y = drawing.upward([*heights, *lines], logarithmic=True)
    curve = [(x(step), y(height)) for (step, _), height in zip(pairs, heights, strict=True)]
    caption = _caption(comparison, seen, off)
    return drawing.picture(
        f"Error of the difference quotient by step. {caption}",
        caption,
        drawing.axes(x, y, "step", "error of the quotient"),
        _level(x, y, seen.bound, "bar"),
        _level(x, y, off, "fine" if comparison.verdict is Verdict.PASS else "wrong"),
        drawing.path("curve", drawing.line(curve)),
        drawing.path("dots", drawing.dots(curve)),
        _chosen(x, y, seen),
    )


def _at_a_kink(comparison: Comparison, seen: CloseUp) -> bool:
    """Whether there is no one derivative that quotients could draw near to."""
    return any(e.index == seen.index and e.left is not None for e in comparison.worst)


def _level(x: drawing.Scale, y: drawing.Scale, value: float, class_: str) -> Html:
    """A height, all across the picture, with its name."""
    if not 0 < value < math.inf:
        return Html("")
    place = y(value)
    words = {"bar": "error bar", "wrong": "the gradient's error", "fine": "the gradient's error"}
    right = x.stop - 2 if class_ == "bar" else x.start + 3
    return joined(
        [
            drawing.path(f"level {class_}", f"M{drawing.n(x.start)} {drawing.n(place)}H{x.stop}"),
            drawing.note_in(
                right, place - 2, words[class_], class_, "end" if class_ == "bar" else "start"
            ),
        ]
    )


def _chosen(x: drawing.Scale, y: drawing.Scale, seen: CloseUp) -> Html:
    if not 0 < seen.chosen < math.inf:
        return Html("")
    place = drawing.n(x(seen.chosen))
    return drawing.path("chosen", f"M{place} {drawing.n(y.start)}V{drawing.n(y.stop)}")


def _caption(comparison: Comparison, seen: CloseUp, off: float) -> str:
    part = " (imaginary part)" if seen.imaginary else ""
    where = f"{comparison.name}{numbers.index(seen.index) if seen.index else ''}{part}"
    told = f"{where}: {numbers.scalar(seen.numeric)} ± {numbers.error(seen.bound)}"
    if 0 < seen.chosen < math.inf:
        told += f", extrapolated from steps down to {numbers.error(seen.chosen)} (dashed)"
    return f"{told}; the gradient is off by {numbers.error(off)}."
