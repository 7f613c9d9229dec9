"""Pages as Markdown."""

from __future__ import annotations

from gradcheck.explainer.render.markdown import render_markdown
from tests.explainer.explained import ALL_CALLS


def test_every_page_has_its_headings() -> None:
    for call in ALL_CALLS:
        lines = render_markdown(call.page).splitlines()
        assert lines[0] == f"# `{call.op.name}`"
        headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
        assert headings == [section.heading for section in call.page.sections], str(call)
