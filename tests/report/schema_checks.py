"""JSON held against its schema, which here allows nothing that it does not name."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from gradcheck.report.formats.report_schema import SCHEMAS


def _closed(schema: Any) -> Any:
    """The same where every object has the members that are named, and no others."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    told = {key: _closed(value) for key, value in schema.items()}
    if "properties" in told and told.get("type") == "object":
        told["additionalProperties"] = False
    return told


@cache
def strict(kind: str) -> Draft202012Validator:
    schema = SCHEMAS[kind]()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(_closed(copy.deepcopy(schema)))


def valid(kind: str, text: str) -> Any:
    """The document; an error where it is not one of its kind."""
    data = json.loads(text)
    strict(kind).validate(data)
    return data
