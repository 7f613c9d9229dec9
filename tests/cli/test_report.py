"""`gradcheck report`, and the pages of the other commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.model import Verdict
from tests.report.formats.html.pages import parse

if TYPE_CHECKING:
    from tests.cli.conftest import Gradcheck, Stage
    from tests.report.formats.html.pages import Node


def written(name: str = "report.html") -> Node:
    return parse(Path(name).read_text(encoding="utf-8"))


def test_a_report_in_another_format(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2")
    ran = gradcheck("run", "--format", "plain", "--format", "json", "--output", "a.json")
    shown = gradcheck("report", "a.json")
    assert shown.out.split(" in ")[0] == ran.out.split(" in ")[0]
    assert (shown.code, shown.err) == (ran.code, "") == (1, "")
    again = gradcheck("report", "a.json", "--format", "json")
    assert again.out == Path("a.json").read_text()


def test_a_page_of_a_run(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2")
    said = gradcheck("run", "--format", "html", "--output", "report.html")
    assert said.code == 1
    assert "2 cases: 1 pass, 1 mismatch" in said.out  # the screen has its own
    tree = written()
    assert tree.one("h1").text == "1 of 2 cases failed"
    # The catalogue is there: what no case checks is named.
    assert "declared ops have cases of their own" in tree.by_id("coverage").text


def test_a_page_is_compared_with_the_baseline(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1")
    gradcheck("run", "--format", "json", "--output", "first.json")
    stage.add("pass-2")
    gradcheck("run", "--format", "json", "--output", "second.json")
    stage.add("mismatch-3")
    page = ("--format", "html", "--output", "report.html")
    gradcheck("run", *page, "--baseline", "first.json", "--baseline", "second.json")
    assert "Since second.json, with 2 cases in common: 1 new." in written().by_id("changes").text
    rows = [row.text for row in written().by_id("history").one("tbody").all("th")]
    assert rows == ["this run", "second.json", "first.json"]
    # The same from the reports alone.
    said = gradcheck("report", "first.json", "second.json", *page)
    assert said.code == 0
    assert "Since first.json" in written().by_id("changes").text


def test_a_page_of_merged_shards(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2", "pass-3")
    for shard in ("1/2", "2/2"):
        gradcheck("run", "--shard", shard, "--format", "json", "--output", f"{shard[0]}.json")
    gradcheck("merge", "1.json", "2.json", "--format", "html", "--output", "report.html")
    assert written().one("h1").text == "1 of 3 cases failed"
    assert "declared ops have cases" in written().by_id("coverage").text
    # And of one of them alone.
    gradcheck("report", "1.json", "--format", "html", "--output", "report.html")
    assert "shard 1 of 2" in written().one("header").text


def test_a_shard_that_does_not_fit_its_results(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "pass-2")
    gradcheck("run", "--shard", "1/1", "--format", "json", "--output", "a.json")
    data = json.loads(Path("a.json").read_text())
    data["shard"]["positions"] = [0]
    Path("a.json").write_text(json.dumps(data))
    said = gradcheck("report", "a.json", "--format", "json")
    assert said.code == 2
    assert "a.json: is damaged: its `positions` do not fit its results" in said.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("run", "--baseline", "a.json"),
            "--baseline is shown in markdown, html and github reports",
        ),
        (
            ("report", "a.json", "b.json"),
            "older reports are shown in markdown, html and github reports",
        ),
        (("report", "none.json"), "none.json: cannot be read"),
        (
            ("run", "--format", "html", "--output", "x.html", "--baseline", "none.json"),
            "none.json: cannot be read",
        ),
        (("report",), "Missing argument"),
    ],
)
def test_wrong_usage_is_told_before_anything_runs(
    stage: Stage, gradcheck: Gradcheck, arguments: tuple[str, ...], why: str
) -> None:
    stage.add("pass-1")
    said = gradcheck(*arguments)
    assert said.code == 2
    assert why in said.err
    assert not stage.began
    assert not Path("x.html").exists()


def test_a_page_is_not_for_the_screen(
    stage: Stage, gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.add("pass-1")
    assert gradcheck("run", "--format", "html").out.startswith("<!doctype html>")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    said = gradcheck("run", "--format", "html")
    assert said.code == 2
    assert "a page is not for the screen: add --output report.html" in said.err


@pytest.mark.parametrize(
    ("formats", "wanted"),
    [
        (["plain"], None),
        (["json"], frozenset(Verdict) - {Verdict.PASS}),
        (["json", "html"], frozenset(Verdict)),
    ],
)
def test_a_check_gathers_what_the_formats_show(
    stage: Stage, gradcheck: Gradcheck, formats: list[str], wanted: Any
) -> None:
    stage.add("pass-1")
    options = [word for name in formats for word in ("--format", name, "--output", f"r.{name}")]
    gradcheck("run", *options)
    check = stage.ran.get("check")
    assert (check and check.keywords["close_ups"]) == wanted


def test_a_report_of_before_is_shown_too(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2")
    gradcheck("run", "--format", "json", "--output", "a.json")
    data = json.loads(Path("a.json").read_text())
    for result in data["results"]:
        del result["target"], result["decided_by"]
    Path("a.json").write_text(json.dumps(data))
    assert gradcheck("report", "a.json", "--format", "html", "--output", "report.html").code == 1
    assert "does not say which functions" in written().by_id("coverage").text
