"""The gradient against the numeric derivative: right ones lie on the diagonal.

A factor turns the diagonal, a sign mirrors it, a transposed gradient scatters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.model import Verdict
from gradcheck.report import numbers
from gradcheck.report.formats.html import drawing
from gradcheck.report.formats.html.pictures.seen_elements import seen_elements

if TYPE_CHECKING:
    from gradcheck.model import Array, Comparison
    from gradcheck.report.formats.html.markup import Html
    from gradcheck.report.formats.html.pictures.seen_elements import SeenElements

_MOST_DOTS = 600
"""Of more elements only some are drawn, and all that are wrong up to so many: the eye sees no more,
and the page stays small."""


def agreement_plot(comparison: Comparison) -> Html | None:
    """Dots, each an element, with its error bar where that is wide enough to be seen."""
    seen = seen_elements(comparison)
    if seen is None or comparison.verdict is Verdict.DISCONNECTED:
        return None
    drawable = np.isfinite(seen.numeric) & np.isfinite(seen.analytic)
    if np.count_nonzero(drawable) < 3:  # (better told in a table)
        return None
    outside = seen.outside & drawable
    # (What passes all the same was granted for a reason, and is not wrong.)
    wrong = outside & (comparison.verdict is not Verdict.PASS)
    rows = _some(drawable & ~wrong), _some(wrong)
    both = [float(v) for v in (*seen.numeric[drawable], *seen.analytic[drawable])]
    x, y = drawing.across(both), drawing.upward(both)
    ends = [(x(v), y(v)) for v in (x.low, x.high)]
    right_ones, wrong_ones = (drawing.dots(_places(seen, some, x, y)) for some in rows)
    caption = _caption(comparison, seen, drawable, outside)
    return drawing.picture(
        f"Gradient against numeric derivative of {comparison.name}. {caption}",
        caption,
        drawing.axes(x, y, "numeric derivative", "gradient"),
        drawing.path("guide", drawing.line(ends)),
        drawing.path("bars", _bars(seen, np.concatenate(rows), x, y)),
        drawing.path("dots", right_ones),
        drawing.path("dots wrong", wrong_ones),
    )


def _some(chosen: Array) -> Array:
    """Which of these to draw: all of few, else some that are spread evenly."""
    rows = np.flatnonzero(chosen)
    return rows[:: max(1, -(-len(rows) // _MOST_DOTS))]


def _places(
    seen: SeenElements, rows: Array, x: drawing.Scale, y: drawing.Scale
) -> list[tuple[float, float]]:
    return [(x(float(seen.numeric[i])), y(float(seen.analytic[i]))) for i in rows]


def _bars(seen: SeenElements, rows: Array, x: drawing.Scale, y: drawing.Scale) -> str:
    """The error bars that are longer than a dot is wide."""
    drawn: dict[str, None] = {}
    for i in rows:
        numeric, bound = float(seen.numeric[i]), float(seen.bound[i])
        # (A bar that is not known reaches everywhere.)
        reach = bound if bound < float("inf") else x.high / 2 - x.low / 2
        left, right = x(numeric - reach), x(numeric + reach)
        if right - left > 2:
            drawn[f"M{left:.0f} {y(float(seen.analytic[i])):.0f}H{right:.0f}"] = None
    return "".join(drawn)


def _caption(comparison: Comparison, seen: SeenElements, drawable: Array, outside: Array) -> str:
    count, off = int(np.count_nonzero(drawable)), int(np.count_nonzero(outside))
    what = "element" if seen.parts == 1 else "number"
    which = numbers.count(count, what) if seen.all_of_them else f"the {count} worst {what}s"
    told = f"{which[0].upper()}{which[1:]}"
    if comparison.verdict is Verdict.PASS:
        if not off:
            return f"{told}, all within their error bars."
        return f"{told}; {off} beyond the error bar, by no more than the check grants."
    told += f": {off} off the diagonal by more than the error bar"
    missing = int(np.count_nonzero(np.isfinite(seen.numeric) & ~np.isfinite(seen.analytic)))
    return told + (f"; {missing} more not finite." if missing else ".")
