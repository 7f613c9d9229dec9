"""Lines on what an upgrade has mended, and on known bugs that are gone unsaid."""

from __future__ import annotations

import io
from dataclasses import replace

from gradcheck.model import KnownBug, Plan, Result, Verdict
from gradcheck.report import make_reporter
from gradcheck.report.details import failure_details
from gradcheck.report.remark_lines import gone_lines, mended_lines
from gradcheck.report.reporter import MOST_CASES
from tests.report import examples

ON = {"tensorflow": "2.22.0", "keras": "3.6.0"}


def mended(name: str = "a.yaml::a", versions: str = "tensorflow<2.22") -> Result:
    """A pass of a case that older versions fail."""
    result = examples.passing()
    assert result.case is not None
    case = replace(result.case, id=name, bug=KnownBug(versions, mended="it was wrong"))
    return replace(result, id=name, case=case)


def test_mended_bugs_are_counted_by_what_mended_them() -> None:
    results = [mended(), mended("a.yaml::b"), mended("k.yaml::c", "keras<3.6"), examples.passing()]
    assert mended_lines(results, ON) == [
        "2 known bugs are mended in TensorFlow 2.22.0: a.yaml::a, a.yaml::b",
        "1 known bug is mended in Keras 3.6.0: k.yaml::c",
    ]
    assert mended_lines([examples.passing(), examples.known_bug()], ON) == []


def test_many_are_not_all_named() -> None:
    (line,) = mended_lines([mended(f"a.yaml::{number}") for number in range(8)], ON)
    assert line.endswith("a.yaml::4 and 3 more")


def test_what_is_not_right_is_not_mended() -> None:
    wrong = replace(mended(), verdict=Verdict.MISMATCH)
    assert mended_lines([wrong, replace(mended(), verdict=Verdict.SKIPPED)], ON) == []


def test_a_bug_that_is_gone_and_whose_spec_does_not_say_so() -> None:
    assert gone_lines([examples.bug_gone(), examples.mismatch()]) == [
        f"1 known bug is gone, and its spec does not say so: {examples.bug_gone().id}"
    ]
    kink = examples.bug_gone()
    assert kink.case is not None
    # (A kink that is none fails, and is no bug.)
    assert gone_lines([replace(kink, case=replace(kink.case, expect=Verdict.KINK))]) == []


def test_the_failure_says_which_versions_to_name() -> None:
    plan = Plan((), (), {"tensorflow": "2.22.0rc0"})
    text = failure_details(examples.bug_gone(), plan).headline
    assert text.endswith("or say which versions have it: `when: tensorflow<2.22`")
    assert "versions" not in failure_details(examples.bug_gone()).headline


def test_it_is_told_in_long_runs_too() -> None:
    """Where what is right is counted, and not kept."""
    many = [replace(examples.passing(), id=f"m.yaml::{number}") for number in range(MOST_CASES)]
    for form in ("plain", "table", "markdown"):
        stream = io.StringIO()
        examples.tell(make_reporter(form, stream), [*many, mended()])
        told = " ".join(stream.getvalue().split())
        assert "1 known bug is mended in TensorFlow" in told, form
