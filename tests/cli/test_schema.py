from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gradcheck.report.formats.report_schema import SCHEMAS
from gradcheck.spec import schema

if TYPE_CHECKING:
    from tests.cli.conftest import Gradcheck


def test_the_schema_is_printed_as_json(gradcheck: Gradcheck) -> None:
    said = gradcheck("schema")
    assert said.code == 0
    assert json.loads(said.out) == schema()
    assert gradcheck("schema", "spec").out == said.out


@pytest.mark.parametrize("kind", SCHEMAS)
def test_what_gradcheck_writes_has_a_schema_too(gradcheck: Gradcheck, kind: str) -> None:
    said = gradcheck("schema", kind)
    assert (said.code, json.loads(said.out)) == (0, SCHEMAS[kind]())


def test_another_kind_is_refused(gradcheck: Gradcheck) -> None:
    said = gradcheck("schema", "junit")
    assert said.code == 2
    assert "'spec', 'report', 'comparison', 'problems', 'coverage'" in said.err
