"""SARIF 2.1.0, as code scanning and editors read it: a rule for each verdict, a result a failure.

A known bug is a result that its spec suppresses. Cases that are as expected have none.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.model import Location, Verdict
from gradcheck.report.columns import failure_text
from gradcheck.report.details import fails, failure_details, gist, input_details
from gradcheck.report.formats.json import json_text
from gradcheck.report.reporter import CollectingReporter, Outcome
from gradcheck.report.repository import is_inside, quoted, repository_path
from gradcheck.report.safe_text import clean, one_line
from gradcheck.report.totals import totals, worst_first

if TYPE_CHECKING:
    from gradcheck.model import CodePlace, Plan, Result, SpecProblem

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

MOST_RESULTS = 25_000
"""Code scanning refuses a file with more; it shows 5,000."""

_MOST_PLACES = 20
"""Of one result: nobody follows more."""

_ROOT = "%SRCROOT%"
"""The name that code scanning and editors have for the root of the repository."""

_GONE = "known-bug-gone"
_SPEC = "spec-problem"

_OWN_RULES = {
    _GONE: (
        "A case that is expected to fail passes: the known bug is gone. Remove `expect` and "
        "`reason` from the spec, so that the run fails when the bug comes back."
    ),
    _SPEC: (
        "A spec cannot be read as it is written: its other cases run, this one does not. "
        "`gradcheck validate` shows the line and what would be right."
    ),
}
"""Beside the verdicts: by id, what each means and what to do about it."""


class SarifReporter(CollectingReporter):
    """One JSON document, written at the end."""

    counts_many = True

    def report(self, outcome: Outcome) -> None:
        """Write the document."""
        self.stream.write(json_text(document(outcome)) + "\n")


def document(outcome: Outcome) -> dict[str, Any]:
    """The whole run as a SARIF log."""
    told = [*worst_first(outcome.failures), *worst_first(outcome.known)]
    results = [_of_problem(problem) for problem in outcome.plan.problems]
    results += [_of_result(result, outcome.plan) for result in told]
    notes = [totals(outcome)]
    if len(results) > MOST_RESULTS:
        left_out = len(results) - MOST_RESULTS
        notes.append(f"{left_out:,} results are left out: code scanning takes {MOST_RESULTS:,}")
    run = {
        "tool": {"driver": _driver(outcome.plan)},
        "automationDetails": {"id": "gradcheck/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                # (Failures are what it was run for.)
                "executionSuccessful": not outcome.summary.interrupted,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": _message(text)}} for text in notes
                ],
            }
        ],
        "results": results[:MOST_RESULTS],
        "properties": {"environment": dict(outcome.plan.environment)},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver(plan: Plan) -> dict[str, Any]:
    rules = [(str(v), v.meaning) for v in Verdict if not v.acceptable]
    version = plan.environment.get("gradcheck", "")
    return {
        "name": "gradcheck",
        **({"version": version} if version else {}),
        "rules": [_rule(name, text) for name, text in (*rules, *_OWN_RULES.items())],
    }


def _rule(name: str, text: str) -> dict[str, Any]:
    first, *_ = re.split(r"(?<=[.:]) ", text)
    return {
        "id": name,
        "shortDescription": {"text": f"{first.rstrip('.:')}."},
        "fullDescription": {"text": text},
        "help": {"text": text},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["gradient"], "precision": "very-high"},
    }


def _rule_of(result: Result) -> str:
    return _GONE if result.verdict.acceptable else str(result.verdict)


def _of_result(result: Result, plan: Plan) -> dict[str, Any]:
    places = _places(result)
    spec = _location(result.case.location, "the case in its spec") if result.case else None
    locations = [*places, *([spec] if spec else [])]
    # GitHub puts its mark at the first place, and wants it in the repository.
    locations.sort(key=lambda location: not _is_relative(location))
    told: dict[str, Any] = {
        "ruleId": _rule_of(result),
        "level": "error",
        "message": {"text": _message(_text(result, plan))},
        "locations": [_unnamed(location) for location in locations[:1]],
        "partialFingerprints": _fingerprints(result.id),
        "properties": {"case": result.id},
    }
    if locations[1:]:
        told["relatedLocations"] = [
            {"id": number, **location} for number, location in enumerate(locations[1:], start=1)
        ]
    if result.expected:
        reason = one_line(result.case.reason) if result.case else ""
        why = {"kind": "inSource", "status": "accepted"}
        told["suppressions"] = [why | ({"justification": reason} if reason else {})]
    return told


def _text(result: Result, plan: Plan) -> str:
    """What happened in a sentence, as lists show it, and then all there is to say."""
    details = failure_details(result, plan)
    if result.expected:
        inputs = [input_details(c) for c in result.comparisons if not c.verdict.acceptable]
        causes = [f"{item.label}: {item.cause or item.facts}" for item in inputs]
        return "; ".join(causes) or details.message or result.verdict.meaning
    return f"{gist(details)}\n\n{failure_text(details)}"


def _places(result: Result) -> list[dict[str, Any]]:
    """The user's gradient functions that are to blame, those in the repository first."""
    blamed = {
        place: None
        for c in result.comparisons
        if fails(result, c) or (result.expected and not c.verdict.acceptable)
        for place in c.places
    }
    return [_of_code(place) for place in list(blamed)[:_MOST_PLACES]]


def _of_code(place: CodePlace) -> dict[str, Any]:
    name = f"the gradient function {place.function}"
    logical = {"fullyQualifiedName": clean(place.function), "kind": "function"}
    return {**_location(Location(place.path, place.line, 1), name), "logicalLocations": [logical]}


def _location(where: Location, name: str) -> dict[str, Any]:
    # (SARIF counts from 1; a report from elsewhere may say anything.)
    region = {"startLine": max(1, where.line), "startColumn": max(1, where.column)}
    place = {"artifactLocation": _artifact(where.path), "region": region}
    return {"physicalLocation": place, "message": {"text": _message(one_line(name))}}


def _unnamed(location: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in location.items() if key != "message"}


def _artifact(path: str) -> dict[str, str]:
    """Where a file is: from the root of the repository, wherever that is on another machine."""
    inside = repository_path(clean(path) or "unknown")
    if is_inside(inside):
        return {"uri": quoted(Path(inside).as_posix()), "uriBaseId": _ROOT}
    return {"uri": f"file://{quoted(str(Path(inside).absolute()))}"}


def _is_relative(location: dict[str, Any]) -> bool:
    return "uriBaseId" in location["physicalLocation"]["artifactLocation"]


def _of_problem(problem: SpecProblem) -> dict[str, Any]:
    location = _location(problem.location, "")
    where = problem.location
    name = f"{where.path} {problem.message}"
    if problem.source and where.column >= 1:
        region = location["physicalLocation"]["region"]
        region["endColumn"] = region["startColumn"] + max(1, problem.length)
    return {
        "ruleId": _SPEC,
        "level": "error",
        "message": {"text": _message("\n".join(filter(None, (problem.message, problem.hint))))},
        "locations": [_unnamed(location)],
        "partialFingerprints": _fingerprints(name),
    }


def _fingerprints(name: str) -> dict[str, str]:
    """The same as long as the case has its name, whatever else changes in its file.

    Code scanning goes by the first; without it, by the text of the line.
    """
    digest = fingerprint_of(name)
    return {"primaryLocationLineHash": f"{digest}:1", "gradcheckCase/v1": digest}


def fingerprint_of(name: str) -> str:
    """A short name for a long one, the same on every machine."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]


def _message(text: str) -> str:
    """A text in which SARIF finds no link (`[text](target)`) and no placeholder (`{0}`)."""
    told = clean(text).strip() or "no text"
    return re.sub(r"\{(\d+)\}", r"{{\1}}", told.replace("](", "] ("))
