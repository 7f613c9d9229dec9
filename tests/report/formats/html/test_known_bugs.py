from __future__ import annotations

from dataclasses import replace

from gradcheck.model import Case, KnownBug, Result, Verdict
from tests.report import examples
from tests.report.formats.html.pages import page, page_text, parse


def with_bug(result: Result, bug: KnownBug, **changes: object) -> Result:
    case = result.case
    assert isinstance(case, Case)
    return replace(result, case=replace(case, bug=bug, **changes))  # type: ignore[arg-type]


def rows(*results: Result) -> list[list[str]]:
    known = page(results).by_id("known")
    body = known.one("tbody")
    return [[cell.text for cell in (*row.all("th"), *row.all("td"))] for row in body.all("tr")]


def test_known_bugs_are_listed_by_function_and_reason() -> None:
    known = examples.known_bug()
    another = replace(known, id="b.yaml::another")
    found = rows(known, another, examples.one_input_as_expected(), examples.passing())
    first, second = found
    assert first[0].endswith(f"{known.id}, b.yaml::another")
    assert first[1:] == ["mismatch", "mismatch (expected)", "wrong for | negative shifts", "all"]
    assert second[1:] == ["b: disconnected", "disconnected (expected)", "b is not used", "all"]


def test_what_is_known_besides_is_told() -> None:
    bug = KnownBug(
        "tensorflow<2.22", instead="tf.roll(x, -1, 0)", issue="https://example.org/issues/1"
    )
    (row,) = rows(with_bug(examples.known_bug(), bug))
    assert "Right is: tf.roll(x, -1, 0)" in row[3]
    assert "Reported: https://example.org/issues/1" in row[3]
    assert row[4] == "tensorflow<2.22"
    text = page_text([with_bug(examples.known_bug(), bug)])
    assert 'href="https://example.org/issues/1"' in text


def test_no_address_but_one_of_the_web_is_a_link() -> None:
    """A report may come from anywhere."""
    bug = KnownBug(issue="javascript:alert(1)")
    text = page_text([with_bug(examples.known_bug(), bug)])
    assert "javascript:alert(1)" in parse(text).by_id("known").text
    assert 'href="javascript' not in text


def test_a_bug_that_is_gone_is_told_as_what_it_is() -> None:
    found = rows(examples.bug_gone())
    assert found[0][1:3] == ["mismatch", "pass (unexpected)"]
    section = page([examples.bug_gone()]).by_id("known").text
    assert "1 known bug is gone, and its spec does not say so" in section


def test_a_bug_that_this_version_has_mended_is_a_pass() -> None:
    bug = KnownBug("tensorflow<2.22", mended="wrong for negative shifts")
    mended = with_bug(examples.bug_gone(), bug, expect=None, reason="")
    assert mended.expected
    (row,) = rows(mended)
    assert row[1:] == ["pass: mended", "pass", "wrong for negative shifts", "tensorflow<2.22"]
    assert "1 known bug is mended in TensorFlow" in page([mended]).by_id("known").text


def test_kinks_and_what_was_not_run_are_no_bugs() -> None:
    kink = examples.kink()
    assert kink.case is not None
    expected = replace(kink, case=replace(kink.case, expect=Verdict.KINK))
    text = page_text([expected, examples.skipped()])
    assert 'id="known"' not in text
