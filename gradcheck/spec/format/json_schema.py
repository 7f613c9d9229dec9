"""The spec format as a JSON Schema, so that editors complete and check it while one types."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import Any

from gradcheck.spec.format.keys import (
    CASE_KEYS,
    CASES_TEXT,
    INPUT_KEYS,
    OF_A_LAYER,
    STRUCTURE_KEYS,
    STRUCTURES,
    TARGETS,
)


def _structure(kind: str) -> dict[str, Any]:
    """An input of several tensors, or of another kind: what stands beside its one key."""
    beside: dict[str, Any] = {}
    if kind in ("ragged", "sparse"):
        own = "inner" if kind == "ragged" else "indices"
        options = {key: value for key, value in INPUT_KEYS.items() if key != "shape"}
        beside = {own: STRUCTURE_KEYS[own], **options}
    return {
        "type": "object",
        "properties": {kind: STRUCTURES[kind], **beside},
        "additionalProperties": False,
        "required": [kind, *(["indices"] if kind == "sparse" else [])],
    }


def schema() -> dict[str, Any]:
    """The JSON Schema, draft-07, of a spec file."""
    one_target = {"not": {"anyOf": [{"required": list(p)} for p in combinations(TARGETS, 2)]}}
    of_a_layer = {key: ["layer"] for key in OF_A_LAYER}
    case = {
        "type": "object",
        "properties": CASE_KEYS,
        "additionalProperties": False,
        **one_target,
    }
    shared = {key: value for key, value in CASE_KEYS.items() if key != "name"}
    cases = {
        "type": "array",
        "items": {"$ref": "#/definitions/case"},
        "minItems": 1,
        "description": CASES_TEXT,
    }
    single = {
        "allOf": [{"$ref": "#/definitions/case"}, {"required": ["inputs"]}],
        "dependencies": of_a_layer,
        "anyOf": [{"required": [target]} for target in TARGETS],
    }
    several = {"properties": {**shared, "cases": cases}, "additionalProperties": False}
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "gradcheck spec",
        "description": "A function under test and the cases that check its gradients.",
        "type": "object",
        # Editors complete from here; what belongs together is said below.
        "properties": {**CASE_KEYS, "cases": cases},
        **one_target,
        "if": {"required": ["cases"]},
        "then": several,
        "else": single,
        "definitions": {
            "case": case,
            "input": {
                "anyOf": [
                    {**INPUT_KEYS["shape"], "description": "A shape; [] is a single number's."},
                    {"type": "number", "description": "The value of a single number."},
                    {
                        "type": "object",
                        "properties": INPUT_KEYS,
                        "additionalProperties": False,
                        "oneOf": [{"required": ["shape"]}, {"required": ["values"]}],
                    },
                    *(_structure(kind) for kind in STRUCTURES),
                ]
            },
            "values": {
                "anyOf": [
                    {"type": ["number", "boolean"]},
                    {"type": "string", "pattern": "[jJ]\\s*\\)?$"},
                    {"type": "array", "items": {"$ref": "#/definitions/values"}},
                ]
            },
        },
    }
    # Fragments are shared above; whoever gets the schema may change it.
    return copy.deepcopy(document)
