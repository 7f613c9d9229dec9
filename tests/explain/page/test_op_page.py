"""What the page of an op must hold: every section, whatever the call."""

from __future__ import annotations

from gradcheck.explain.document import Bullets, Code, Equation
from tests.explain.explained import Explained, every_op

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


@every_op
def test_every_page_has_every_section(calls: list[Explained]) -> None:
    for call in calls:
        headings = [section.heading for section in call.page.sections]
        assert all(headings.count(heading) == 1 for heading in SECTIONS), str(call)
        sections = {section.heading: section.blocks for section in call.page.sections}
        assert all(sections.values()), str(call)
        assert any(isinstance(block, Code) for block in sections["Gradient"])
        assert any(isinstance(block, Equation) for block in sections["Forward mode"])
        assert any(isinstance(block, Equation) for block in sections["Forward"])
        for heading in SECTIONS[4:7]:
            assert all(isinstance(block, Bullets) and block.items for block in sections[heading])
