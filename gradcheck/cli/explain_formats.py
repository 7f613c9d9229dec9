"""The formats of `gradcheck explain`: by name, the function that sets a page in it."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.explainer import Document

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "text": "gradcheck.cli.explain_formats:for_this_terminal",
        "markdown": "gradcheck.explainer.render.markdown:render_markdown",
        "latex": "gradcheck.explainer.render.latex:render_latex",
        "json": "gradcheck.explainer.render.json:render_json",
        "html": "gradcheck.explainer.render.html_page:render_page",
        "svg": "gradcheck.explainer.render.svg:render_svg",
    }
)
"""In the order in which `--help` lists them. A new one is a file in `explainer/render/` with a
function from a page to a text, and a line here; it is imported when it is asked for."""


def rendered(document: Document, name: str) -> str:
    """The page in that format."""
    module, _, function = FORMATS[name].partition(":")
    render = cast("Callable[[Document], str]", getattr(import_module(module), function))
    return render(document)


def for_this_terminal(document: Document) -> str:
    """Text of the terminal's width, in its characters, with bold headings."""
    from gradcheck.explainer.render.terminal import WIDEST, render_text

    width = shutil.get_terminal_size((WIDEST, 24)).columns
    return render_text(
        document, lambda text: click.style(text, bold=True), width, blocks=_has_blocks()
    )


def _has_blocks() -> bool:
    """Whether what is printed can be more than ASCII."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        "█▒·".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True
