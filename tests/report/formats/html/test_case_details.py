from __future__ import annotations

from dataclasses import replace

from gradcheck.model import Result, Verdict
from tests.report import examples
from tests.report.formats.html.pages import Node, page, page_text, parse, unpacked


def details(result: Result) -> Node:
    (text,) = unpacked(page_text([result]))
    return parse(text)


def test_where_it_comes_from_and_who_decided() -> None:
    facts = details(examples.passing()).all("p", "facts")[0].text
    told = "pass · op matmul · float64 · eager · seed 0 · specs/linalg/matmul.yaml:3:5"
    assert facts == f"{told} · decided by first look"


def test_each_input_has_a_heading_and_what_is_wrong_comes_first() -> None:
    failure = page([examples.disconnected()]).by_id("f0")
    assert [node.text for node in failure.all("h4")] == ["b[2,2] disconnected", "a[3,4] pass"]


def test_an_expectation_that_came_true_is_not_held_against_it() -> None:
    bent = examples.kink()
    assert bent.case is not None
    expected = replace(bent, case=replace(bent.case, expect=Verdict.KINK, reason="on purpose"))
    text = details(expected).text
    assert "got kink" not in text
    assert "Expected: on purpose" in text


def test_one_that_did_not_is() -> None:
    failure = page([examples.bug_gone()]).by_id("f0")
    assert "expected mismatch, but it passes: the known bug is gone" in failure.text


def test_the_elements_are_a_table() -> None:
    table = page([examples.mismatch()]).by_id("f0").all("table")[0]
    assert table.one("caption").text == "The elements of a[3,4] that stand out most"
    assert [row.all("th")[0].text for row in table.one("tbody").all("tr")] == [
        "[0, 1]", "[2, 3]", "[1, 0]",
    ]  # fmt: skip


def test_pictures_stand_below_it() -> None:
    failure = page([examples.pictured()]).by_id("f0")
    assert len(failure.all("figure")) == 4
    bent = details(examples.pictured_kink())
    assert len(bent.all("figure")) == 1


def test_of_many_inputs_the_first_have_pictures() -> None:
    (wrong,) = examples.pictured().comparisons
    inputs = tuple(replace(wrong, name=f"x{i}") for i in range(12))
    failure = page([replace(examples.pictured(), comparisons=inputs)]).by_id("f0")
    assert len(failure.all("figure")) == 4 * 8
    assert len(failure.all("h4")) == 12
