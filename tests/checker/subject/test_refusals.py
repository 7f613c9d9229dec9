from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.raised import as_verdict
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.refusals import (
    must_be_compiled,
    told_not_differentiable,
    told_of_forward_mode,
    told_without_gradient,
)
from gradcheck.checker.subject.tape import GradientRaised
from gradcheck.model import CheckKind, Mode, Verdict

X = np.array([0.3, 0.7, 1.1])


@pytest.mark.parametrize("check", ["reverse", "forward", "second", "jacobian"])
def test_what_xla_cannot_compile_is_skipped(tf: Any, check: str) -> None:
    result = gradcheck.check(tf.math.bessel_i0, X, checks=check, mode="xla")
    assert result.verdict is Verdict.SKIPPED
    assert result.message.startswith("XLA cannot compile BesselI0")


@pytest.mark.parametrize("check", ["reverse", "second", "jacobian"])
def test_a_loop_whose_gradient_needs_to_know_how_long_it_is(tf: Any, check: str) -> None:
    def loop(x: Any, **given: Any) -> Any:
        body = lambda i, v: (i + 1, tf.sin(v))  # noqa: E731
        return tf.while_loop(lambda i, _: i < 3, body, (0, x), **given)[1]

    result = gradcheck.check(loop, X, checks=check, mode="xla")
    assert result.verdict is Verdict.SKIPPED, str(result)
    assert "XLA compilation requires a fixed tensor list size" in result.message
    if check == "reverse":
        told = lambda x: loop(x, maximum_iterations=3)  # noqa: E731
        assert gradcheck.check(told, X, mode="xla").verdict is Verdict.PASS


@pytest.mark.parametrize(
    "text",
    [
        "XLA can't use dynamic begin values for slice.",
        "XLA can't deduce compile time constant output shape for strided slice: [?], output shape",
        "XLA does not support pooling ops with explicit padding.",
        "XLA compilation requires a fixed tensor list size. Set the max number of elements.",
    ],
)
def test_how_tensorflow_says_that_it_is_xla(text: str) -> None:
    with pytest.raises(Ended, match="XLA cannot compile the function or its gradient"):
        must_be_compiled(ValueError(text), Mode.XLA)
    must_be_compiled(ValueError(text), Mode.GRAPH)
    must_be_compiled(ValueError("XLA was mentioned by somebody"), Mode.XLA)


def test_in_less_than_float64_too(tf: Any) -> None:
    result = gradcheck.check(tf.math.bessel_i0, X.astype("float32"), mode="xla")
    assert result.verdict is Verdict.SKIPPED


def test_what_the_user_does_is_no_refusal(tf: Any) -> None:
    result = gradcheck.check(lambda x: x + tf.ones([2], x.dtype), X, mode="xla")
    assert result.verdict is Verdict.ERROR


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("forward", "forward mode needs a second-order gradient of Softsign: SoftsignGrad has no"),
        ("second", "Softsign has no second-order gradient: SoftsignGrad has no gradient"),
    ],
)
@pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
def test_a_missing_gradient_names_the_op(tf: Any, check: str, told: str, mode: str) -> None:
    result = gradcheck.check(tf.nn.softsign, X, checks=check, mode=mode)
    assert result.verdict is Verdict.ERROR
    assert result.message.startswith(told)


def test_in_words() -> None:
    assert told_without_gradient("Unique", CheckKind.REVERSE).startswith("Unique has no gradient")
    assert "goes back through each op" in told_without_gradient("Unique", CheckKind.FORWARD)


def test_what_is_registered_as_not_differentiable(tf: Any) -> None:
    told = told_not_differentiable({"NextAfter", "Mul", "OnesLike", "Bucketize", "Rint", "Floor"})
    assert "Mul" not in told
    assert "OnesLike" not in told


def nested(tf: Any, x: Any) -> Any:
    inner = lambda: tf.cond(x[1] < 9, lambda: x * x, lambda: x)  # noqa: E731
    return tf.cond(x[0] < 9, inner, lambda: x)


def chosen(tf: Any, x: Any) -> Any:
    which = tf.minimum(tf.cast(x[0], tf.int32), 0)
    return tf.switch_case(which, [lambda: x * x, lambda: x])


@pytest.mark.parametrize(("branching", "op"), [(nested, "StatelessIf"), (chosen, "StatelessCase")])
def test_what_forward_mode_does_not_go_through_in_a_graph(tf: Any, branching: Any, op: str) -> None:
    def function(x: Any) -> Any:
        return branching(tf, x)

    told = gradcheck.check(function, X, checks="forward", mode="graph")
    assert told.verdict is Verdict.ERROR
    assert f"forward mode does not go through {op} inside of a graph" in told.message
    assert gradcheck.check(function, X, checks="forward").verdict is Verdict.PASS
    assert gradcheck.check(function, X, mode="graph").verdict is Verdict.PASS


@pytest.mark.parametrize(("folder", "is_told"), [("tensorflow", True), ("mine", False)])
def test_names_that_clash_in_a_graph_are_tensorflow_s_fault(folder: str, is_told: bool) -> None:
    """As those of the loops of a CTC loss are, by what was traced before in the process."""
    text = "Attempting to add a duplicate function with name: cond_wrapper where both differ"
    code = compile(f"def add():\n    raise ValueError({text!r})", f"/lib/{folder}/graph.py", "exec")
    scope: dict[str, Any] = {}
    exec(code, scope)  # noqa: S102  (its file has to be one of TensorFlow)
    with pytest.raises(ValueError, match="duplicate") as raised:
        scope["add"]()
    told = told_of_forward_mode(raised.value, Mode.GRAPH)
    assert ("TensorFlow raises ValueError" in told) is is_told
    assert not told_of_forward_mode(raised.value, Mode.EAGER)


def test_somebody_s_own_assertion_is_no_refusal(tf: Any) -> None:
    """What is raised by who checks the tangents of his function is his."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def guarded(x: Any) -> Any:
        def backward(upstream: Any) -> Any:
            assert upstream is None, "never"
            return upstream

        return tf.sin(x), backward

    told = gradcheck.check(guarded, X, checks="forward", mode="graph")
    assert told.verdict is Verdict.ERROR
    assert "forward mode does not go through" not in told.message


def test_branches_of_other_shapes_are_for_graphs_and_not_for_xla(tf: Any) -> None:
    def either(x: Any) -> Any:
        return tf.reduce_sum(tf.cond(x[0] < 9, lambda: x, lambda: x[0]))

    told = gradcheck.check(either, X, mode="xla")
    assert told.verdict is Verdict.SKIPPED, str(told)
    assert told.message.startswith("XLA cannot compile the function or its gradient: left_branch")


def test_what_xla_has_not_implemented(tf: Any) -> None:
    error = tf.errors.UnimplementedError(None, None, "All lengths have to be the same")
    with pytest.raises(Ended, match=r"XLA cannot compile .* All lengths have to be the same"):
        must_be_compiled(error, Mode.XLA)
    must_be_compiled(error, Mode.GRAPH)


@pytest.mark.parametrize(
    "asks",
    [
        lambda x: x * x.numpy(),
        lambda x: x * np.sin(x),
        lambda x: x * float(x[0]),
        lambda x: x if x[0] > 0 else -x,
    ],
)
def test_what_cannot_be_traced(tf: Any, asks: Any) -> None:
    told = gradcheck.check(asks, X, mode="graph")
    assert told.verdict is Verdict.ERROR
    assert "it cannot be traced: inside of a graph tensors have no numbers yet" in told.message
    wrong = gradcheck.check(lambda x: tf.reshape(x, [7]), X, mode="graph")
    assert "traced" not in wrong.message


@pytest.mark.parametrize("mode", [Mode.XLA, Mode.GRAPH])
def test_a_gradient_that_xla_does_not_compile(mode: Mode) -> None:
    error = GradientRaised("InternalError: during context [Unknown]: two floating point types")
    told = as_verdict(error, CheckKind.REVERSE, mode)
    assert told.verdict is (Verdict.SKIPPED if mode is Mode.XLA else Verdict.ERROR)
