"""The parts of a page that are drawn: the chain, where each number comes from, and the steps."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from gradcheck.explainer.render.chain_drawing import chain_svg, described
from gradcheck.explainer.render.elements import Markup, element, joined
from gradcheck.explainer.render.mathml import mathml
from gradcheck.explainer.render.number_grid import grid
from gradcheck.explainer.render.where_from import where_from
from gradcheck.explainer.style import LATEX, UNICODE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradcheck.explainer.style import Style
    from gradcheck.explainer.worked_example import Numbers, Picture, Place
    from gradcheck.model import Array

__all__ = ["chain_part", "number_parts"]

Part = tuple[str, Markup]
"""A heading, and what stands below it."""


def chain_part(picture: Picture) -> Part:
    """The drawing."""
    drawn = chain_svg(picture)
    said = (
        "Solid arrows carry the values forward, with their shapes; dashed ones carry the gradient "
        f"of {picture.loss} back."
        if drawn
        else described(picture)
    )
    below = element("div", drawn, class_="gcx-wide") if drawn else Markup("")
    return "The chain rule", joined(element("p", said), below)


def number_parts(picture: Picture) -> Iterator[Part]:
    """Where each number of the gradients comes from, and every step in numbers."""
    numbers = picture.numbers
    if numbers is None:
        yield "In numbers", element("p", f"There are none here: {picture.missing}.")
        return
    loss, last = picture.loss, ", ".join(one.output for one in numbers.upstreams)
    point = (
        f"The values are those that were given{_ones(numbers, loss)}."
        if numbers.given
        else "The values were drawn; others can be given."
    )
    said = element(
        "p",
        f"Each number of a gradient is a sum over the elements of {last}: what comes from {loss} "
        "to an element, times how much that element moves with the input. Choose one, with the "
        f"pointer, a tap or the arrow keys: what it is made of lights up. {point}",
    )
    # (The same page twice in a notebook is the same names twice, which does no harm.)
    scope = f"gcx-{zlib.crc32(' '.join(described(picture).split()).encode()):08x}"
    yield "Where each number comes from", joined(said, where_from(picture, numbers, scope))
    yield "Step by step, in numbers", element("ul", *_steps(picture, numbers), class_="gcx-steps")


def _ones(numbers: Numbers, loss: str) -> str:
    ones = all((one.value == 1).all() for one in numbers.upstreams)
    return f", with G = ones, which makes {loss} the sum of the output" if ones else ""


def _steps(picture: Picture, numbers: Numbers) -> Iterator[Markup]:
    last = picture.places[-1]
    for place in picture.places:
        if place is last:
            for i, one in enumerate(numbers.upstreams):
                yield _step(None if i else place.forward, one.output, one.result)
        elif place.name in numbers.values:
            yield _step(place.forward, place.symbol, numbers.values[place.name])
    for one in numbers.upstreams:
        yield _step(None, one.symbol, one.value)
    for place in reversed(picture.places[:-1]):
        if place.name in numbers.gradients and place.back is not None:
            symbol = _left(place)
            yield _step(place.back, symbol, numbers.gradients[place.name])


def _left(place: Place) -> str:
    """How the gradient of a place is written: what stands before the sign of its formula."""
    line = place.back(UNICODE) if place.back is not None else ""
    return line.partition(" = ")[0].partition("[")[0]


def _step(formula: Callable[[Style], str] | None, symbol: str, value: Array) -> Markup:
    line = element("div", Markup(mathml(formula(LATEX))), class_="equation") if formula else ""
    return element("li", line, grid(symbol, value))
