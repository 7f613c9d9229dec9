from __future__ import annotations

from dataclasses import replace

from tests.report import examples
from tests.report.formats.html.pages import page, page_text, parse


def test_a_failure_says_what_happened_before_it_unfolds() -> None:
    summary, *_ = page([examples.mismatch()]).by_id("f0").all("summary")
    assert summary.one("h3").text == examples.mismatch().id
    assert summary.one("span", "badge").text == "mismatch"
    assert "1.0005 times what it should be" in summary.text


def test_few_failures_are_unfolded() -> None:
    def unfolded(*results: object) -> list[bool]:
        tree = page(results)  # type: ignore[arg-type]
        return ["open" in node.attributes for node in tree.all("details", "failure")]

    three = (examples.mismatch(), examples.error(), examples.crashed())
    assert unfolded(*three[:2]) == [True, True]
    assert unfolded(*three) == [False, False, False]


def test_a_long_message_is_cut_in_the_line_alone() -> None:
    long = replace(examples.error(), message="too " * 500 + "long")
    failure = page([long]).by_id("f0")
    assert len(failure.all("summary")[0].text) < 400
    assert failure.one("pre").text.endswith("too long")


def test_spec_problems_are_told() -> None:
    text = page_text([examples.passing()], problems=(examples.PROBLEM,))
    section = parse(text).by_id("failures").text
    assert "unknown key 'shpae'" in section
    assert "specs/broken.yaml:4:7" in section
    assert "did you mean 'shape'?" in section
