"""Ops that move elements, seen at work: which element of which input each of the output's is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer import trees

if TYPE_CHECKING:
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.explainer.document import Math
    from gradcheck.explainer.style import Style
    from gradcheck.model import Array

__all__ = ["Copy", "back_lines", "copies", "forward_line"]
Element = tuple[int, ...]
Copy = tuple[Element, str, Element]
"""An element of the output, the input that it comes from, and the element there."""

MOST_ELEMENT_MOVES = 12
"""An output with more elements than this would not be read."""
SHOWN_ELEMENT_MOVES = 6
"""So many are written out; dots stand for the others."""


def copies(subject: Subject) -> list[Copy] | None:
    """Found by running the forward on random numbers; None where the output is no copy of them.

    What moves elements moves them at every point: of numbers and of their opposites a maximum or
    an order would give others.
    """
    if subject.forward is None or subject.op.outputs or subject.op.is_complex:
        return None
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(1, 2, shape) for name, shape in subject.call.shapes.items()}
    if set(values) != set(subject.differentiable):
        return None
    found = _copied(subject, values)
    if found is None:
        return None
    return found if found == _copied(subject, {n: -v for n, v in values.items()}) else None


def _copied(subject: Subject, values: dict[str, Array]) -> list[Copy] | None:
    if subject.forward is None:
        return None
    owners = {
        float(value[place]): (name, place)
        for name, value in values.items()
        for place in np.ndindex(value.shape)
    }
    out = np.asarray(trees.run(subject.forward, values))
    if out.size > MOST_ELEMENT_MOVES or not np.isin(out, [0.0, *owners]).all():
        return None
    return [(to, *owners[float(out[to])]) for to in np.ndindex(out.shape) if out[to]]


def _element(style: Style, name: str, place: Element) -> str:
    return style.indexed(name, [str(i) for i in place])


def forward_line(subject: Subject, moved: list[Copy]) -> Math:
    """`y[0] = x[1],  y[1] = x[2]`."""

    def math(style: Style) -> str:
        out, setting = style.symbol(subject.symbols["out"]), subject.setting(style)
        lines = [
            f"{_element(style, out, to)} = {_element(style, setting.symbol(name), source)}"
            for to, name, source in moved[:SHOWN_ELEMENT_MOVES]
        ]
        return ",  ".join([*lines, *([style.dots()] if len(moved) > SHOWN_ELEMENT_MOVES else [])])

    return math


def back_lines(subject: Subject, moved: list[Copy]) -> list[Math]:
    """A line per input: `∂L/∂x[0] = G[0] + G[3]`."""
    lines = []
    for name in subject.gradients:
        places: dict[Element, list[Element]] = {}
        for to, owner, source in moved:
            if owner == name:
                places.setdefault(source, []).append(to)
        if places:
            lines.append(_back(subject, name, places))
    return lines


def _back(subject: Subject, name: str, places: dict[Element, list[Element]]) -> Math:
    def math(style: Style) -> str:
        setting = subject.setting(style)
        lines = [
            f"{setting.gradient(setting.symbol(name), [str(i) for i in source])} = "
            + " + ".join(_element(style, "G", to) for to in targets)
            for source, targets in list(places.items())[:SHOWN_ELEMENT_MOVES]
        ]
        return ",  ".join([*lines, *([style.dots()] if len(places) > SHOWN_ELEMENT_MOVES else [])])

    return math
