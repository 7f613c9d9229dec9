"""Cases as items of pytest: selection, outcomes, markers, and what is said of failures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

CASES = """\
op: exp
inputs: {x: [3]}
cases:
  - name: good
    dtype: [float64, float32]
    mode: [eager, xla]
  - name: mismatch-here
    tags: [slow, nightly-run]
  - name: mismatch-known
    expect: mismatch
    reason: wrong since 2.1
  - name: kink-here
  - name: skipped-here
"""


def write(pytester: pytest.Pytester, text: str = CASES, name: str = "specs/exp.yaml") -> None:
    place = pytester.path / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)


def outcomes(result: pytest.RunResult) -> dict[str, str]:
    """By name of the case, the word of `-v`."""
    found = re.findall(r"(?m)^(\S+\.yaml)::(\S+) ([A-Z]+)", result.stdout.str())
    return {name: word for _, name, word in found}


def names(ran: Iterable[str]) -> list[str]:
    return [case.partition("::")[2] for case in ran]


def test_every_case_has_its_outcome(pytester: pytest.Pytester, no_tensorflow: list[str]) -> None:
    write(pytester)
    result = pytester.runpytest_inprocess("specs", "-v", "-rxs")
    assert outcomes(result) == {
        "good[float64,eager]": "PASSED",
        "good[float64,xla]": "PASSED",
        "good[float32,eager]": "PASSED",
        "good[float32,xla]": "PASSED",
        "mismatch-here": "FAILED",
        "mismatch-known": "XFAIL",
        "kink-here": "PASSED",
        "skipped-here": "SKIPPED",
    }
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "XFAIL specs/exp.yaml::mismatch-known - mismatch: wrong since 2.1",
            "SKIPPED [[]1[]] specs/exp.yaml:13: pretended to be skipped",
        ]
    )
    assert len(no_tensorflow) == 8


def test_a_failure_reads_as_the_command_has_it(
    pytester: pytest.Pytester, no_tensorflow: list[str]
) -> None:
    write(pytester)
    result = pytester.runpytest_inprocess("specs", "-k", "mismatch-here")
    result.stdout.fnmatch_lines(
        [
            "*____ mismatch-here ____*",
            "specs/exp.yaml::mismatch-here",
            "  at specs/exp.yaml:7:5",
            "  mismatch: The gradient differs from the numeric derivative by more than*",
            "  x[[]3[]]: mismatch, float64, 1 of 3 elements, max abs error 1,*",
            "    index  input value  analytic  numeric ± bound  error",
            "    [[]0[]]*2*1 ± 1.0e-13*1",
            "  replay: gradcheck run specs/exp.yaml::mismatch-here",
            "FAILED specs/exp.yaml::mismatch-here - mismatch: x[[]3[]]: float64, 1 of 3 ele*",
        ]
    )
    # No frame of anybody's code.
    assert ".py" not in result.stdout.str().partition("FAILURES")[2]


def test_a_known_bug_that_is_gone_fails(
    pytester: pytest.Pytester, no_tensorflow: list[str]
) -> None:
    write(pytester, "op: exp\ninputs: {x: [3]}\nname: good\nexpect: mismatch\nreason: once\n")
    result = pytester.runpytest_inprocess("specs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  expected mismatch, but it passes: the known bug is gone;*"])


def test_another_verdict_than_the_expected_one_fails(
    pytester: pytest.Pytester, no_tensorflow: list[str]
) -> None:
    spec = "op: exp\ninputs: {x: [3]}\nname: error-here\nexpect: mismatch\nreason: once\n"
    write(pytester, spec)
    result = pytester.runpytest_inprocess("specs")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  expected mismatch, got error"])


def test_what_is_expected_of_one_input(pytester: pytest.Pytester, no_tensorflow: list[str]) -> None:
    spec = (
        "op: exp\ninputs: {x: [3]}\nname: disconnected-x\nexpect: {x: disconnected}\nreason: so\n"
    )
    write(pytester, spec)
    result = pytester.runpytest_inprocess("specs", "-rx")
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL * - disconnected for x: so"])


def test_a_verdict_that_is_no_failure_may_be_expected(
    pytester: pytest.Pytester, no_tensorflow: list[str]
) -> None:
    write(pytester, "op: exp\ninputs: {x: [3]}\nname: kink-x\nexpect: kink\n")
    pytester.runpytest_inprocess("specs").assert_outcomes(passed=1)


def test_runxfail_shows_the_known_bug(pytester: pytest.Pytester, no_tensorflow: list[str]) -> None:
    write(pytester)
    result = pytester.runpytest_inprocess("specs", "--runxfail", "-k", "known")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  x[[]3[]]: mismatch, float64, 1 of 3 elements*"])


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["-k", "xla and not float32"], ["good[float64,xla]"]),
        (["-k", "EXP and kink"], ["kink-here"]),
        (["-k", "nightly"], ["mismatch-here"]),
        (["-m", "slow"], ["mismatch-here"]),
        (["-m", "nightly-run"], ["mismatch-here"]),
        (["-m", "gradcheck and not slow", "-k", "mismatch"], ["mismatch-known"]),
        (["specs/exp.yaml::good[float32,xla]"], ["good[float32,xla]"]),
        (["--deselect", "specs/exp.yaml::good", "-k", "good or kink"], ["kink-here"]),
    ],
)
def test_cases_are_selected_as_tests_are(
    pytester: pytest.Pytester, no_tensorflow: list[str], arguments: list[str], wanted: list[str]
) -> None:
    write(pytester)
    paths = [] if "::" in arguments[0] else ["specs"]
    pytester.runpytest_inprocess(*paths, *arguments, "--strict-markers", "-W", "error")
    assert names(no_tensorflow) == wanted


def test_a_name_without_its_variant_stands_for_all(
    pytester: pytest.Pytester, no_tensorflow: list[str]
) -> None:
    write(pytester)
    pytester.runpytest_inprocess("specs/exp.yaml::good")
    assert len(no_tensorflow) == 4


def test_exitfirst_and_last_failed(pytester: pytest.Pytester, no_tensorflow: list[str]) -> None:
    write(pytester)
    write(pytester, CASES.replace("mismatch-here", "fine"), "specs/second.yaml")
    pytester.runpytest_inprocess("specs", "-x")
    assert names(no_tensorflow)[-1] == "mismatch-here"
    assert len(no_tensorflow) == 5
    no_tensorflow.clear()
    result = pytester.runpytest_inprocess("specs", "--lf")
    assert no_tensorflow == ["specs/exp.yaml::mismatch-here"]
    result.stdout.fnmatch_lines(["*rerun previous 1 failure*"])


def test_an_id_is_that_of_the_command_wherever_pytest_is_called(
    pytester: pytest.Pytester, no_tensorflow: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(pytester)
    pytester.makeini("[pytest]\n")
    monkeypatch.chdir(pytester.path / "specs")
    result = pytester.runpytest_inprocess("exp.yaml", "-k", "mismatch-here", "-v")
    assert no_tensorflow == ["exp.yaml::mismatch-here"]
    result.stdout.fnmatch_lines(["  replay: gradcheck run exp.yaml::mismatch-here"])


@pytest.mark.parametrize("tag", ["skip", "xfail", "skipif", "usefixtures", "parametrize", "_own"])
def test_a_tag_is_a_word_and_does_nothing(
    pytester: pytest.Pytester, no_tensorflow: list[str], tag: str
) -> None:
    """A spec is data: it does not skip itself by a tag, nor hide a failure."""
    write(pytester, f"op: exp\ninputs: {{x: [3]}}\nname: mismatch-x\ntags: {tag}\n")
    result = pytester.runpytest_inprocess("specs", "--strict-markers", "-k", tag)
    result.assert_outcomes(failed=1)


def test_a_tag_may_have_the_name_of_a_marker_of_the_project(
    pytester: pytest.Pytester, no_tensorflow: list[str]
) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    slow: takes its time\n")
    write(pytester)
    result = pytester.runpytest_inprocess("specs", "-m", "slow", "--strict-markers")
    result.assert_outcomes(failed=1, deselected=7)


def test_what_is_wrong_in_a_spec_is_an_error_of_collection(pytester: pytest.Pytester) -> None:
    write(pytester, "op: matmul\ninputs:\n  a: {shpae: [2, 3]}\n  b: [3, 4]\nsede: 1\n")
    result = pytester.runpytest_inprocess("specs")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR collecting specs/exp.yaml*",
            "specs/exp.yaml:3:7: the input `a` has no key `shpae`",
            "    3 |   a: {shpae: [[]2, 3[]]}",
            "              ^^^^^",
            "      = did you mean `shape`?",
            "specs/exp.yaml:5:1: *`sede`*",
            "ERROR specs/exp.yaml - specs/exp.yaml:3:7: the input `a` has no key `shpae`",
        ]
    )
    assert ".py" not in result.stdout.str()


def test_bad_settings_of_the_project_are_one_too(pytester: pytest.Pytester) -> None:
    write(pytester)
    pytester.makepyprojecttoml("[tool.gradcheck]\nalow = ['mine']\n")
    result = pytester.runpytest_inprocess("specs")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*[[]tool.gradcheck[]] has no key `alow`; did you mean `allow`?"])


def test_a_function_must_be_allowed(pytester: pytest.Pytester, no_tensorflow: list[str]) -> None:
    write(pytester, "function: mine:swish\ninputs: {x: [3]}\n")
    refused = pytester.runpytest_inprocess("specs")
    refused.assert_outcomes(errors=1)
    refused.stdout.fnmatch_lines(["*the package `mine` is not allowed*"])
    # (What it advises must be possible here: pytest has no such option.)
    refused.stdout.fnmatch_lines(["*add it to `allow` in [[]tool.gradcheck[]] of pyproject.toml"])
    refused.stdout.no_fnmatch_line("*--allow*")
    pytester.makepyprojecttoml("[tool.gradcheck]\nallow = ['mine']\n")
    pytester.runpytest_inprocess("specs").assert_outcomes(passed=1)


def test_reports_of_pytest_tell_the_case(
    pytester: pytest.Pytester, no_tensorflow: list[str]
) -> None:
    write(pytester)
    pytester.runpytest_inprocess("specs", "--junitxml=r.xml", "-o", "junit_family=xunit1")
    root = ET.parse(pytester.path / "r.xml").getroot()  # noqa: S314 - our own
    cases = {case.get("name"): case for case in root.iter("testcase")}
    wrong = cases["mismatch-here"]
    assert (wrong.get("file"), wrong.get("line")) == ("specs/exp.yaml", "6")
    failure = wrong.find("failure")
    assert failure is not None
    assert str(failure.get("message")).startswith("mismatch: x[3]")
    assert "replay: gradcheck run" in str(failure.text)
    verdicts = {name: p.get("value") for name, case in cases.items() for p in case.iter("property")}
    assert verdicts["kink-here"] == "kink"


def test_passes_can_be_read_too(pytester: pytest.Pytester, no_tensorflow: list[str]) -> None:
    write(pytester)
    result = pytester.runpytest_inprocess("specs", "-rP", "-k", "kink")
    result.stdout.fnmatch_lines(["KINK         specs/exp.yaml::kink-here*"])


def test_no_line_of_a_failure_is_a_command_of_a_ci(pytester: pytest.Pytester) -> None:
    write(pytester, 'op: "\\n::error::x"\ninputs: {x: [3]}\n')
    result = pytester.runpytest_inprocess("specs")
    result.assert_outcomes(errors=1)
    assert not re.search(r"(?m)^\s*::", result.stdout.str())
