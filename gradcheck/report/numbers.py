"""How numbers, shapes and times are written, the same in every report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.model import magnitude

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.model import Comparison, Element, Scalar, Shape

NOTHING = "–"
"""Stands where there is no number: a disconnected input has no error."""

_DIGITS = 6
"""All that a float32 is sure to hold; enough where no two values have to be told apart."""
_MOST_DIGITS = 17
"""A float64 has no more to show."""


def error(value: float | None) -> str:
    """An error or a bar: two digits tell its size, and the column stays narrow."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e3:
        return f"{value:.3g}"
    return f"{value:.1e}"


def scalar(value: Scalar | None, digits: int = _DIGITS) -> str:
    """A value of a tensor, real or complex."""
    if value is None:
        return NOTHING
    # (The sign of a zero is nothing but a question to the reader.)
    if np.iscomplexobj(value):
        return f"{complex(value.real + 0.0, value.imag + 0.0):.{digits}g}"
    return f"{float(value.real) + 0.0:.{digits}g}"


def digits_to_tell(elements: Iterable[Element]) -> int:
    """How many digits show that the analytic and the numeric values differ."""
    return max((_digits(element) for element in elements), default=_DIGITS)


def _digits(element: Element) -> int:
    size = max(magnitude(element.analytic), magnitude(element.numeric))
    if not (0 < element.error < math.inf and size < math.inf):
        return _DIGITS
    # Two digits beyond the first one that differs.
    needed = math.ceil(math.log10(size) - math.log10(element.error)) + 2
    return min(max(needed, _DIGITS), _MOST_DIGITS)


def index(position: tuple[int, ...]) -> str:
    """Where an element stands; the one element of a scalar has no index."""
    if not position:
        return "scalar"
    return f"[{', '.join(str(int(i)) for i in position)}]"


def named_shape(name: str, shape: Shape) -> str:
    """An input with its shape: `x[3,4]`; a scalar is just its name."""
    return f"{name}[{','.join(str(n) for n in shape)}]" if shape else name


def elements(comparison: Comparison) -> str:
    """How many elements there are and, where not all were judged, how many were."""
    total = comparison.elements
    text = str(total)
    if comparison.directions or 0 < comparison.judged < total:
        text = f"{comparison.judged} of {total}"
    if comparison.directions:
        text += f" + {count(comparison.directions, 'direction')}"
    return text


def seconds(value: float) -> str:
    """A duration, to three digits at most."""
    if value < 10:
        return f"{value:.2f} s"
    if value < 100:
        return f"{value:.1f} s"
    if value < 600:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def count(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def largest(values: Iterable[float | None]) -> float | None:
    """The largest of the numbers there are; a NaN among them is worse than any number."""
    known = [value for value in values if value is not None]
    return max(known, key=lambda v: math.inf if math.isnan(v) else v, default=None)
