"""Pages on a terminal: complete, and no wider than it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.explain.document import Code, Section
from gradcheck.explain.render.terminal import render_text
from tests.explain.explained import Explained, every_example, every_op, example_page

if TYPE_CHECKING:
    from gradcheck.ops import Op


@every_op
def test_every_page_can_be_shown(calls: list[Explained]) -> None:
    for call in calls:
        text = render_text(call.page)
        assert "/∂" in text, str(call)
        assert "?" not in text, str(call)


@every_example
def test_prose_and_formulas_fit_the_terminal(op: Op) -> None:
    page = example_page(op)
    plain = tuple(
        Section(section.heading, tuple(b for b in section.blocks if not isinstance(b, Code)))
        for section in page.sections
    )
    for width in (60, 88):
        lines = render_text(replace(page, sections=plain), width=width).splitlines()
        assert [line for line in lines if len(line) > width] == []
