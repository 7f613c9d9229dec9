"""Pages as JSON."""

from __future__ import annotations

import json

from gradcheck.explain.render.json import render_json
from tests.explain.explained import Explained, every_op


@every_op
def test_every_page_is_one_object(calls: list[Explained]) -> None:
    for call in calls:
        content = json.loads(render_json(call.page))
        assert content["op"] == call.op.name
        headings = [section["heading"] for section in content["sections"]]
        assert headings == [section.heading for section in call.page.sections], str(call)
