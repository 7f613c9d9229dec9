from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gradcheck.spec import schema

if TYPE_CHECKING:
    from tests.cli.conftest import Gradcheck


def test_the_schema_is_printed_as_json(gradcheck: Gradcheck) -> None:
    said = gradcheck("schema")
    assert said.code == 0
    assert json.loads(said.out) == schema()
