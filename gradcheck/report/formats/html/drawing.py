"""Drawing in SVG: scales, axes and paths, with as few digits as a picture needs.

A picture is drawn by paths alone, one for all marks of a kind: dots are lines of no length with
round ends. The colours are those of `page.css`, by class: they follow light, dark and paper.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.report.formats.html.markup import Html, joined, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.model import Array

WIDTH, HEIGHT = 260, 170
"""Of a picture, in pixels: three stand side by side on a screen, and one fits on a phone."""

LARGEST_CELL, SMALLEST_CELL = 16, 3
"""Of pictures that are made of cells, in pixels."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 10, 30
"""The margins, which hold the axes."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From numbers to places along an axis; what lies beyond its ends is drawn at them."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The place of a number."""
        low, high = self.low, self.high
        if self.logarithmic:
            # (Zero lies below every power of ten.)
            value = math.log10(value) if value > 0 else low
        # Halves, since the difference of two large numbers may be infinite.
        share = (value / 2 - low / 2) / (high / 2 - low / 2)
        return self.start + min(max(share, 0.0), 1.0) * (self.stop - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Places with their numbers: the ends and, of powers of ten, some between them."""
        if not self.logarithmic:
            inner = [0.0] if self.low < 0 < self.high else [self.low / 2 + self.high / 2]
            return [(self(v), short(v)) for v in (self.low, *inner, self.high)]
        first, last = math.ceil(self.low), math.floor(self.high)
        stride = max(1, math.ceil((last - first) / 4))
        exponents = range(first, last + 1, stride)
        return [(self(10.0**e if -300 < e < 300 else 0.0), f"1e{e}") for e in exponents]


def linear(values: Iterable[float], start: float, stop: float) -> Scale:
    """A scale that has room for all the numbers that are finite."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    # (Halves, as above: the smallest numbers have none.)
    if low / 2 == high / 2:
        reach = abs(low) / 2 if abs(low) > _SMALLEST else 1.0
        low, high = max(low - reach, -_LARGEST), min(high + reach, _LARGEST)
    return Scale(low, high, start, stop)


_SMALLEST, _LARGEST = 1e-300, 1.7e308


def powers(values: Iterable[float], start: float, stop: float) -> Scale:
    """A logarithmic scale, from a power of ten to another."""
    finite = [math.log10(value) for value in values if 0 < value < math.inf] or [0.0]
    low, high = math.floor(min(finite)), math.ceil(max(finite))
    return Scale(low, max(high, low + 1), start, stop, logarithmic=True)


def across(values: Iterable[float], *, logarithmic: bool = False) -> Scale:
    """The horizontal scale of a picture."""
    return (powers if logarithmic else linear)(values, _LEFT, WIDTH - _RIGHT)


def upward(values: Iterable[float], *, logarithmic: bool = False) -> Scale:
    """The vertical scale of a picture."""
    return (powers if logarithmic else linear)(values, HEIGHT - _BOTTOM, _TOP)


def axes(x: Scale, y: Scale, x_title: str, y_title: str) -> Html:
    """Both axes with their numbers and titles."""
    left, bottom = min(x.start, x.stop), max(y.start, y.stop)
    lines = f"M{n(left)} {n(min(y.start, y.stop))}V{n(bottom)}H{n(max(x.start, x.stop))}"
    texts = []
    marks = x.ticks()
    for i, (place, label) in enumerate(marks):
        # (Those at the ends stay inside of the picture.)
        anchor = "start" if i == 0 else "end" if i == len(marks) - 1 else "middle"
        texts.append(_label(place, bottom + 11, label, anchor))
    texts += [_label(left - 3, place + 3, label, "end") for place, label in y.ticks()]
    texts.append(_label((x.start + x.stop) / 2, HEIGHT - 4, x_title, "middle", "axis"))
    middle = (y.start + y.stop) / 2
    turned = tag(
        "text",
        y_title,
        class_="axis",
        text_anchor="middle",
        transform=f"translate(8 {n(middle)})rotate(-90)",
    )
    return joined([path("frame", lines), *texts, turned])


def _label(x: float, y: float, text: str, anchor: str, class_: str | None = None) -> Html:
    return tag("text", text, x=n(x), y=n(y), text_anchor=anchor, class_=class_)


def note_in(x: float, y: float, text: str, class_: str, anchor: str = "start") -> Html:
    """A word inside of a picture."""
    return _label(x, y, text, anchor, class_)


def path(class_: str, data: str) -> Html:
    """A path; nothing if it is empty."""
    return tag("path", class_=class_, d=data) if data else Html("")


def dots(places: Iterable[tuple[float, float]]) -> str:
    """The path of dots, those on the same pixel once."""
    return "".join(dict.fromkeys(f"M{x:.0f} {y:.0f}h0" for x, y in places))


def line(places: Sequence[tuple[float, float]]) -> str:
    """The path of a line through these places."""
    return "M" + "L".join(f"{n(x)} {n(y)}" for x, y in places) if len(places) > 1 else ""


def picture(title: str, caption: str, *parts: Html) -> Html:
    """A figure: its title is read aloud, its caption stands below."""
    size = f"0 0 {WIDTH} {HEIGHT}"
    drawn = tag("svg", *parts, viewBox=size, role="img", aria_label=title, class_="picture")
    return tag("figure", drawn, tag("figcaption", caption))


def cells(parts: Iterable[Html], rows: int, columns: int, size: int, title: str) -> Html:
    """A picture of cells, each so many pixels wide: its parts are drawn with a cell as the unit."""
    return tag(
        "svg",
        *parts,
        viewBox=f"-.1 -.1 {columns + 0.2:g} {rows + 0.2:g}",
        width=columns * size,
        height=rows * size,
        role="img",
        aria_label=title,
        class_="cells",
    )


def cells_path(chosen: Array) -> str:
    """The path of the cells that are chosen in rows and columns; neighbours in a row are one."""
    drawn = []
    for y, row in enumerate(np.asarray(chosen, dtype=bool)):
        for run in _RUN.finditer(row.tobytes()):
            width = run.end() - run.start()
            drawn.append(f"M{run.start()} {y}h{width}v1h-{width}z")
    return "".join(drawn)


_RUN = re.compile(rb"\x01+")


def n(value: float) -> str:
    """A coordinate: a tenth of a pixel is enough."""
    return f"{value:.1f}".removesuffix(".0")


def short(value: float) -> str:
    """A number beside an axis."""
    return f"{value + 0.0:.2g}"
