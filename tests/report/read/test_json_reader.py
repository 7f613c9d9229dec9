from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.errors import UsageError
from gradcheck.model import KnownBug, Plan, Result, Shard, Stage
from gradcheck.report import make_reporter
from gradcheck.report.formats.json import encode_result
from gradcheck.report.read.json_reader import decode_result, read_report
from gradcheck.report.read.typed_json import DamagedError
from tests.report import examples

if TYPE_CHECKING:
    from pathlib import Path


def written(results: list[Result]) -> str:
    stream = io.StringIO()
    examples.tell(make_reporter("json", stream), results, (examples.PROBLEM,))
    return stream.getvalue()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.json"


def test_a_report_read_and_written_again_is_the_same_text(path: Path) -> None:
    text = written(examples.all_results())
    path.write_text(text)
    report = read_report(path)
    assert written(list(report.results)) == text
    assert report.problems == (replace(examples.PROBLEM, length=1),)
    assert report.environment == examples.ENVIRONMENT


@pytest.mark.parametrize("result", examples.all_results(), ids=lambda r: r.id)
def test_one_result_there_and_back(result: Result) -> None:
    data = json.loads(json.dumps(encode_result(result)))
    back = decode_result(data)
    assert encode_result(back) == data
    assert back.expected == result.expected
    assert decode_result(data, result.case).case is result.case


def test_the_stage_that_decided_is_read_back_where_a_report_tells_it() -> None:
    data = encode_result(examples.mismatch())
    back = decode_result(data)
    assert back.decided_by is Stage.CONFIRMATION
    assert [c.decided_by for c in back.comparisons] == [Stage.CONFIRMATION, Stage.FIRST_LOOK]
    older = {key: value for key, value in data.items() if key != "decided_by"}
    assert decode_result(older).decided_by is None


def test_the_gradient_functions_are_read_back_where_a_report_tells_them() -> None:
    result = examples.with_gradients()
    data = json.loads(json.dumps(encode_result(result)))
    assert decode_result(data).called == result.called
    assert encode_result(decode_result(data)) == data
    assert decode_result(encode_result(examples.passing())).called is None
    empty = replace(result, called=())
    assert decode_result(encode_result(empty)).called == ()
    data["gradients"][0]["check"] = "sideways"
    with pytest.raises(DamagedError):
        decode_result(data)


def test_what_is_known_of_a_bug_is_read_back_where_a_report_tells_it() -> None:
    known = examples.known_bug()
    assert known.case is not None
    bug = KnownBug("tensorflow<2.22", "error when tensorflow>=2.22", "", "x + y", "https://a.b/1")
    text = encode_result(replace(known, case=replace(known.case, bug=bug)))
    read = decode_result(text)
    assert read.case is not None
    assert read.case.bug == bug
    assert "bug" not in encode_result(known)
    with pytest.raises(DamagedError, match="instead"):
        decode_result({**text, "bug": {**text["bug"], "instead": 1}})


def test_the_places_are_read_back_where_a_report_tells_them() -> None:
    data = encode_result(examples.mismatch())
    assert decode_result(data).places == examples.mismatch().places != ()
    for item in data["comparisons"]:
        del item["places"]
    assert decode_result(data).places == ()


def test_a_shard_is_read_back(path: Path) -> None:
    result = examples.passing()
    assert result.case is not None
    shard = Shard(2, 3, "abc", (7,))
    plan = Plan(cases=(result.case,), problems=(), environment={}, shard=shard)
    with path.open("w") as stream:
        reporter = make_reporter("json", stream)
        reporter.start(plan)
        reporter.result(result)
        reporter.finish(examples.summary_of([result]))
    assert read_report(path).shard == shard


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not a report"),
        ('{"a": 1}', "is not a report"),
        ('{"version": 99, "results": []}', "version 99"),
        ('{"version": 1, "results": [{}]}', "is damaged"),
        ('{"version": 1, "results": 3, "environment": {}}', "is damaged"),
    ],
)
def test_what_is_no_report_is_said(path: Path, text: str, said: str) -> None:
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        read_report(path)


def test_a_report_that_is_not_there(path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_report(path)


@pytest.mark.parametrize("change", [{"verdict": "fine"}, {"id": 3}, {"comparisons": None}])
def test_a_damaged_result_is_not_taken_for_another(path: Path, change: dict[str, Any]) -> None:
    data = json.loads(written(examples.all_results()))
    data["results"][0].update(change)
    path.write_text(json.dumps(data))
    with pytest.raises(UsageError, match="is damaged"):
        read_report(path)
