from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Verdict
from gradcheck.report import comparing_formats, comparison_text
from gradcheck.report.background import NO_BACKGROUND, Background
from gradcheck.report.reporter import Outcome
from tests.report import examples, hostile
from tests.report.formats.html.pages import earlier, parse
from tests.report.rendered import rendered
from tests.report.schema_checks import valid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syrupy.assertion import SnapshotAssertion

    from gradcheck.model import Result


def outcome_of(results: Sequence[Result]) -> Outcome:
    return Outcome(examples.plan_of(results), tuple(results), examples.summary_of(results))


def changed() -> tuple[Outcome, Background]:
    """Something of every kind of change."""
    passing, wrong, *_ = examples.all_results()
    small = examples.compared("a", errors=(1e-14, 1e-13, 4e-13))
    large = examples.compared("a", errors=(1e-9, 1e-8, 4e-13))
    grown = examples.passing("a.yaml::grown")
    before = [
        replace(wrong, verdict=Verdict.PASS, comparisons=()),
        replace(examples.timeout(), verdict=Verdict.CRASHED),
        replace(examples.bug_gone(), verdict=Verdict.TIMEOUT, id=passing.id, case=passing.case),
        replace(grown, comparisons=(small,)),
        examples.passing("a.yaml::gone"),
    ]
    after = [
        wrong,
        examples.timeout(),
        passing,
        replace(grown, comparisons=(large,)),
        examples.passing("a.yaml::new"),
    ]
    return outcome_of(after), Background((earlier(before, tensorflow="2.20.0"),))


@pytest.mark.parametrize("name", ["plain", "markdown", "json"])
def test_every_kind_of_change(name: str, snapshot: SnapshotAssertion) -> None:
    assert comparison_text(name, *changed()) == snapshot


def test_json_has_its_schema() -> None:
    told = valid("comparison", comparison_text("json", *changed()))
    assert (told["worse"], told["common"]) == (True, 4)
    (broken,) = told["broken"]
    assert (broken["old"], broken["new"]) == ("pass", "mismatch")
    assert told["environment"] == {"tensorflow": {"old": "2.20.0", "new": "2.21.0"}}
    kinds = ("broken", "mended", "other", "grown", "removed", "added")
    assert [len(told[kind]) for kind in kinds] == [1] * 6


def test_markdown_is_markdown() -> None:
    tree = rendered(comparison_text("markdown", *changed()))
    assert tree.one("h2").text == "❌ gradcheck: what changed"
    assert len(tree.all("table")) == 4
    assert [item.text for item in tree.all("li")] == ["a.yaml::gone", "a.yaml::new"]


def test_the_page_is_that_of_the_new_run() -> None:
    outcome, background = changed()
    tree = parse(comparison_text("html", outcome, background))
    assert "1 broken, 1 mended" in tree.by_id("changes").text
    # Who wants to hear of a growth of a million only does not hear of this one.
    deaf = replace(background, factor=1e6)
    assert "larger error" not in parse(comparison_text("html", outcome, deaf)).by_id("changes").text


@pytest.mark.parametrize("name", comparing_formats())
def test_hostile_runs(name: str) -> None:
    before = [replace(result, verdict=Verdict.PASS) for result in hostile.results()]
    background = Background((earlier([*before, *hostile.many(2000)], name=hostile.TEXTS[1]),))
    text = comparison_text(name, outcome_of(hostile.results()), background)
    if name == "json":
        valid("comparison", text)
    elif name == "markdown":
        assert not rendered(text).all("script")
        assert len(text.encode(errors="replace")) <= 64_000
    else:
        assert "\x1b" not in text


def test_headings_are_bold_where_somebody_looks() -> None:
    text = comparison_text("plain", *changed(), color=True)
    assert "\x1b[1mbroken\x1b[0m\n" in text


def test_there_must_be_something_to_compare_with() -> None:
    with pytest.raises(ValueError, match="no run to compare with"):
        comparison_text("plain", outcome_of([]), NO_BACKGROUND)
