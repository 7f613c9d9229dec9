"""Pages on a terminal: complete, and no wider than it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradcheck.explainer.document import Code, Section
from gradcheck.explainer.render.terminal import render_text
from gradcheck.ops import all_ops
from tests.explainer.explained import ALL_CALLS, example_page


def test_every_page_can_be_shown() -> None:
    for call in ALL_CALLS:
        text = render_text(call.page)
        assert "/∂" in text, str(call)
        assert "?" not in text, str(call)


@pytest.mark.parametrize("width", [60, 88])
def test_prose_and_formulas_fit_the_terminal(width: int) -> None:
    for op in all_ops():
        page = example_page(op)
        plain = tuple(
            Section(section.heading, tuple(b for b in section.blocks if not isinstance(b, Code)))
            for section in page.sections
        )
        lines = render_text(replace(page, sections=plain), width=width).splitlines()
        assert [line for line in lines if len(line) > width] == [], op.name
