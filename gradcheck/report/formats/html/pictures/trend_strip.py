"""How a case fared from run to run: a square for each verdict, and its error above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report import numbers
from gradcheck.report.endings import status_of
from gradcheck.report.formats.html import drawing
from gradcheck.report.formats.html.markup import tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Result
    from gradcheck.report.formats.html.markup import Html

_CELL, _ROOM = 14, 28
"""The width of a run, and the height that errors have, in pixels."""


def trend_strip(past: Sequence[Result | None]) -> Html:
    """The strip of one case, the newest at the right; None where a run did not have it."""
    errors = [None if r is None else largest_error(r) for r in past]
    told = [error for error in errors if error is not None and error > 0]
    y = drawing.powers(told, _ROOM - 3, 3)
    parts = []
    for status in dict.fromkeys(status_of(r) for r in past if r is not None):
        at = [i for i, r in enumerate(past) if r is not None and status_of(r) == status]
        squares = "".join(
            f"M{i * _CELL + 1} {_ROOM}h{_CELL - 2}v{_CELL - 2}h{2 - _CELL}z" for i in at
        )
        parts.append(drawing.path(f"fill-{status}", squares))
    places = [
        (i * _CELL + _CELL / 2, y(error)) for i, error in enumerate(errors) if error is not None
    ]
    parts += [
        drawing.path("curve", drawing.line(places)),
        drawing.path("dots", drawing.dots(places)),
    ]
    words = [
        "not there" if r is None else f"{r.verdict} ({numbers.error(e)})"
        for r, e in zip(past, errors, strict=True)
    ]
    width, height = _CELL * len(past), _ROOM + _CELL
    svg = tag(
        "svg",
        *parts,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"From the oldest run to this one: {', '.join(words)}",
        class_="strip",
    )
    caption = "Verdicts by run, and the largest relative error above them; this run is the last."
    return tag("figure", svg, tag("figcaption", caption))


def largest_error(result: Result) -> float | None:
    """The largest relative error of a case; None where there is none."""
    return numbers.largest(c.max_rel_error for c in result.comparisons)
