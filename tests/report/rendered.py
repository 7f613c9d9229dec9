"""Markdown as GitHub would show it: parsed as CommonMark with tables, and then as HTML."""

from __future__ import annotations

from markdown_it import MarkdownIt

from tests.report.formats.html.pages import Node, parse

_PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")


def rendered(text: str) -> Node:
    """The tree; the parser of pages is strict, so that what is not closed is an error."""
    return parse(_PARSER.render(text))
