from __future__ import annotations

from dataclasses import replace

from tests.report import examples
from tests.report.formats.html.pages import earlier, page, page_text, unpacked


def test_without_earlier_runs_there_is_none() -> None:
    tree = page([examples.passing()])
    assert not [node for node in tree.walk() if node.attributes.get("id") == "history"]
    assert "Verdicts by run" not in unpacked(page_text([examples.passing()]))[0]


def test_a_row_for_each_run_and_a_strip_for_what_did_not_stay() -> None:
    now = [examples.passing(), examples.kink()]
    wrong = replace(examples.mismatch(), id=examples.passing().id)
    runs = (
        earlier([wrong], "first.json", tensorflow="2.20.0"),
        earlier([examples.passing(), examples.kink()], "second.json"),
    )
    section = page(now, *runs).by_id("history")
    rows = section.one("tbody").all("tr")
    assert [row.one("th").text for row in rows] == ["this run", "second.json", "first.json"]
    assert "tensorflow 2.20.0" in rows[2].text
    assert [td.text for td in rows[2].all("td")][1:] == ["1", "1", "–", "–", "–", "–", "2.00 s"]
    assert "1 case did not have the same verdict" in section.text
    assert [node.text for node in section.all("h3")] == [examples.passing().id]
    # Every case has its trend in its details.
    details = unpacked(page_text(now, *runs))
    assert all("Verdicts by run" in text for text in details)


def test_nothing_changed() -> None:
    now = [examples.passing()]
    section = page(now, earlier(now)).by_id("history")
    assert "No case had another verdict" in section.text
