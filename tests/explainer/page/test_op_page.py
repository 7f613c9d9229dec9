"""What the page of an op must hold: every section, whatever the call."""

from __future__ import annotations

import numpy as np

from gradcheck import explain
from gradcheck.explainer.document import Bullets, Code, Equation
from gradcheck.explainer.page.element_moves import copies
from tests.explainer.explained import ALL_CALLS, CALLS

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


def test_what_is_said_to_be_copied_is_at_every_point() -> None:
    """`y[0] = x[1]` holds at the point of the tape too, not only where it was found."""
    seen = 0
    for call in ALL_CALLS:
        # The page asks of ops that are linear alone.
        moved = (copies(call.subject) if call.subject.is_linear else None) or ()
        seen += bool(moved)
        # (A cast rounds what it copies.)
        float_ = np.float32 if call.op.float32_only else np.float64
        for to, name, source in moved:
            given = float_(call.point.values[name][source])
            assert float_(call.point.out[to]) == given, str(call)
    assert seen > 50


def test_an_order_is_no_copy() -> None:
    for name in ("sort", "segment_max", "top_k", "reduce_max"):
        assert copies(CALLS[name][0].subject) is None or name == "reduce_max", name
        assert "for these shapes" not in str(explain(name)), name
