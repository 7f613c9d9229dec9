"""Every finding is run: it is as wrong as its spec says, and what is right is confirmed twice."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gradcheck import ops
from gradcheck.explainer.page.known_findings import findings_of
from gradcheck.model import Case, CheckKind, KnownBug, Verdict
from gradcheck.model.versions import installed_version
from tools.finding_proof import Proof, findings, grafted, mended, prove
from tools.finding_words import all_versions, called, versions
from tools.findings import PAGE, ROOT, TABLE, page, table

CASES = findings(ROOT)
_NUMBER = re.compile(r"(?<![\w.\[])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w\]])")


@cache
def proof(number: int) -> Proof:
    """Each is run once, in this process, for all tests here."""
    return prove(CASES[number])


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.id for case in CASES])
def test_it_is_wrong_and_what_is_right_is_confirmed_twice(number: int) -> None:
    found = proof(number)
    assert found.is_shown, found.wrong.verdict
    if found.is_refused:
        pytest.skip(f"this version has no such function: {found.wrong.message[:100]}")
    assert found.is_confirmed, (found.right.verdict, found.right.message)
    assert found.inputs
    for wrong, right in found.inputs:
        assert right.judged == right.elements
        if CheckKind.FORWARD in found.case.checks:  # which keeps the figures of its worst element
            (shown,) = right.worst
            assert shown.numeric
            assert abs(shown.analytic - shown.numeric) <= shown.bound
            assert wrong is not None
            assert not any(np.isclose(one.analytic, one.numeric) for one in wrong.worst)
            continue
        assert right.numeric is not None
        if wrong is None or wrong.analytic is None:
            assert np.any(right.numeric) or wrong is None
        else:
            assert not np.allclose(wrong.analytic, right.numeric, rtol=1e-3, atol=0)


def text_of_this_version() -> str:
    """The page, whose findings are those of the installed version."""
    text = PAGE.read_text("utf-8")
    version = re.search(r"findings in TensorFlow ([\d.\w]+)", text)
    assert version is not None
    if installed_version("tensorflow") != version[1]:
        pytest.skip(f"the page is that of TensorFlow {version[1]}")
    return text


def test_the_page_is_what_the_tool_makes() -> None:
    text = text_of_this_version()
    made = page([proof(number) for number in range(len(CASES))], mended(ROOT))
    assert _NUMBER.sub("#", made) == _NUMBER.sub("#", text)
    # (Another processor rounds otherwise, and few bits are soon in the sixth digit.)
    mine, theirs = ([float(n) for n in _NUMBER.findall(each)] for each in (made, text))
    np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-6)


def test_explain_has_what_the_suite_has() -> None:
    assert text_of_this_version()
    assert table([*CASES, *mended(ROOT)]) == TABLE.read_text("utf-8")
    told = {entry["case"] for some in json.loads(TABLE.read_text()).values() for entry in some}
    for case in (*CASES, *mended(ROOT)):
        op = ops.find(case.target.text)
        if op is not None:
            assert case.id in told
            assert any(finding.case == case.id for finding in findings_of(op.name))


def test_every_known_bug_says_what_is_right() -> None:
    """In every version: those of other ones than the installed have it beside."""
    for path in sorted(ROOT.glob("specs/*/known_bugs.yaml")):
        cases = path.read_text("utf-8").split("\n  - ")[1:]
        missing = [text.splitlines()[0] for text in cases if "\n    instead: " not in text]
        assert missing == [], path


def test_a_finding_that_is_none_is_not_confirmed() -> None:
    """Another function than the one that is wrong, and a gradient that is wrong itself."""
    (case,) = (case for case in CASES if case.name == "xlogy-at-zero")
    assert prove(case).is_confirmed
    for instead in ("x * tf.math.log(y) * 1.001", "tf.math.xlogy(x, y)", "tf.stop_gradient(x)"):
        wrong = prove(replace(case, bug=KnownBug(instead=instead)))
        assert wrong.is_shown
        assert not wrong.is_confirmed, instead
        with pytest.raises(ValueError, match="not confirmed"):
            page([wrong])
    with pytest.raises(ValueError, match="a finding needs `instead`"):
        prove(replace(case, bug=None))


def test_a_function_that_raises_has_no_wrong_gradient() -> None:
    (case,) = (case for case in CASES if case.name == "det-singular")
    assert not proof(CASES.index(case)).is_refused  # (its gradient raises)
    wide = tuple(replace(given, values=np.ones((2, 3)), shape=(2, 3)) for given in case.inputs)
    assert prove(replace(case, inputs=wide)).is_refused


def test_what_is_right_is_no_finding() -> None:
    (case,) = (case for case in CASES if case.name == "xlogy-at-zero")
    inputs = tuple(replace(given, values=np.array([1.0, 2.0])) for given in case.inputs)
    found = prove(replace(case, inputs=inputs))
    assert found.wrong.verdict is Verdict.PASS
    assert not found.is_shown
    with pytest.raises(ValueError, match="not confirmed"):
        page([found])


def test_a_graft_has_the_values_of_one_and_the_gradient_of_the_other() -> None:
    import tensorflow as tf

    x = tf.constant([0.5, 2.0], tf.float64)
    graft = grafted(lambda t: [tf.square(t), tf.cast(t, tf.int32)], lambda t: [3 * t, t])
    with tf.GradientTape() as tape:
        tape.watch(x)
        square, whole = graft(x)
    np.testing.assert_allclose(square, [0.25, 4.0], rtol=1e-15)
    np.testing.assert_array_equal(whole, [0, 2])
    np.testing.assert_array_equal(tape.gradient(square, x), [3.0, 3.0])


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ("", "all"),
        ("tensorflow<2.22", "before 2.22"),
        ("tensorflow>=2.18 and tensorflow<2.22", "since 2.18, before 2.22"),
        ("keras<=3.5", "Keras up to 3.5"),
        ("tensorflow!=2.20", "tensorflow!=2.20"),
    ],
)
def test_versions_in_words(conditions: str, words: str) -> None:
    assert versions(conditions) == words


def test_what_other_versions_have_is_told() -> None:
    bug = KnownBug("tensorflow>=2.17", otherwise="error when tensorflow<2.17")
    assert all_versions(bug) == "since 2.17; before 2.17: error"


def test_the_function_of_an_expression_is_the_outermost() -> None:
    def named(name: str) -> Case:
        return next(case for case in CASES if case.name == name)

    assert called(named("list-gather-twice")) == "tf.raw_ops.TensorListGather"
    assert called(named("isotonic-of-a-vector")) == "tf.nn.isotonic_regression"
    assert called(named("xlogy-at-zero")) == "tf.math.xlogy"
    assert called(named("det-singular")) == "tf.linalg.det"
