"""The parts that JSON Schemas are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
COUNTS: Schema = {"type": "array", "items": COUNT}
TEXTS: Schema = {"type": "array", "items": TEXT}


def document(
    name: str, version: int, title: str, whole: Schema, parts: Schema | None = None
) -> Schema:
    """A whole schema, with what it refers to."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:gradcheck:{name}:{version}",
        "title": title,
    }
    return head | whole | ({"$defs": parts} if parts else {})


def object_(members: Schema, optional: Iterable[str] = ()) -> Schema:
    """An object with these members, of which some need not be there."""
    required = [name for name in members if name not in set(optional)]
    return {"type": "object", "required": required, "properties": members}


def told(schema: Schema, description: str) -> Schema:
    """The same, with a description."""
    return {**schema, "description": description}


def ref(name: str) -> Schema:
    """One of the parts that the schema defines."""
    return {"$ref": f"#/$defs/{name}"}


def maybe(schema: Schema) -> Schema:
    """That, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def words(kind: Iterable[str]) -> Schema:
    """One of these texts."""
    return {"enum": [str(word) for word in kind]}


NUMBERS: Schema = {
    "real": told(
        {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]},
        "A number; those that JSON has not are texts.",
    ),
    "number": told(
        {"anyOf": [ref("real"), object_({"re": ref("real"), "im": ref("real")})]},
        "A real or a complex number.",
    ),
    "array": told(
        {"anyOf": [ref("number"), {"type": "array", "items": ref("array")}]},
        "Numbers nested as deep as the shape is long; a scalar is a bare number.",
    ),
}
"""How numbers are written."""
