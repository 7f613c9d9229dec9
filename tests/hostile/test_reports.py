"""Reports that anybody may have written: `merge` and `compare` print something, or say why not."""

from __future__ import annotations

import copy
import io
import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.cli.app import main
from gradcheck.errors import UsageError
from gradcheck.model import Plan, Shard, SpecProblem
from gradcheck.report import FORMATS, make_reporter
from gradcheck.report.difference import compare
from gradcheck.report.read.json_reader import read_report
from gradcheck.report.read.merge_reports import merge
from gradcheck.run import summarise
from tests.report import examples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]

VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    10**399,
    2**62,
    1e308,
    -0.5,
    "",
    "nan",
    "\ud800\x1b[31m\n::error::x",
    "9" * 5000,
    [],
    ["x"],
    [[1], [2, 3]],
    {},
    {"re": "inf", "im": 1e308},
    {"x": 1},
    DEEP,
]


def _original() -> dict[str, Any]:
    every = [*examples.all_results(), examples.pictured(), examples.pictured_kink()]
    # One result is changed at a time. Beside it stand one of each verdict, not all there are: each
    # is written hundreds of times.
    results = list({result.verdict: result for result in reversed(every)}.values())[::-1]
    cases = tuple(result.case for result in results if result.case)
    where = cases[0].location
    plan = Plan(
        cases=cases,
        problems=(SpecProblem("wrong", where, "right", "source: 1"),),
        environment={"tensorflow": "2.21"},
        shard=Shard(1, 1, "abc", tuple(range(len(cases)))),
    )
    stream = io.StringIO()
    reporter = make_reporter("json", stream)
    reporter.start(plan)
    for result in results:
        reporter.result(result)
    reporter.finish(summarise(results, problems=1, seconds=1.0, interrupted=False))
    data = json.loads(stream.getvalue())
    assert isinstance(data, dict)
    return data


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in the document, those of one kind once."""
    if path:
        yield path
    children: list[tuple[Any, Any]] = []
    if isinstance(data, dict):
        children = [(key, value) for key, value in data.items() if key not in UNREAD]
    if isinstance(data, list) and data:
        fullest = max(range(len(data)), key=lambda i: len(json.dumps(data[i])))
        children = [(fullest, data[fullest])]
    for key, value in children:
        yield from _places(value, (*path, key))


def _with(data: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(data)
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


UNREAD = {"verdicts", "elements", "worst_index", "expected"}
ORIGINAL = _original()


def _answer(path: Path) -> str:
    """What reading the report says; all formats are written where it can be read."""
    try:
        report = read_report(path)
        merged = merge({"a": report})
    except UsageError as error:
        return str(error)
    for name in FORMATS:
        reporter = make_reporter(name, io.StringIO(), verbose=True, durations=0)
        reporter.start(merged.plan)
        for result in merged.results:
            reporter.result(result)
        summary = summarise(merged.results, problems=1, seconds=1.0, interrupted=False)
        reporter.finish(summary)
    compare(report, report)
    return ""


@pytest.mark.parametrize("place", list(_places(ORIGINAL)), ids=lambda p: ".".join(map(str, p)))
def test_any_value_anywhere(tmp_path: Path, place: tuple[Any, ...]) -> None:
    path = tmp_path / "report.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in VALUES:
            path.write_text(json.dumps(_with(ORIGINAL, place, value)), encoding="utf-8")
            assert "Error" not in _answer(path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe\x00",
        b"nul",
        b"{",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"version": 1, "results": [], "results": []}',
        b'{"version": 1, "results": [NaN]}',
        b'{"version": 1, "results": [Infinity]}',
        b'{"version": 1, "results": [' + b"9" * 100_000 + b"]}",
        b'{"version": 1, "results": [' + b"9" * 401 + b"]}",
        b'{"version": 1.0, "results": []}',
        b'{"version": true, "results": []}',
        b'{"version": [[1]], "results": []}',
        json.dumps(ORIGINAL).encode()[:-100],
        json.dumps(ORIGINAL).encode("utf-16"),
    ],
    ids=range(16),
)
@pytest.mark.parametrize("command", ["merge", "compare"])
def test_what_is_no_report(
    tmp_path: Path,
    command: str,
    text: bytes,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text(json.dumps(ORIGINAL), encoding="utf-8")
    (tmp_path / "bad.json").write_bytes(text)
    assert main([command, "good.json", "bad.json"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: bad.json: is ")
    assert "set_int_max_str_digits" not in said
    assert len(said) < 500


def test_shards_without_number(tmp_path: Path) -> None:
    data = _with(ORIGINAL, ("shard", "count"), 10**15)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert "more is missing" in _answer(path)


def test_a_case_that_stands_twice(tmp_path: Path) -> None:
    data = copy.deepcopy(ORIGINAL)
    data["results"].append(data["results"][0])
    path = tmp_path / "report.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert "stands in it twice" in _answer(path)
