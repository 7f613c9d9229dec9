"""The schema and the reader agree about what is right."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import jsonschema
import pytest

from gradcheck.spec import schema
from gradcheck.spec.format.fields import plain
from gradcheck.spec.format.keys import CASE_KEYS, INPUT_KEYS
from gradcheck.spec.yaml.located import read_yaml
from gradcheck.spec.yaml.source import Source
from tests.spec.examples import GOOD, SEEN_BY_SCHEMA

if TYPE_CHECKING:
    from tests.spec.conftest import Load


def valid(text: str) -> bool:
    root = read_yaml(Source("s.yaml", dedent(text)))
    assert root is not None
    return jsonschema.Draft7Validator(schema()).is_valid(plain(root))


def test_it_is_a_schema_of_draft_7() -> None:
    jsonschema.Draft7Validator.check_schema(schema())
    assert schema()["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_good_specs_are_valid_and_load(text: str, load_text: Load) -> None:
    assert valid(text)
    loaded = load_text(text)
    assert not loaded.problems, "\n".join(map(str, loaded.problems))
    assert loaded.cases


@pytest.mark.parametrize("text", SEEN_BY_SCHEMA.values(), ids=SEEN_BY_SCHEMA)
def test_bad_specs_are_refused_by_both(text: str, load_text: Load) -> None:
    assert not valid(text)
    loaded = load_text(text)
    assert loaded.problems
    assert not loaded.cases


def test_every_key_is_described() -> None:
    document = schema()
    assert set(document["properties"]) == {*CASE_KEYS, "cases"}
    for key, fragment in {**CASE_KEYS, **INPUT_KEYS}.items():
        assert fragment.get("description"), key


def test_each_caller_gets_a_schema_of_its_own() -> None:
    schema()["properties"].clear()
    assert schema()["properties"]
