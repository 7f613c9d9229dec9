"""The two sides of a kink: the function around the point, both slopes, and the gradient's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.report import numbers
from gradcheck.report.formats.html import drawing

if TYPE_CHECKING:
    from gradcheck.model import CloseUp, Comparison, Element
    from gradcheck.report.formats.html.markup import Html

_STRAIGHT = 0.1
"""The function is drawn as far as each side stays as straight as this share of the kink."""


def kink_sides(comparison: Comparison) -> Html | None:
    """The function, where it was looked at closely; without that the slopes alone."""
    element = next(
        (e for e in comparison.worst if e.left is not None and e.right is not None), None
    )
    if element is None or element.left is None or element.right is None:
        return None
    slopes = (element.left, element.right, element.analytic)
    if any(isinstance(s, complex) or not math.isfinite(s) for s in slopes):
        return None
    left, right, analytic = (float(s.real) for s in slopes)
    drawn = _drawn(comparison, element, left, right)
    reach = drawn[-1][0] if drawn else 1.0
    ends = [-reach * left, reach * right, -reach * analytic, reach * analytic]
    x = drawing.across([-reach, reach])
    y = drawing.upward([0.0, *ends, *(value for _, value in drawn)])
    here = (x(0), y(0))
    tangents = [
        [(x(-reach), y(-reach * left)), here],
        [here, (x(reach), y(reach * right))],
    ]
    line = [(x(-reach), y(-reach * analytic)), (x(reach), y(reach * analytic))]
    between = min(left, right) <= analytic <= max(left, right)
    caption = (
        f"{comparison.name}{numbers.index(element.index) if element.index else ''}: slope "
        f"{numbers.scalar(left, 4)} from the left and {numbers.scalar(right, 4)} from the right "
        f"(dashed); the gradient {numbers.scalar(analytic, 4)} lies "
        f"{'between them' if between else 'outside of them'}."
    )
    return drawing.picture(
        f"The two sides of a kink. {caption}",
        caption,
        drawing.axes(x, y, "move of the element", "change"),
        drawing.path("level bar", "".join(drawing.line(t) for t in tangents)),
        drawing.path("curve", drawing.line([(x(a), y(b)) for a, b in drawn])),
        drawing.path(f"level {'fine' if between else 'wrong'}", drawing.line(line)),
        drawing.path("dots", drawing.dots([here])),
    )


def _drawn(
    comparison: Comparison, element: Element, left: float, right: float
) -> list[tuple[float, float]]:
    """Moves and what the scalar does, from left to right; nothing where nobody looked."""
    seen = comparison.close_up
    if seen is None or seen.index != element.index:
        return []
    first = _first(seen, left, right)
    steps = seen.steps[first:]
    sides = [
        *((-s, v) for s, v in zip(steps, seen.left[first:], strict=True)),
        (0.0, 0.0),
        *((s, v) for s, v in zip(reversed(steps), reversed(seen.right[first:]), strict=True)),
    ]
    finite = [(s, v) for s, v in sides if math.isfinite(v)]
    return finite if len(finite) == len(sides) else []


def _first(seen: CloseUp, left: float, right: float) -> int:
    """The longest step over which both sides are nearly straight; the third where none is."""
    allowed = _STRAIGHT * abs(right - left)
    for i, step in enumerate(seen.steps):
        if (
            step > 0
            and max(abs(seen.right[i] / step - right), abs(seen.left[i] / -step - left)) <= allowed
        ):
            return i
    return min(2, len(seen.steps) - 1)
