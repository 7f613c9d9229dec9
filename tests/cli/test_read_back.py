from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli.read_back import read_back
from gradcheck.errors import UsageError
from gradcheck.model import Plan, Shard
from gradcheck.report import make_reporter
from gradcheck.report.read.json_reader import read_report
from gradcheck.run import summarise
from tests.report import examples

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.report.read.json_reader import Report


def written(path: Path, *, whole: bool) -> Report:
    results = examples.all_results()
    cases = tuple(result.case for result in results if result.case)
    stream = io.StringIO()
    reporter = make_reporter("json", stream)
    shard = Shard(1, 2, "abc", tuple(range(len(cases))))
    reporter.start(Plan(cases, (examples.PROBLEM,), {"a": "b"}, shard))
    for result in results:
        reporter.result(result)
    reporter.finish(summarise(results, problems=1, seconds=2.0, interrupted=True))
    text = stream.getvalue()
    if not whole:
        text = text.replace('"positions": [\n      0,', '"positions": [')
    path.write_text(text, encoding="utf-8")
    return read_report(path)


def test_a_run_as_it_was(tmp_path: Path) -> None:
    plan, summary = read_back(written(tmp_path / "a.json", whole=True), "a.json")
    assert len(plan.cases) == summary.total == 16
    assert (summary.failed, summary.problems, summary.seconds) == (11, 1, 2.0)
    assert summary.interrupted
    assert plan.shard
    assert plan.shard.count == 2


def test_positions_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.json: is damaged: its `positions`"):
        read_back(written(tmp_path / "a.json", whole=False), "a.json")
