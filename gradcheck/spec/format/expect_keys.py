"""The keys of `expect`, each declared once: the reader and the JSON Schema share them."""

from __future__ import annotations

from typing import Any

from gradcheck.model import Verdict

Schema = dict[str, Any]

EXPECTATIONS = tuple(v.value for v in Verdict if v is not Verdict.SKIPPED)
"""Nothing in a spec makes a case be skipped, so that none can expect it."""
NEED_A_REASON = frozenset(
    {Verdict.MISMATCH, Verdict.NONFINITE, Verdict.ERROR, Verdict.CRASHED, Verdict.TIMEOUT}
)
"""Expecting one of these calls something a known bug: the spec says which."""

ADDRESS = r"https?://[^\s<>\"'`\\]{1,300}"
"""Of a page in the web: it becomes a link in reports."""

_EXPECTATION: Schema = {"enum": list(EXPECTATIONS)}

VERSIONED = ("tensorflow", "keras", "numpy", "python")
"""What has a version that a condition may ask for."""
CONDITION = r"(?P<name>[a-z]+)\s*(?P<comparison><=|>=|==|!=|<|>)\s*(?P<wanted>[^\s<>=!]+)"
_ONE_CONDITION = CONDITION.replace("?P<name>", "").replace("?P<comparison>", "")
_ONE_CONDITION = _ONE_CONDITION.replace("?P<wanted>", "")
_CONDITIONS: Schema = {
    "type": "string",
    "pattern": rf"^\s*{_ONE_CONDITION}(\s+and\s+{_ONE_CONDITION})*\s*$",
    "examples": ["tensorflow<2.22", "keras>=3.5 and mode==xla"],
}
_VERDICT: Schema = {
    "anyOf": [
        _EXPECTATION,
        {
            "type": "object",
            "propertyNames": {"pattern": "^.+$"},
            "additionalProperties": _EXPECTATION,
            "minProperties": 1,
        },
    ]
}
EXPECT_KEYS: dict[str, Schema] = {
    "verdict": {**_VERDICT, "description": "The verdict, or the verdicts by input."},
    "when": {
        "anyOf": [_CONDITIONS, {"type": "array", "items": _CONDITIONS, "minItems": 1}],
        "description": "Where it is expected: comparisons of the versions of tensorflow, keras, "
        "numpy and python, of mode, check and dtype; all must hold.",
    },
    "reason": {"type": "string", "minLength": 1, "description": "Why, in place of the case's."},
}
KNOWN_BUG_KEYS: dict[str, Schema] = {
    "instead": {
        "type": "string",
        "description": "Of a known bug: the same function, written so that its gradient is right; "
        "an expression over the inputs. Reports show it to who needs a way around.",
        "examples": ["x * tf.math.log(y)"],
    },
    "issue": {
        "type": "string",
        "pattern": f"^{ADDRESS}$",
        "description": "Of a known bug: where it was reported, an address.",
        "examples": ["https://github.com/tensorflow/tensorflow/issues/119430"],
    },
}
_CONDITIONAL: Schema = {
    "type": "object",
    "properties": EXPECT_KEYS,
    "required": ["verdict"],
    "additionalProperties": False,
}

EXPECT_SCHEMA: Schema = {
    "anyOf": [
        _VERDICT,
        _CONDITIONAL,
        {"type": "array", "items": _CONDITIONAL, "minItems": 1},
    ],
    "description": "The verdict that is right for this case, or by input; then any other fails the "
    "run. With `when` it is expected under that condition alone; of a list the first counts whose "
    "condition holds.",
}
