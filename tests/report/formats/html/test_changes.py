from __future__ import annotations

from dataclasses import replace

from gradcheck.model import Verdict
from tests.report import examples
from tests.report.formats.html.pages import earlier, page


def test_without_an_earlier_run_it_says_how_to_give_one() -> None:
    assert "--baseline FILE" in page([examples.passing()]).by_id("changes").text


def test_what_changed_is_listed_and_linked() -> None:
    now = [examples.passing(), examples.mismatch(), examples.error()]
    mended = replace(examples.passing(), verdict=Verdict.MISMATCH)
    broken = replace(examples.mismatch(), verdict=Verdict.PASS, comparisons=())
    run = earlier([mended, broken, examples.kink()], "monday.json", tensorflow="2.20.0")
    section = page(now, run).by_id("changes")
    told = "Since monday.json, with 2 cases in common: 1 broken, 1 mended, 1 gone, 1 new."
    assert told in section.text
    assert "tensorflow 2.20.0 → 2.21.0" in section.text
    # The broken one stands in the page in full, the mended one in the list of cases.
    links = {node.text: node.attributes["href"] for node in section.all("a")}
    assert links[examples.mismatch().id] == "#f1"
    assert links[examples.passing().id] == "#c0"
    assert examples.kink().id not in links
    assert examples.kink().id in section.text


def test_the_last_of_several_is_compared_with() -> None:
    now = [examples.passing()]
    section = page(now, earlier([], "first.json"), earlier(now, "last.json")).by_id("changes")
    assert "Since last.json, with 1 case in common: no change." in section.text


def test_what_changed_can_be_filtered() -> None:
    now = [examples.passing(), examples.error()]
    tree = page(now, earlier([examples.passing()]))
    assert "data-changed" not in tree.by_id("c0").attributes
    assert "data-changed" in tree.by_id("c1").attributes
    assert tree.by_id("changed").attributes["type"] == "checkbox"
