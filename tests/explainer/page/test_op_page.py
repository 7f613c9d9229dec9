"""What the page of an op must hold: every section, whatever the call."""

from __future__ import annotations

from gradcheck.explainer.document import Bullets, Code, Equation
from tests.explainer.explained import ALL_CALLS

SECTIONS = (
    "Shapes",
    "Forward",
    "Gradient",
    "Forward mode",
    "Broadcasting and batches",
    "Where it is not defined or not differentiable",
    "Common mistakes",
    "Related",
)


def test_every_page_has_every_section() -> None:
    for call in ALL_CALLS:
        headings = [section.heading for section in call.page.sections]
        assert all(headings.count(heading) == 1 for heading in SECTIONS), str(call)
        sections = {section.heading: section.blocks for section in call.page.sections}
        assert all(sections.values()), str(call)
        assert any(isinstance(block, Code) for block in sections["Gradient"]), str(call)
        assert any(isinstance(block, Equation) for block in sections["Forward mode"]), str(call)
        assert any(isinstance(block, Equation) for block in sections["Forward"]), str(call)
        for heading in SECTIONS[4:7]:
            blocks = sections[heading]
            assert all(isinstance(b, Bullets) and b.items for b in blocks), str(call)
