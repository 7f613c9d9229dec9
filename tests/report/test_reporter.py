from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from gradcheck.model import Result, Verdict
from gradcheck.report import FORMATS, make_reporter
from gradcheck.report.reporter import MOST_CASES
from tests.report import examples

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_a_whole_run(name: str) -> None:
    stream = io.StringIO()
    reporter = make_reporter(name, stream, verbose=True, durations=2, color=False)
    examples.tell(reporter, examples.all_results(), (examples.PROBLEM,))
    text = stream.getvalue()
    assert "transposed[float32" in text, "brackets of an id are no markup"
    assert "shpae" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_an_empty_run(name: str) -> None:
    stream = io.StringIO()
    examples.tell(make_reporter(name, stream), [], environment={})
    assert stream.getvalue().endswith("\n")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_results_without_a_case(name: str) -> None:
    stream = io.StringIO()
    reporter = make_reporter(name, stream)
    wrong = Result("swish", Verdict.MISMATCH, (examples.compared("x", Verdict.MISMATCH),))
    examples.tell(reporter, [wrong])
    assert "swish" in stream.getvalue()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_survives_a_poor_encoding(name: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    examples.tell(make_reporter(name, stream), examples.all_results(), (examples.PROBLEM,))


@pytest.mark.parametrize("name", ["table", "plain", "github", "json"])
def test_of_many_results_those_that_are_as_they_should_be_are_not_kept(name: str) -> None:
    reporter = make_reporter(name, io.StringIO())
    good = [examples.passing(f"a.yaml::{n}", seconds=n / 8) for n in range(MOST_CASES + 10)]
    results = [*good, examples.mismatch(), examples.known_bug(), examples.kink()]
    reporter.start(examples.plan_of(results))
    before = [sys.getrefcount(result) for result in results]
    for result in results:
        reporter.result(result)
    del result
    after = [sys.getrefcount(result) for result in results]
    kept = [r.verdict for r, a, b in zip(results, before, after, strict=True) if b > a]
    assert kept == ([] if name == "json" else [Verdict.MISMATCH, Verdict.MISMATCH])


@pytest.mark.parametrize("name", ["table", "plain", "github"])
@pytest.mark.parametrize("many", [MOST_CASES - 4, MOST_CASES - 3, 3 * MOST_CASES])
def test_what_is_said_is_the_same_whether_results_are_kept_or_counted(
    name: str, many: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = [examples.passing(f"a{n % 3}.yaml::{n}", seconds=n / 8) for n in range(many)]
    others = [examples.mismatch(), examples.known_bug(), examples.kink(), examples.skipped()]

    def report(counts: bool) -> str:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / str(counts)))
        stream = io.StringIO()
        reporter = make_reporter(name, stream)
        monkeypatch.setattr(type(reporter), "counts_many", counts)
        examples.tell(reporter, [*good, *others])
        summary = (tmp_path / str(counts)).read_text() if name == "github" else ""
        return stream.getvalue() + summary

    assert report(counts=True) == report(counts=False)


@pytest.mark.parametrize("name", ["table", "json", "junit", "github"])
def test_the_order_is_the_plans(name: str) -> None:
    def report(order: int) -> str:
        results = examples.all_results()
        stream = io.StringIO()
        reporter = make_reporter(name, stream)
        reporter.start(examples.plan_of(results))
        for result in results[::order]:
            reporter.result(result)
        reporter.finish(examples.summary_of(results))
        return stream.getvalue()

    assert report(1) == report(-1)


def test_a_result_that_lost_its_case_finds_it_in_the_plan() -> None:
    known = examples.known_bug()
    stream = io.StringIO()
    reporter = make_reporter("plain", stream)
    reporter.start(examples.plan_of([known]))
    reporter.result(replace(known, case=None))
    reporter.finish(examples.summary_of([known]))
    assert "1 mismatch (expected)" in stream.getvalue()


def test_an_unknown_format_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean 'junit'"):
        make_reporter("junitxml", io.StringIO())


def test_a_reporter_must_be_started() -> None:
    with pytest.raises(RuntimeError, match="started"):
        make_reporter("json", io.StringIO()).finish(examples.summary_of([]))


def test_plain_formats_do_not_load_rich() -> None:
    program = (
        "import io, sys; from gradcheck.report import make_reporter;"
        "[make_reporter(n, io.StringIO()) for n in ('plain', 'json', 'junit', 'github')];"
        "sys.exit(any(m in sys.modules for m in ('rich', 'tensorflow')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
