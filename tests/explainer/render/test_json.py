"""Pages as JSON."""

from __future__ import annotations

import json

from gradcheck.explainer.render.json import render_json
from tests.explainer.explained import ALL_CALLS


def test_every_page_is_one_object() -> None:
    for call in ALL_CALLS:
        content = json.loads(render_json(call.page))
        assert content["op"] == call.op.name
        headings = [section["heading"] for section in content["sections"]]
        assert headings == [section.heading for section in call.page.sections], str(call)
