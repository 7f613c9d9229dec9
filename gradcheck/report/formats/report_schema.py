"""JSON Schemas of what programs read: reports, comparisons, coverage, and what is wrong in specs.

`version` goes up when a program that reads the document would have to change. Within a version
members may come in addition, and words to `decided_by` and to `cause`; nothing else changes. So the
schemas allow members that they do not name, and require those that every document of their version
has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import CheckKind, Mode, TargetKind, Verdict
from gradcheck.report.formats.comparison_report import COMPARISON_VERSION
from gradcheck.report.formats.coverage_schema import coverage_schema, gradient_call
from gradcheck.report.formats.json import REPORT_VERSION
from gradcheck.report.formats.problem_report import PROBLEMS_VERSION
from gradcheck.report.formats.schema_parts import (
    COUNT,
    COUNTS,
    NUMBERS,
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def report_schema() -> Schema:
    """What `gradcheck run --format json` writes, and `report`, `merge` and `compare` read."""
    whole = object_(
        {
            "version": {"const": REPORT_VERSION},
            "environment": told(
                {"type": "object", "additionalProperties": TEXT},
                "On what it ran: versions, machine, flags, and what a replay has to say again.",
            ),
            "shard": told(_shard(), "Only in the report of a shard: which part of a suite it is."),
            "results": told(
                {"type": "array", "items": ref("result")}, "In the order of the specs."
            ),
            "summary": _summary(),
            "problems": told(
                {"type": "array", "items": ref("problem")}, "What is wrong in the specs."
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
        **NUMBERS,
    }
    return document("report", REPORT_VERSION, "A report of gradcheck", whole, parts)


def comparison_schema() -> Schema:
    """What `gradcheck compare --format json` writes."""
    change = object_(
        {
            "id": TEXT,
            "old": words(Verdict),
            "new": words(Verdict),
            "text": told(TEXT, "What changed, in words."),
        }
    )
    changes = {"type": "array", "items": change}
    versions = object_({"old": maybe(TEXT), "new": maybe(TEXT)})
    whole = object_(
        {
            "version": {"const": COMPARISON_VERSION},
            "old": told(TEXT, "The file that was compared with."),
            "factor": told({"type": "number"}, "By how much an error must grow to be told."),
            "worse": told(TRUTH, "Whether something is broken, grown or removed: exit code 1."),
            "common": told(COUNT, "How many cases are in both."),
            "environment": told(
                {"type": "object", "additionalProperties": versions}, "What it did not run on both."
            ),
            "broken": told(changes, "As expected before and now not, or skipped."),
            "mended": told(changes, "Not as expected before, and now so."),
            "other": told(changes, "Another verdict, as right or wrong as before."),
            "grown": told(changes, "The same verdict and a much larger error or error bar."),
            "removed": told(TEXTS, "Cases that are only in the old report."),
            "added": told(TEXTS, "Cases that are only in the new report."),
        }
    )
    return document("comparison", COMPARISON_VERSION, "Two reports of gradcheck compared", whole)


def problems_schema() -> Schema:
    """What `gradcheck validate --format json` writes."""
    whole = object_(
        {
            "version": {"const": PROBLEMS_VERSION},
            "files": told(COUNT, "How many spec files were read."),
            "cases": told(COUNT, "How many cases in them are right."),
            "problems": {"type": "array", "items": ref("problem")},
        }
    )
    parts = {"problem": _problem(), "location": _location()}
    return document(
        "problems", PROBLEMS_VERSION, "What gradcheck finds wrong in specs", whole, parts
    )


_STAGE = told(maybe(TEXT), "The stage of the check that decided, as `run -v` names it.")


def _result() -> Schema:
    by_input = {"type": "object", "additionalProperties": words(Verdict)}
    return object_(
        {
            "id": told(TEXT, "The case, as `gradcheck run` takes it: `file.yaml::name`."),
            "verdict": words(Verdict),
            "decided_by": _STAGE,
            "expected": told(TRUTH, "Whether the verdict is as it should be: false is a failure."),
            "expect": told(
                {"anyOf": [words(Verdict), by_input, {"type": "null"}]},
                "What the spec expects: a verdict, or one for each of some inputs.",
            ),
            "reason": told(TEXT, "Why it expects that."),
            "bug": told(_bug(), "What else is known of a wrong gradient."),
            "message": told(TEXT, "What happened where no gradient could be compared."),
            "diagnosis": maybe(ref("diagnosis")),
            "seconds": ref("real"),
            "location": maybe(ref("location")),
            "target": told(
                maybe(object_({"kind": words(TargetKind), "text": TEXT})),
                "The function under test.",
            ),
            "dtype": maybe(TEXT),
            "mode": maybe(words(Mode)),
            "checks": {"type": "array", "items": words(CheckKind)},
            "added": told(TRUTH, "Whether the run chose a mode or check that the spec does not."),
            "seed": maybe(COUNT),
            "tags": TEXTS,
            "comparisons": {"type": "array", "items": ref("comparison")},
            "gradients": told(
                {"type": "array", "items": gradient_call()},
                "TensorFlow's gradient functions that were called on the way back.",
            ),
        },
        optional=("decided_by", "target", "gradients", "checks", "added", "bug"),
    )


def _bug() -> Schema:
    return object_(
        {
            "versions": told(TEXT, "Those that have it, as in `tensorflow<2.22`; empty: all."),
            "otherwise": told(TEXT, "Expected of others: `error when tensorflow<2.17`."),
            "mended": told(TEXT, "Why it was wrong, where the installed version has it right."),
            "instead": told(TEXT, "The same function, written so that its gradient is right."),
            "issue": told(TEXT, "Where it was reported."),
        }
    )


def _comparison() -> Schema:
    array = told(maybe(ref("array")), "All elements; null for more than 64.")
    place = object_({"path": TEXT, "line": COUNT, "function": TEXT})
    return object_(
        {
            "name": told(TEXT, "The input or the weight whose gradient it is."),
            "check": words(CheckKind),
            "verdict": words(Verdict),
            "decided_by": _STAGE,
            "shape": COUNTS,
            "dtype": TEXT,
            "elements": told(COUNT, "How many the input has."),
            "judged": told(COUNT, "How many were compared one by one."),
            "directions": told(COUNT, "How many random directions were compared besides."),
            "max_abs_error": maybe(ref("real")),
            "max_rel_error": maybe(ref("real")),
            "error_bar": told(maybe(ref("real")), "The widest of the numeric derivative."),
            "worst_index": maybe(COUNTS),
            "failing": told(COUNT, "How many elements are not as they should be."),
            "note": TEXT,
            "worst": told(
                {"type": "array", "items": ref("element")}, "The worst elements, the worst first."
            ),
            "analytic": array,
            "numeric": array,
            "bound": array,
            "formula": array,
            "diagnosis": maybe(ref("diagnosis")),
            "places": told(
                {"type": "array", "items": place}, "The user's gradient functions to look at."
            ),
            "shades": told(TEXT, "How wrong each element is, a digit each, for a picture."),
            "close_up": ref("close_up"),
            "jacobian": told(TEXTS, "For each output, the signs of what moves it."),
        },
        optional=("decided_by", "places", "shades", "close_up", "jacobian"),
    )


def _element() -> Schema:
    numbers = dict.fromkeys(("value", "analytic", "numeric"), ref("number"))
    others = dict.fromkeys(("formula", "left", "right"), maybe(ref("number")))
    return object_({"index": COUNTS, **numbers, "bound": ref("real"), **others})


def _close_up() -> Schema:
    numbers = dict.fromkeys(("analytic", "numeric", "bound", "chosen"), ref("real"))
    series = {"type": "array", "items": ref("real")}
    all_series = dict.fromkeys(("steps", "errors", "right", "left"), series)
    whole = object_({"index": COUNTS, "imaginary": TRUTH, **numbers, **all_series})
    return told(whole, "What the function does around the worst element, for a picture.")


def _diagnosis() -> Schema:
    cause = told(TEXT, "A short stable name, such as `sign`, `factor` or `transposed`.")
    return object_({"cause": cause, "text": told(TEXT, "One sentence.")})


def _problem() -> Schema:
    source = told(TEXT, "The line of the spec; empty where there is none to show.")
    return object_({"message": TEXT, "location": ref("location"), "hint": TEXT, "source": source})


def _location() -> Schema:
    return object_({"path": TEXT, "line": COUNT, "column": COUNT})


def _shard() -> Schema:
    positions = told(COUNTS, "Where each result stands in the whole suite.")
    cut = told(TEXT, "The same for all shards of one cut.")
    return object_({"index": COUNT, "count": COUNT, "cut": cut, "positions": positions})


def _summary() -> Schema:
    verdicts = object_({str(verdict): COUNT for verdict in Verdict})
    return object_(
        {
            "total": COUNT,
            "verdicts": verdicts,
            "failed": told(COUNT, "Results whose verdict is not the expected one."),
            "known": told(COUNT, "Results that are not acceptable but expected: known bugs."),
            "problems": COUNT,
            "seconds": ref("real"),
            "interrupted": told(TRUTH, "Whether results are missing."),
        }
    )


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "report": report_schema,
    "comparison": comparison_schema,
    "problems": problems_schema,
    "coverage": coverage_schema,
}
"""By the kind of document."""
