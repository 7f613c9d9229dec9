from __future__ import annotations

from dataclasses import replace

from gradcheck.model import Case, KnownBug, Result, Verdict
from tests.report import examples
from tests.report.formats.html.pages import page, page_text, parse


def with_bug(result: Result, bug: KnownBug, **changes: object) -> Result:
    case = result.case
    assert isinstance(case, Case)
    return replace(result, case=replace(case, bug=bug, **changes))  # type: ignore[arg-type]


def items(*results: Result) -> list[str]:
    known = page(results).by_id("known")
    return [item.text for item in known.one("ul", "known").all("li")]


def test_known_bugs_are_listed_by_function_and_reason() -> None:
    known = examples.known_bug()
    another = replace(known, id="b.yaml::another")
    found = items(known, another, examples.one_input_as_expected(), examples.passing())
    first, second = found
    assert first.startswith("mismatch (expected)")
    assert "wrong for | negative shifts" in first
    assert first.endswith(f"expected: mismatch; versions: all; {known.id}, b.yaml::another")
    assert "b is not used" in second
    assert "expected: b: disconnected; versions: all" in second


def test_what_is_known_besides_is_told() -> None:
    bug = KnownBug(
        "tensorflow<2.22", instead="tf.roll(x, -1, 0)", issue="https://example.org/issues/1"
    )
    (item,) = items(with_bug(examples.known_bug(), bug))
    assert "Right is: tf.roll(x, -1, 0)" in item
    assert "Reported: https://example.org/issues/1" in item
    assert "versions: tensorflow<2.22" in item
    text = page_text([with_bug(examples.known_bug(), bug)])
    assert 'href="https://example.org/issues/1"' in text


def test_no_address_but_one_of_the_web_is_a_link() -> None:
    """A report may come from anywhere."""
    bug = KnownBug(issue="javascript:alert(1)")
    text = page_text([with_bug(examples.known_bug(), bug)])
    assert "javascript:alert(1)" in parse(text).by_id("known").text
    assert 'href="javascript' not in text


def test_a_bug_that_is_gone_is_told_as_what_it_is() -> None:
    (item,) = items(examples.bug_gone())
    assert item.startswith("pass (unexpected)")
    assert "expected: mismatch" in item
    section = page([examples.bug_gone()]).by_id("known").text
    assert "1 known bug is gone, and its spec does not say so" in section


def test_a_bug_that_this_version_has_mended_is_a_pass() -> None:
    bug = KnownBug("tensorflow<2.22", mended="wrong for negative shifts")
    mended = with_bug(examples.bug_gone(), bug, expect=None, reason="")
    assert mended.expected
    (item,) = items(mended)
    assert item.startswith("pass ")
    assert "wrong for negative shifts" in item
    assert "expected: pass, it is mended; versions: tensorflow<2.22" in item
    assert "1 known bug is mended in TensorFlow" in page([mended]).by_id("known").text


def test_kinks_and_what_was_not_run_are_no_bugs() -> None:
    kink = examples.kink()
    assert kink.case is not None
    expected = replace(kink, case=replace(kink.case, expect=Verdict.KINK))
    text = page_text([expected, examples.skipped()])
    assert 'id="known"' not in text


def test_where_a_run_has_added_a_mode_a_bug_may_be_absent() -> None:
    gone = examples.bug_gone()
    assert gone.case is not None
    absent = replace(gone, case=replace(gone.case, added=True))
    assert absent.expected
    assert 'id="known"' not in page_text([absent])
    assert len(items(absent, examples.known_bug())) == 1
