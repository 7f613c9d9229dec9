from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gradcheck.model import Plan, Shard
from gradcheck.report import make_reporter
from gradcheck.report.formats.report_schema import SCHEMAS
from gradcheck.run import summarise
from tests.report import examples, hostile
from tests.report.schema_checks import strict, valid


def report_text(*, shard: bool = False) -> str:
    results = [
        *examples.all_results(),
        examples.pictured(),
        examples.pictured_kink(),
        examples.with_gradients(),
        examples.with_known_bug(),
        *hostile.results(),
    ]
    cases = tuple(result.case for result in results if result.case)
    part = Shard(1, 2, "abc", tuple(range(len(cases)))) if shard else None
    stream = io.StringIO()
    reporter = make_reporter("json", stream)
    reporter.start(Plan(cases, (examples.PROBLEM, *hostile.problems()), {"a": "b"}, part))
    for result in results:
        reporter.result(result)
    reporter.finish(summarise(results, problems=1, seconds=1.0, interrupted=True))
    return stream.getvalue()


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schemas_are_schemas(kind: str) -> None:
    schema = SCHEMAS[kind]()
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:gradcheck:{kind}:1"


@pytest.mark.parametrize("shard", [False, True])
def test_a_report_with_all_there_is(shard: bool) -> None:
    data = valid("report", report_text(shard=shard))
    assert ("shard" in data) == shard


def _places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every member of every object, those of one kind once: in a list the fullest counts."""
    if isinstance(data, dict):
        named = [(*path, key) for key in data]
        return named + [p for key, value in data.items() for p in _places(value, (*path, key))]
    if isinstance(data, list) and data:
        fullest = max(range(len(data)), key=lambda i: len(json.dumps(data[i])))
        return _places(data[fullest], (*path, fullest))
    return []


def small_report() -> Any:
    """One result that has everything."""
    whole, wrong = examples.pictured(), examples.mismatch().comparisons[0]
    told: Any = {
        "places": wrong.places,
        "diagnosis": wrong.diagnosis,
        "decided_by": wrong.decided_by,
    }
    calls = examples.with_gradients().called
    judged = (replace(whole.comparisons[0], **told),)
    known = examples.with_known_bug().case
    results = [replace(whole, comparisons=judged, called=calls, case=known)]
    stream = io.StringIO()
    examples.tell(make_reporter("json", stream), results, (examples.PROBLEM,))
    return json.loads(stream.getvalue())


@pytest.mark.parametrize("place", _places(small_report()), ids=lambda p: ".".join(map(str, p)))
def test_a_member_that_is_of_another_kind_is_found(place: tuple[Any, ...]) -> None:
    data = small_report()
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = {"of another kind": [True]}
    if place[0] == "environment" and len(place) == 1:
        inner[place[-1]] = "a text"
    assert not strict("report").is_valid(data)


def test_members_may_come_in_addition() -> None:
    data = small_report()
    data["new"] = data["results"][0]["new"] = data["results"][0]["comparisons"][0]["new"] = 1
    assert not strict("report").is_valid(data)
    assert Draft202012Validator(SCHEMAS["report"]()).is_valid(data)


def test_what_the_schema_names_is_written() -> None:
    written = {place[-1] for place in _places(json.loads(report_text(shard=True)))}
    written |= {place[-1] for place in _places(small_report())}
    schema = SCHEMAS["report"]()
    parts = [schema, *schema["$defs"].values()]
    assert {name for part in parts for name in part.get("properties", {})} <= written
