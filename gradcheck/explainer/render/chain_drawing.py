"""The chain rule as a drawing: boxes for ops, arrows for values, and gradients on their way back.

Below each box stand the shape of its value and the gradient that comes back to it; the arrows of
the value begin there. Colours are by class and by `currentColor`: they follow the page around.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from gradcheck.explainer.render.chain_layout import lay_out
from gradcheck.explainer.render.elements import Markup, element, joined, style_sheet
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.worked_example import Place, sizes

if TYPE_CHECKING:
    from gradcheck.explainer.render.chain_layout import Layout
    from gradcheck.explainer.worked_example import Picture

__all__ = ["MOST_PLACES", "chain_svg", "described", "standing_alone"]

MOST_PLACES = 60
"""Boxes that somebody can still find their way through."""

_LETTER, _GAP = 6.9, 18.0
"""The width of a letter of 12 pixels, and what is left free between two boxes."""
_LONGEST = 30
"""Letters of a formula in the drawing; all of it is what the pointer shows."""
_BOX, _PILL, _STEM, _LINE, _ARROWS = 42.0, 28.0, 12.0, 15.0, 38.0
"""Heights: of an op and an input, of the arrows above the texts, of a line of text, and of the
arrows below."""
_PITCH = _BOX + _STEM + 2 * _LINE + 8 + _ARROWS
_MARGIN = 12.0
_APART = 3.5
"""Half of what is between an arrow forward and the one back."""


def chain_svg(picture: Picture) -> Markup:
    """The drawing, for a page that has the style; empty for a chain that is too long for one."""
    drawn, width, height = _drawn(picture)
    if not drawn:
        return Markup("")
    # (On a narrow screen it shrinks a little, and is moved sideways before it becomes illegible.)
    return _svg(picture, width, height, drawn, style=f"min-width:{0.8 * width:.0f}px")


def standing_alone(picture: Picture, title: str) -> Markup:
    """The drawing as a file of its own: with its style, a ground, its title and a word on it."""
    drawn, inner, tall = _drawn(picture)
    if not drawn:
        return Markup("")
    key = "solid: values forward · dashed: gradients back"
    width = max(inner, _letters(key) * _LETTER + 2 * _MARGIN)
    room = int((width - 2 * _MARGIN) / (_LETTER * 1.15))
    heading = title if _letters(title) <= room else f"{title[: room - 1]}…"
    height = tall + 50
    shift = f"translate({(width - inner) / 2:.1f} 26)"
    return _svg(
        picture,
        width,
        height,
        joined(
            element("style", Markup(_ALONE), style_sheet("chain.css")),
            element("rect", width=f"{width:.0f}", height=f"{height:.0f}", class_="gcx-ground"),
            _text(width / 2, 24, " ".join(heading.split()), "gcx-name"),
            element("g", drawn, transform=shift),
            _text(width / 2, height - 12, key, "gcx-shape"),
        ),
        f"{title}: ",
        xmlns="http://www.w3.org/2000/svg",
    )


_ALONE = """
svg { --gcx-down: #b4540a; --gcx-ground: #fff; color: #1b1f24; }
@media (prefers-color-scheme: dark) {
  svg { --gcx-down: #f6a04d; --gcx-ground: #14171b; color: #e6e9ed; }
}
.gcx-ground { fill: var(--gcx-ground); }
"""


def _svg(
    picture: Picture, width: float, height: float, drawn: Markup, of: str = "", **more: str
) -> Markup:
    return element(
        "svg",
        element("title", f"{of}the chain rule, from the inputs to {picture.loss} and back"),
        element("desc", described(picture)),
        drawn,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
        class_="gcx-chain",
        **more,
    )


def _drawn(picture: Picture) -> tuple[Markup, float, float]:
    """What is inside, and how wide and tall it is; nothing of a chain that is too long."""
    places = [*picture.places, _loss(picture)]
    if len(places) > MOST_PLACES:
        return Markup(""), 0.0, 0.0
    texts = {place.name: _texts(place, picture) for place in places}
    widths = {name: _width(*lines) for name, lines in texts.items()}
    layout = lay_out({place.name: place.sources for place in places}, widths)
    boxes = [_box(layout, place, texts[place.name]) for place in places]
    width = max(layout.width, 160.0) + 2 * _MARGIN
    height = max(layout.row.values()) * _PITCH + _PILL + 2 * _MARGIN
    shift = f"translate({(width - layout.width) / 2:.1f} {_MARGIN:g})"
    arrows = [_arrows(layout, place) for place in places]
    for place in picture.places:
        # (From the box to the texts below it, once for all arrows that begin there.)
        x, y = layout.across[place.name], _top(layout, place.name) + _BOX
        way = [(x, y), (x, y + _STEM)]
        arrows.append(_pair(way, head=False, back=place.back is not None))
    return element("g", *arrows, *boxes, transform=shift), width, height


def described(picture: Picture) -> str:
    """The drawing in words, for whoever hears it."""
    told = []
    symbols = {place.name: place.symbol for place in picture.places}
    for place in picture.places:
        shapes = ", ".join(map(sizes, place.shapes))
        if not place.op:
            told.append(f"{place.symbol} is an input ({shapes}).")
        else:
            used = ", ".join(symbols[name] for name in place.sources)
            told.append(f"{place.op} makes {place.symbol} ({shapes}) of {used or 'nothing'}.")
    back = [place.back(UNICODE) for place in reversed(picture.places) if place.back is not None]
    return " ".join([*told, f"Back from {picture.loss} come: {'; '.join(back)}."])


def _loss(picture: Picture) -> Place:
    last = picture.places[-1].name
    return Place("", picture.loss, ((),), sources=(last,), returns=frozenset([last]))


def _texts(place: Place, picture: Picture) -> tuple[str, str, str, str]:
    """What stands in the box (two lines) and below it (two lines)."""
    if place.name == "":
        return place.symbol, "", "", ""
    shape = ", ".join(map(sizes, place.shapes))
    back = place.back(UNICODE) if place.back is not None else "no gradient"
    if place is picture.places[-1]:
        back = f"{back} = ∂{picture.loss}/∂{place.symbol}" if "," not in back else back
    inside = place.forward(UNICODE) if place.forward is not None else ""
    return place.op or place.symbol, _short(inside), shape, _short(back)


def _short(text: str) -> str:
    return text if _letters(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def _letters(text: str) -> int:
    """How many letters wide a text is; a bar above one takes no room."""
    return sum(1 for letter in text if not unicodedata.combining(letter))


def _width(first: str, second: str, shape: str, back: str) -> float:
    inside = max(_letters(first) * 1.12, _letters(second)) * _LETTER + 24
    below = max(_letters(shape), _letters(back) * 1.06) * _LETTER
    return max(inside, below, 44.0) + _GAP


def _top(layout: Layout, name: str) -> float:
    return layout.row[name] * _PITCH


def _box(layout: Layout, place: Place, texts: tuple[str, str, str, str]) -> Markup:
    first, second, shape, back = texts
    x, y = layout.across[place.name], _top(layout, place.name)
    height = _BOX if place.op else _PILL
    # (An input is as low as an op, so that what is below stands in one line.)
    top = y + (_BOX - height if place.name else 0.0)
    inner = max(_letters(first) * 1.12, _letters(second)) * _LETTER + 20
    kind = "op" if place.op else "input" if place.name else "loss"
    frame = element(
        "rect", x=f"{x - max(inner, 40) / 2:.1f}", y=f"{top:.1f}", width=f"{max(inner, 40):.1f}",
        height=f"{height:g}", rx=6 if place.op else 14, class_=f"gcx-{kind}",
    )  # fmt: skip
    lines = [_text(x, top + (18 if second else height / 2 + 4.5), first, "gcx-name")]
    if second:
        lines.append(_text(x, top + 34, second))
    below = y + _BOX + _STEM + 11
    if shape:
        lines.append(_text(x, below, shape, "gcx-shape"))
        lines.append(_text(x, below + _LINE, back, "gcx-back"))
    full = [f(UNICODE) for f in (place.forward, place.back) if f is not None]
    return element("g", element("title", "; ".join(full) or place.symbol), frame, *lines)


def _text(x: float, y: float, text: str, class_: str | None = None) -> Markup:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", class_=class_)


def _arrows(layout: Layout, place: Place) -> Markup:
    """The arrows from the sources of a box to it, and back."""
    found = []
    for source in place.sources:
        x, y = layout.across[source], _top(layout, source) + _BOX
        back = source in place.returns
        way = [(x, y + _STEM + 2 * _LINE + 4)]
        for name in layout.routes[source, place.name]:
            # (Straight through the row that it passes.)
            top = _top(layout, name)
            way += [(layout.across[name], top), (layout.across[name], top + _PITCH - _ARROWS)]
        end = _top(layout, place.name)
        x = layout.across[place.name] + _spread(layout, place, source)
        way.append((x, end))
        found.append(_pair(way, head=True, back=back))
    return joined(*found)


def _spread(layout: Layout, place: Place, source: str) -> float:
    """Arrows into one box end beside each other, in the order from which they come."""
    ways = {name: layout.routes[name, place.name] for name in place.sources}
    last = {name: layout.across[way[-1] if way else name] for name, way in ways.items()}
    order = sorted(place.sources, key=lambda name: last[name])
    return 22.0 * (order.index(source) - (len(order) - 1) / 2)


def _pair(way: list[tuple[float, float]], *, head: bool, back: bool) -> Markup:
    """An arrow forward and, beside it, one back."""
    ahead = [(x - _APART, y) for x, y in way]
    behind = [(x + _APART, y) for x, y in way]
    (x, y), (u, v) = ahead[-1], behind[0]
    marks = f"M{x - 3.5:.1f} {y - 6:.1f}L{x:.1f} {y:.1f}L{x + 3.5:.1f} {y - 6:.1f}" if head else ""
    up = f"M{u - 3.5:.1f} {v + 6:.1f}L{u:.1f} {v:.1f}L{u + 3.5:.1f} {v + 6:.1f}"
    forward = element("path", d=_curve(ahead) + marks, class_="gcx-forward")
    if not back:
        return forward
    returning = element("path", d=_curve(behind), class_="gcx-backward")
    return joined(forward, returning, element("path", d=up, class_="gcx-head"))


def _curve(way: list[tuple[float, float]]) -> str:
    """A line that leaves and arrives upright."""
    (x, y), *others = way
    drawn = f"M{x:.1f} {y:.1f}"
    for u, v in others:
        middle = (y + v) / 2
        drawn += f"C{x:.1f} {middle:.1f} {u:.1f} {middle:.1f} {u:.1f} {v:.1f}"
        x, y = u, v
    return drawn
