"""JSON Schemas of what programs read: reports, comparisons, and what is wrong in specs.

`version` goes up when a program that reads the document would have to change. Within a version
members may come in addition, and words to `decided_by` and to `cause`; nothing else changes. So the
schemas allow members that they do not name, and require those that every document of their version
has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.model import CheckKind, Mode, TargetKind, Verdict
from gradcheck.report.formats.comparison_report import COMPARISON_VERSION
from gradcheck.report.formats.json import REPORT_VERSION
from gradcheck.report.formats.problem_report import PROBLEMS_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TRUTH: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_COUNTS: Schema = {"type": "array", "items": _COUNT}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def report_schema() -> Schema:
    """What `gradcheck run --format json` writes, and `report`, `merge` and `compare` read."""
    whole = _object(
        {
            "version": {"const": REPORT_VERSION},
            "environment": _told(
                {"type": "object", "additionalProperties": _TEXT},
                "On what it ran: versions, machine, flags, and what a replay has to say again.",
            ),
            "shard": _told(_shard(), "Only in the report of a shard: which part of a suite it is."),
            "results": _told(
                {"type": "array", "items": _ref("result")}, "In the order of the specs."
            ),
            "summary": _summary(),
            "problems": _told(
                {"type": "array", "items": _ref("problem")}, "What is wrong in the specs."
            ),
        },
        optional=("shard",),
    )
    parts = {
        "result": _result(),
        "comparison": _comparison(),
        "element": _element(),
        "close_up": _close_up(),
        "diagnosis": _diagnosis(),
        "problem": _problem(),
        "location": _location(),
        **_NUMBERS,
    }
    return _document("report", REPORT_VERSION, "A report of gradcheck", whole, parts)


def comparison_schema() -> Schema:
    """What `gradcheck compare --format json` writes."""
    change = _object(
        {
            "id": _TEXT,
            "old": _words(Verdict),
            "new": _words(Verdict),
            "text": _told(_TEXT, "What changed, in words."),
        }
    )
    changes = {"type": "array", "items": change}
    versions = _object({"old": _maybe(_TEXT), "new": _maybe(_TEXT)})
    whole = _object(
        {
            "version": {"const": COMPARISON_VERSION},
            "old": _told(_TEXT, "The file that was compared with."),
            "factor": _told({"type": "number"}, "By how much an error must grow to be told."),
            "worse": _told(_TRUTH, "Whether something is broken, grown or removed: exit code 1."),
            "common": _told(_COUNT, "How many cases are in both."),
            "environment": _told(
                {"type": "object", "additionalProperties": versions}, "What it did not run on both."
            ),
            "broken": _told(changes, "As expected before and now not, or skipped."),
            "mended": _told(changes, "Not as expected before, and now so."),
            "other": _told(changes, "Another verdict, as right or wrong as before."),
            "grown": _told(changes, "The same verdict and a much larger error or error bar."),
            "removed": _told(_TEXTS, "Cases that are only in the old report."),
            "added": _told(_TEXTS, "Cases that are only in the new report."),
        }
    )
    return _document("comparison", COMPARISON_VERSION, "Two reports of gradcheck compared", whole)


def problems_schema() -> Schema:
    """What `gradcheck validate --format json` writes."""
    whole = _object(
        {
            "version": {"const": PROBLEMS_VERSION},
            "files": _told(_COUNT, "How many spec files were read."),
            "cases": _told(_COUNT, "How many cases in them are right."),
            "problems": {"type": "array", "items": _ref("problem")},
        }
    )
    parts = {"problem": _problem(), "location": _location()}
    return _document(
        "problems", PROBLEMS_VERSION, "What gradcheck finds wrong in specs", whole, parts
    )


def _document(
    name: str, version: int, title: str, whole: Schema, parts: Schema | None = None
) -> Schema:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:gradcheck:{name}:{version}",
        "title": title,
    }
    return head | whole | ({"$defs": parts} if parts else {})


def _object(members: Schema, optional: Iterable[str] = ()) -> Schema:
    required = [name for name in members if name not in set(optional)]
    return {"type": "object", "required": required, "properties": members}


def _told(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _words(kind: Iterable[str]) -> Schema:
    return {"enum": [str(word) for word in kind]}


_NUMBERS: Schema = {
    "real": _told(
        {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]},
        "A number; those that JSON has not are texts.",
    ),
    "number": _told(
        {"anyOf": [_ref("real"), _object({"re": _ref("real"), "im": _ref("real")})]},
        "A real or a complex number.",
    ),
    "array": _told(
        {"anyOf": [_ref("number"), {"type": "array", "items": _ref("array")}]},
        "Numbers nested as deep as the shape is long; a scalar is a bare number.",
    ),
}

_STAGE = _told(_maybe(_TEXT), "The stage of the check that decided, as `run -v` names it.")


def _result() -> Schema:
    by_input = {"type": "object", "additionalProperties": _words(Verdict)}
    return _object(
        {
            "id": _told(_TEXT, "The case, as `gradcheck run` takes it: `file.yaml::name`."),
            "verdict": _words(Verdict),
            "decided_by": _STAGE,
            "expected": _told(
                _TRUTH, "Whether the verdict is as it should be: false is a failure."
            ),
            "expect": _told(
                {"anyOf": [_words(Verdict), by_input, {"type": "null"}]},
                "What the spec expects: a verdict, or one for each of some inputs.",
            ),
            "reason": _told(_TEXT, "Why it expects that."),
            "message": _told(_TEXT, "What happened where no gradient could be compared."),
            "diagnosis": _maybe(_ref("diagnosis")),
            "seconds": _ref("real"),
            "location": _maybe(_ref("location")),
            "target": _told(
                _maybe(_object({"kind": _words(TargetKind), "text": _TEXT})),
                "The function under test.",
            ),
            "dtype": _maybe(_TEXT),
            "mode": _maybe(_words(Mode)),
            "checks": {"type": "array", "items": _words(CheckKind)},
            "added": _told(_TRUTH, "Whether the run chose a mode or check that the spec does not."),
            "seed": _maybe(_COUNT),
            "tags": _TEXTS,
            "comparisons": {"type": "array", "items": _ref("comparison")},
        },
        optional=("decided_by", "target", "checks", "added"),
    )


def _comparison() -> Schema:
    array = _told(_maybe(_ref("array")), "All elements; null for more than 64.")
    place = _object({"path": _TEXT, "line": _COUNT, "function": _TEXT})
    return _object(
        {
            "name": _told(_TEXT, "The input or the weight whose gradient it is."),
            "check": _words(CheckKind),
            "verdict": _words(Verdict),
            "decided_by": _STAGE,
            "shape": _COUNTS,
            "dtype": _TEXT,
            "elements": _told(_COUNT, "How many the input has."),
            "judged": _told(_COUNT, "How many were compared one by one."),
            "directions": _told(_COUNT, "How many random directions were compared besides."),
            "max_abs_error": _maybe(_ref("real")),
            "max_rel_error": _maybe(_ref("real")),
            "error_bar": _told(_maybe(_ref("real")), "The widest of the numeric derivative."),
            "worst_index": _maybe(_COUNTS),
            "failing": _told(_COUNT, "How many elements are not as they should be."),
            "note": _TEXT,
            "worst": _told(
                {"type": "array", "items": _ref("element")}, "The worst elements, the worst first."
            ),
            "analytic": array,
            "numeric": array,
            "bound": array,
            "formula": array,
            "diagnosis": _maybe(_ref("diagnosis")),
            "places": _told(
                {"type": "array", "items": place}, "The user's gradient functions to look at."
            ),
            "shades": _told(_TEXT, "How wrong each element is, a digit each, for a picture."),
            "close_up": _ref("close_up"),
            "jacobian": _told(_TEXTS, "For each output, the signs of what moves it."),
        },
        optional=("decided_by", "places", "shades", "close_up", "jacobian"),
    )


def _element() -> Schema:
    numbers = dict.fromkeys(("value", "analytic", "numeric"), _ref("number"))
    maybe = dict.fromkeys(("formula", "left", "right"), _maybe(_ref("number")))
    return _object({"index": _COUNTS, **numbers, "bound": _ref("real"), **maybe})


def _close_up() -> Schema:
    numbers = dict.fromkeys(("analytic", "numeric", "bound", "chosen"), _ref("real"))
    series = {"type": "array", "items": _ref("real")}
    all_series = dict.fromkeys(("steps", "errors", "right", "left"), series)
    whole = _object({"index": _COUNTS, "imaginary": _TRUTH, **numbers, **all_series})
    return _told(whole, "What the function does around the worst element, for a picture.")


def _diagnosis() -> Schema:
    cause = _told(_TEXT, "A short stable name, such as `sign`, `factor` or `transposed`.")
    return _object({"cause": cause, "text": _told(_TEXT, "One sentence.")})


def _problem() -> Schema:
    source = _told(_TEXT, "The line of the spec; empty where there is none to show.")
    return _object(
        {"message": _TEXT, "location": _ref("location"), "hint": _TEXT, "source": source}
    )


def _location() -> Schema:
    return _object({"path": _TEXT, "line": _COUNT, "column": _COUNT})


def _shard() -> Schema:
    positions = _told(_COUNTS, "Where each result stands in the whole suite.")
    cut = _told(_TEXT, "The same for all shards of one cut.")
    return _object({"index": _COUNT, "count": _COUNT, "cut": cut, "positions": positions})


def _summary() -> Schema:
    verdicts = _object({str(verdict): _COUNT for verdict in Verdict})
    return _object(
        {
            "total": _COUNT,
            "verdicts": verdicts,
            "failed": _told(_COUNT, "Results whose verdict is not the expected one."),
            "known": _told(_COUNT, "Results that are not acceptable but expected: known bugs."),
            "problems": _COUNT,
            "seconds": _ref("real"),
            "interrupted": _told(_TRUTH, "Whether results are missing."),
        }
    )


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "report": report_schema,
    "comparison": comparison_schema,
    "problems": problems_schema,
}
"""By the kind of document."""
