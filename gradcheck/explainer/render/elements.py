"""Markup made of texts, for HTML and SVG: what is not marked up already is escaped."""

from __future__ import annotations

import re
from html import escape
from importlib import resources

__all__ = ["Markup", "element", "joined", "plain_ascii", "style_sheet"]

_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff￾￿]")
"""What neither HTML nor XML may hold, however it is spelt."""
_VOID = frozenset({"input", "meta", "path", "rect", "line"})
"""Elements without content: they end with a slash, which SVG needs and HTML ignores."""


class Markup(str):
    """Text that is markup; every other text is escaped before it becomes some."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | bool | None) -> Markup:
    """An element. Attributes that are None or False are left out, `class_` is `class`."""
    told = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{told}/>")
    return Markup(f"<{name}{told}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """Markup in a row."""
    return Markup("".join(map(_escaped, children)))


def plain_ascii(markup: str) -> str:
    """The same markup in characters that every shell and every encoding keeps as they are."""
    return markup.encode("ascii", "xmlcharrefreplace").decode()


def style_sheet(name: str) -> Markup:
    """A file of rules that stands beside this module."""
    return Markup(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _escaped(text: str) -> str:
    return text if isinstance(text, Markup) else escape(_NO_TEXT.sub("�", text))


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    told = f"{value:g}" if isinstance(value, float) else str(value)
    return f" {name}" if value is True else f' {name}="{_escaped(told)}"'
