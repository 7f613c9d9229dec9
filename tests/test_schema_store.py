"""What is offered to SchemaStore says of each of its files what SchemaStore's own tests expect."""

from __future__ import annotations

import json

import jsonschema
import pytest

from gradcheck.spec.format.fields import plain
from gradcheck.spec.yaml.located import read_yaml
from gradcheck.spec.yaml.source import Source
from tools.schema_store import ADDRESS, CATALOGUE_ENTRY, NAME, files

FILES = files()
EXAMPLES = sorted(path for path in FILES if path.endswith(".yaml"))


def test_the_schema_is_of_draft_7_and_says_where_it_lives() -> None:
    document = json.loads(FILES[f"src/schemas/json/{NAME}.json"])
    jsonschema.Draft7Validator.check_schema(document)
    assert document["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert document["$id"] == ADDRESS == json.loads(FILES["catalog-entry.json"])["url"]
    # (The catalogue's own rules: no trailing full stop, and no pattern that is everybody's.)
    assert not CATALOGUE_ENTRY["description"].endswith(".")
    assert all("gradcheck" in pattern for pattern in CATALOGUE_ENTRY["fileMatch"])


@pytest.mark.parametrize("path", EXAMPLES)
def test_examples_are_valid_and_counterexamples_are_not(path: str) -> None:
    document = json.loads(FILES[f"src/schemas/json/{NAME}.json"])
    root = read_yaml(Source(path, FILES[path]))
    assert root is not None
    valid = jsonschema.Draft7Validator(document).is_valid(plain(root))
    assert valid == path.startswith("src/test/")


def test_there_are_both_kinds() -> None:
    assert {path.split("/")[1] for path in EXAMPLES} == {"test", "negative_test"}
