"""An explanation as one page of HTML that loads nothing and runs nothing: a file to open or send.

It holds what a notebook shows, with a ground and letters of its own, in light and dark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.render.elements import Markup, element, plain_ascii
from gradcheck.explainer.render.notebook import render_html

if TYPE_CHECKING:
    from gradcheck.explainer.document import Document

__all__ = ["render_page"]

_STYLE = """
html { color-scheme: light dark; --ground: #ffffff; --ink: #1b1f24; }
html .gradcheck-explanation { --gcx-up: #0b5cbe; --gcx-down: #b4540a; --gcx-mark: #7a3fb8; }
@media screen and (prefers-color-scheme: dark) {
  html { --ground: #14171b; --ink: #e6e9ed; }
  html .gradcheck-explanation { --gcx-up: #6fb0f5; --gcx-down: #f6a04d; --gcx-mark: #c9a0f5; }
}
body { margin: 0 auto; max-width: 64rem; padding: 1rem 1rem 3rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.5rem; margin: .4em 0; } h2 { font-size: 1.2rem; margin: 1.6em 0 .4em;
  border-bottom: 1px solid rgba(128,128,128,.4); padding-bottom: .2em; }
h1 code { font-size: .85em; }
code, pre { font: .9em/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
footer { margin-top: 2.5rem; font-size: .88rem; opacity: .8; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What the page may do: use the style that it holds, and nothing else at all."""


def render_page(document: Document) -> str:
    """A whole page: save it, and open it."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{document.title}: where its gradient comes from"),
        element("style", Markup(_STYLE)),
    )
    told = (
        "Written by gradcheck explain. All numbers are computed by the formulas as they stand here."
    )
    body = element(
        "body",
        element("main", Markup(render_html(document, level=1))),
        element("footer", element("p", told)),
    )
    return plain_ascii(f"<!doctype html>\n{element('html', head, body, lang='en')}")
