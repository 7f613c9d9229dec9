"""The JSON Schema of what `gradcheck coverage --format json` writes."""

from __future__ import annotations

from gradcheck.model import CheckKind
from gradcheck.report.formats.coverage_report import COVERAGE_VERSION
from gradcheck.report.formats.schema_parts import (
    COUNT,
    TEXT,
    TEXTS,
    TRUTH,
    Schema,
    document,
    maybe,
    object_,
    ref,
    told,
    words,
)


def coverage_schema() -> Schema:
    """What `gradcheck coverage --format json` writes."""
    counts = {"type": "object", "additionalProperties": ref("count")}
    location = object_({"path": TEXT, "line": COUNT, "column": COUNT})
    problem = object_({"message": TEXT, "location": location, "hint": TEXT, "source": TEXT})
    whole = object_(
        {
            "version": {"const": COVERAGE_VERSION},
            "environment": told(
                {"type": "object", "additionalProperties": TEXT}, "On what it was measured."
            ),
            "summary": _summary(),
            "families": told(counts, "By family of gradient functions."),
            "modules": told(counts, "By module of public functions."),
            "gradients": told(
                {"type": "array", "items": _gradient()},
                "Every gradient function that TensorFlow registers, by the op it is for.",
            ),
            "functions": told(
                {"type": "array", "items": object_(_thing())},
                "Every public function that a tape can go back through.",
            ),
            "foreign": told(TEXTS, "Ops whose gradients were called and are not TensorFlow's."),
            "problems": told({"type": "array", "items": problem}, "What is wrong in the specs."),
        }
    )
    title = "What the cases of gradcheck's specs cover"
    return document("coverage", COVERAGE_VERSION, title, whole, {"count": _count()})


def gradient_call() -> Schema:
    """How a gradient function was called, in a report."""
    return object_(
        {
            "op": told(TEXT, "The op that it is registered for."),
            "check": words(CheckKind),
            "dtypes": told(TEXTS, "The floating-point and complex dtypes of the op."),
            "attributes": told(TEXT, "What else the op was told."),
        }
    )


def _summary() -> Schema:
    return object_(
        {
            "gradients": told(ref("count"), "Of all registered gradient functions."),
            "float_ops": told(ref("count"), "Of those of pure functions from floats to floats."),
            "functions": told(ref("count"), "Of public functions that a tape can go back through."),
            "not_differentiable": told(COUNT, "Ops that are registered as not differentiable."),
            "unknown_functions": told(COUNT, "Public functions that may have a gradient or not."),
            "cases": COUNT,
            "judged": told(COUNT, "Cases with a verdict."),
            "unrecorded": told(COUNT, "Those of them that do not say what they went through."),
            "seconds": {"type": "number"},
            "interrupted": told(TRUTH, "Whether results are missing."),
        }
    )


def _count() -> Schema:
    return object_(
        {
            "registered": told(COUNT, "How many there are."),
            "out_of_reach": told(COUNT, "Those that cannot be called on this machine."),
            "exercised": told(COUNT, "Those that a case with a verdict went through."),
            "verified": told(COUNT, "Those that such a case found right."),
            "known_wrong": told(COUNT, "Those that a case finds wrong, and expects so."),
            "covered": told(COUNT, "Those that are either."),
            "missing": told(COUNT, "Those in reach that no case goes through."),
            "percent": told({"type": "number"}, "Of those in reach, how many are covered."),
        }
    )


def _thing() -> Schema:
    return {
        "name": TEXT,
        "family": told(TEXT, "The family or the module that it is counted by."),
        "exercised": TRUTH,
        "verified": TRUTH,
        "known_wrong": TRUTH,
        "cases": told(COUNT, "How many cases with a verdict went through it."),
        "first_cases": told(TEXTS, "The first of them."),
        "wrong_in": told(TEXTS, "The first of those that find it wrong."),
    }


def _gradient() -> Schema:
    return object_(
        {
            **_thing(),
            "float_op": told(TRUTH, "Whether its op is a pure function from floats to floats."),
            "out_of_reach": told(maybe(TEXT), "Why it cannot be called here; null where it can."),
            "checks": told(
                {"type": "array", "items": words(CheckKind)}, "For which derivatives it was called."
            ),
            "dtypes": told(TEXTS, "In which precisions it was called."),
            "attributes": told(TEXTS, "With which attributes, a text for each call that differs."),
        }
    )
