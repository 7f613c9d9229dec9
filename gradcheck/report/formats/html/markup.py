"""Markup made of texts: what is not marked up already is escaped, whoever wrote it."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from gradcheck.report.safe_text import clean, spelt

if TYPE_CHECKING:
    from collections.abc import Iterable


class Html(str):
    """Text that is markup; every other text is escaped before it becomes some."""

    __slots__ = ()


_VOID = frozenset({"meta", "input", "br", "col", "path", "line", "rect", "circle"})
"""Elements that have no content. (Those of SVG end with a slash, which HTML ignores.)"""


# Of ASCII: what HTML, a terminal or a CI takes for something else than itself.
_TO_ESCAPE = re.compile(r"[&<>\"'\x00-\x1f\x7f]|::|##|section_|travis_", re.IGNORECASE)


def escaped(text: str) -> Html:
    """The text as markup, whatever it holds; nor is it a command of a CI where it is printed."""
    if isinstance(text, Html):
        return text
    if text.isascii() and not _TO_ESCAPE.search(text):  # nearly always
        return Html(text)
    if not text.isascii():
        # Half a pair of surrogates is no text in any encoding.
        text = text.encode(errors="replace").decode()
    return Html(spelt(html.escape(clean(text)), "&#{};", lines=True))


def tag(name: str, /, *children: str, **attributes: str | int | float | bool | None) -> Html:
    """An element. Attributes that are None or False are left out, `class_` is `class`."""
    told = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{told}/>")
    return Html(f"<{name}{told}>{''.join(map(escaped, children))}</{name}>")


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Markup in a row; what is no markup yet is escaped."""
    return Html(between.join(map(escaped, parts)))


def table(
    header: Iterable[str], rows: Iterable[Iterable[str]], caption: str, class_: str | None = None
) -> Html:
    """A table of which the first column names the rows; the caption is read aloud, not shown."""
    head = tag("tr", *(tag("th", title, scope="col") for title in header))
    body = [
        tag("tr", tag("th", first, scope="row"), *(tag("td", cell) for cell in rest))
        for first, *rest in rows
    ]
    named = tag("caption", caption, class_="unseen")
    whole = tag("table", named, tag("thead", head), tag("tbody", *body), class_=class_)
    return tag("div", whole, class_="wide")


def listed(items: Iterable[str], class_: str | None = None) -> Html:
    """A list, an item each."""
    return tag("ul", *(tag("li", item) for item in items), class_=class_)


def section(name: str, title: str, *children: str) -> Html:
    """A part of the page that can be linked to, and has a heading."""
    heading = tag("h2", title, id=f"{name}-title")
    return tag("section", heading, *children, id=name, aria_labelledby=f"{name}-title")
