"""`gradcheck compare`: what it says, in which formats, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.report.formats.html.pages import parse
from tests.report.rendered import rendered
from tests.report.schema_checks import valid

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.cli.conftest import Gradcheck, Stage


def two_reports(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "pass-2")
    gradcheck("run", "--format", "json", "--output", "old.json")
    text = Path("old.json").read_text().replace('"verdict": "pass"', '"verdict": "mismatch"', 1)
    Path("new.json").write_text(text)


def test_the_formats(stage: Stage, gradcheck: Gradcheck) -> None:
    two_reports(stage, gradcheck)
    said = gradcheck("compare", "old.json", "new.json", "--format", "json")
    assert (said.code, said.err) == (1, "")
    (broken,) = valid("comparison", said.out)["broken"]
    assert broken["text"] == "pass → mismatch"
    said = gradcheck("compare", "old.json", "new.json", "--format", "markdown")
    assert rendered(said.out).all("strong")[0].text == "1 broken"
    said = gradcheck("compare", "old.json", "new.json", "--format", "html")
    assert "1 broken" in parse(said.out).by_id("changes").text
    assert "declared ops have cases" in parse(said.out).by_id("coverage").text


def test_files(stage: Stage, gradcheck: Gradcheck) -> None:
    two_reports(stage, gradcheck)
    files = ("--format", "markdown", "--output", "c.md", "--format", "json", "--output", "c.json")
    said = gradcheck("compare", "old.json", "new.json", *files)
    assert "2 cases in both reports: 1 broken" in said.out  # the screen has its own
    assert Path("c.md").read_text().startswith("## ❌ gradcheck: what changed\n")
    valid("comparison", Path("c.json").read_text())
    said = gradcheck("compare", "old.json", "new.json", "--format", "json", "--output", "no/c")
    assert said.code == 2
    assert "there is no folder" in said.err
    said = gradcheck("compare", "old.json", "new.json", "--format", "junit")
    assert said.code == 2


def test_every_report_is_read_back(stage: Stage, gradcheck: Gradcheck) -> None:
    two_reports(stage, gradcheck)
    for command in ("merge", "report"):
        again = gradcheck(command, "old.json", "--format", "json").out
        assert again == Path("old.json").read_text()
    told = gradcheck("merge", "new.json", "--format", "markdown").out
    assert rendered(told).one("h2").text == "❌ gradcheck: 1 of 2 cases failed"


def test_compare(stage: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion) -> None:
    stage.add("pass-1", "pass-2", "pass-3", "mismatch-4")
    gradcheck("run", "--format", "json", "--output", "old.json")
    assert (
        gradcheck("compare", "old.json", "old.json").out == "4 cases in both reports: no change\n"
    )
    text = Path("old.json").read_text().replace('"2.0"', '"2.1"').replace("pass-3", "pass-5")
    data = json.loads(text)
    data["results"][1].update(verdict="crashed", message="died of SIGABRT")
    data["results"][3].update(verdict="pass")
    Path("new.json").write_text(json.dumps(data))
    said = gradcheck("compare", "old.json", "new.json")
    assert said.code == 1
    assert said.out == snapshot
    assert gradcheck("compare", "old.json", "absent.json").code == 2
