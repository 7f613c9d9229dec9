"""Cases, as the spec reader makes them: built, run, and never an exception."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcheck.checker import check_case
from gradcheck.model import (
    CheckKind,
    Mode,
    TargetKind,
    Tolerance,
    Verdict,
)
from gradcheck.ops import all_ops, find
from tests.checker.cases import run, shape, values
from tests.suite import shipped


class TestVerdicts:
    def test_pass(self) -> None:
        result = run("op", "matmul", shape("a", 2, 3), shape("b", 3, 4))
        assert result.verdict is Verdict.PASS
        assert [c.name for c in result.comparisons] == ["a", "b"]
        assert result.case is not None
        assert result.id == "specs/s.yaml::c"
        assert result.comparisons[0].formula is not None

    def test_disconnected(self) -> None:
        result = run("expr", "a * 2.0 + 0.0 * tf.stop_gradient(b)", shape("a", 2), shape("b", 2))
        assert [str(c.verdict) for c in result.comparisons] == ["pass", "disconnected"]

    def test_kink(self) -> None:
        assert run("op", "relu", values("features", [0.0, 1.0])).verdict is Verdict.KINK

    def test_nonfinite(self) -> None:
        text = "tf.where(x == 0.0, tf.ones_like(x), tf.sin(x) / x)"
        assert run("expr", text, values("x", [0.0, 1.0])).verdict is Verdict.NONFINITE

    def test_inconclusive(self) -> None:
        result = run("op", "log", values("x", [-1.0]))
        assert result.verdict is Verdict.INCONCLUSIVE

    def test_error(self) -> None:
        result = run("expr", "tf.reshape(x, [7])", shape("x", 2, 3))
        assert result.verdict is Verdict.ERROR
        assert "Input to reshape" in result.message

    def test_skipped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from gradcheck.spec.expression import allowlist

        known = frozenset({*allowlist.CALLABLE, "tf.raw_ops.FromTheFuture"})
        monkeypatch.setattr(allowlist, "CALLABLE", known)
        result = run("op", "tf.raw_ops.FromTheFuture", shape("x", 2))
        assert result.verdict is Verdict.SKIPPED
        assert "has no `tf.raw_ops.FromTheFuture`" in result.message

    @pytest.mark.parametrize("check", ["second", "forward"])
    def test_what_a_run_adds_and_tensorflow_has_not(self, check: str) -> None:
        named = run("op", "softsign", shape("features", 2), checks=(CheckKind(check),))
        assert named.verdict is Verdict.ERROR
        assert named.case is not None
        told = check_case(replace(named.case, added=True))
        assert told.verdict is Verdict.SKIPPED
        assert "SoftsignGrad has no gradient" in told.message

    @pytest.mark.parametrize("check", list(CheckKind))
    def test_what_a_run_adds_and_no_graph_can_have(self, check: CheckKind) -> None:
        named = run(
            "function",
            "specs.guide.functions:numpy_detour",
            shape("x", 2),
            shape("y", 2),
            mode=Mode.GRAPH,
            checks=(check,),
        )
        assert named.verdict is Verdict.ERROR
        assert named.case is not None
        told = check_case(replace(named.case, added=True), allow=["specs.guide"])
        assert told.verdict is Verdict.SKIPPED
        assert "cannot be traced" in told.message

    def test_what_a_run_adds_and_the_function_raises(self) -> None:
        named = run("expr", "tf.reshape(x, [7])", shape("x", 2), checks=(CheckKind.SECOND,))
        assert named.case is not None
        assert check_case(replace(named.case, added=True)).verdict is Verdict.ERROR

    def test_an_expected_mismatch_is_expected(self) -> None:
        claim = {"x": "3 * G * x"}
        result = run("op", "square", shape("x", 2), gradient=claim, expect=Verdict.MISMATCH)
        assert result.expected

    def test_what_was_not_looked_at_is_not_as_expected(self) -> None:
        assert run("op", "square", shape("x", 2), expect={"x": Verdict.PASS}).expected
        assert not run("op", "square", shape("x", 2), expect={"y": Verdict.PASS}).expected


class TestInputs:
    def test_large_results_travel_light(self) -> None:
        large = run("op", "square", shape("x", 5000)).comparisons[0]
        assert large.analytic is None
        assert large.worst
        small = run("op", "square", shape("x", 50)).comparisons[0]
        assert small.analytic is not None


class TestOptions:
    @pytest.mark.parametrize("mode", list(Mode))
    def test_modes(self, mode: Mode) -> None:
        assert run("op", "tanh", shape("x", 3), mode=mode).verdict is Verdict.PASS

    def test_checks(self) -> None:
        result = run("op", "tanh", shape("x", 3), checks=tuple(CheckKind))
        assert [c.check for c in result.comparisons] == list(CheckKind)
        assert result.verdict is Verdict.PASS

    def test_upstream(self) -> None:
        given = (np.array([2.0, 3.0]),)
        result = run("op", "square", values("x", [1.0, 1.0]), upstream=given)
        assert np.asarray(result.comparisons[0].analytic).tolist() == [4, 6]

    def test_a_tolerance_that_cannot_fail(self) -> None:
        result = run("op", "square", shape("x", 3), tolerance=Tolerance(atol=1e6))
        assert result.verdict is Verdict.ERROR
        assert "the tolerance cannot fail" in result.message

    def test_args(self) -> None:
        result = run("op", "matmul", shape("a", 3, 2), shape("b", 3, 4),
                     args={"transpose_a": True})  # fmt: skip
        assert result.verdict is Verdict.PASS


def square(x: Any) -> Any:
    return x * x


NUMBER = 3


class TestUserFunctions:
    def test_it_runs(self) -> None:
        result = run("function", "tests.checker.test_case:square", shape("x", 3))
        assert result.verdict is Verdict.PASS

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("tests.checker.test_case:missing", "has no `missing`"),
            ("tests.checker.test_case:NUMBER", "is not callable: it is a int"),
            ("tests.checker.no_such:square", "cannot be imported"),
            ("os:system", "is not among the allowed packages"),
            ("tests.checkers:square", "is not among the allowed packages"),
        ],
    )
    def test_what_cannot_be_reached(self, text: str, words: str) -> None:
        result = run("function", text, shape("x", 3))
        assert result.verdict is Verdict.ERROR
        assert words in result.message
        assert "specs/s.yaml:3:5" in result.message


def test_what_is_not_allowed_is_not_reached() -> None:
    for text in ("tf.io.write_file", "tf.py_function"):
        result = run("op", text, shape("x", 2))
        assert result.verdict is Verdict.ERROR
        assert "not on the list" in result.message


class TestSweep:
    """All the shipped specs of declared ops, on draws that nobody has looked at before."""

    CASES = tuple(
        case
        for case in shipped()
        if case.target.kind is TargetKind.OP and find(case.target.text) and "guide" not in case.id
    )

    def test_every_op_is_there(self) -> None:
        used = {case.target.text for case in self.CASES}
        assert {op.name for op in all_ops()} <= used

    def test_no_false_alarm(self) -> None:
        """(`make sweep` has 20 draws.)"""
        unexpected = []
        for one in self.CASES:
            result = check_case(replace(one, seed=101))
            if not result.expected:
                notes = [f"{c.name}: {c.verdict} {c.note}" for c in result.comparisons]
                unexpected.append(f"{one.id}: {result.verdict} {result.message} {notes}")
        assert not unexpected, "\n".join(unexpected)
