from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.as_graph import as_graph
from gradcheck.model import Mode, Verdict

X = np.array([[0.4, -1.2, 0.7], [1.1, 0.3, -0.6], [-0.9, 0.8, 1.4], [0.2, -0.5, 1.9]])


def test_pfor_is_wrong_for_segments_that_end_empty(tf: Any) -> None:
    def segments(x: Any) -> Any:
        return tf.sparse.segment_sum(x, [0, 1, 3], [0, 0, 1], num_segments=3)

    assert gradcheck.check(segments, X).verdict is Verdict.PASS
    result = gradcheck.check(segments, X, checks="jacobian")
    assert result.verdict is Verdict.MISMATCH
    (told,) = result.comparisons
    assert told.check == "jacobian"
    assert "tape.jacobian vectorised (experimental_use_pfor=True) is wrong" in told.note
    assert "the derivative of the output at [" in told.note
    assert "not vectorised (experimental_use_pfor=False) is wrong" not in told.note
    assert result.diagnosis is not None
    assert result.diagnosis.cause == "jacobian"


@pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
def test_all_ways_agree(tf: Any, mode: str) -> None:
    result = gradcheck.check(tf.nn.softmax, X[:2], checks="jacobian", mode=mode)
    assert result.verdict is Verdict.PASS
    # A map of the leading axis: nothing was left out.
    assert "left out" not in result.comparisons[0].note


@pytest.mark.parametrize("mode", ["graph", "xla"])
def test_rows_are_compiled_once(tf: Any, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is judged, and for what the other ways are compared with."""
    traced: list[object] = []

    def counted(function: Any, mode: Mode) -> Any:
        traced.append(function)
        return as_graph(function, mode)

    monkeypatch.setattr("gradcheck.checker.subject.tape.as_graph", counted)
    assert gradcheck.check(tf.sin, X, checks="jacobian", mode=mode).verdict is Verdict.PASS
    assert len(traced) == 1


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_a_batch_of_many_axes(tf: Any, mode: str) -> None:
    result = gradcheck.check(tf.sin, X[:2, :2].reshape(2, 1, 1, 1, 2), checks="jacobian", mode=mode)
    assert result.verdict is Verdict.PASS, result.message


def test_no_map_of_the_leading_axis(tf: Any) -> None:
    result = gradcheck.check(lambda x: tf.cumsum(x, axis=0), X, checks="jacobian")
    assert result.verdict is Verdict.PASS
    assert "row 1 of the output depends on row 0 of the input" in result.comparisons[0].note


def test_a_wrong_gradient_is_wrong_in_every_way(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def wrong(x: Any) -> Any:
        return tf.sin(x), lambda upstream: 1.001 * upstream * tf.cos(x)

    result = gradcheck.check(wrong, X[:2], checks="jacobian")
    assert result.verdict is Verdict.MISMATCH
    assert "vectorised" not in result.comparisons[0].note


def test_a_way_that_takes_the_upstream_for_a_number_is_found(tf: Any) -> None:
    """A gradient that is not linear in its upstream is right for ones, and for nothing else."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def clipped(x: Any) -> Any:
        return 3 * x, lambda upstream: 3 * tf.clip_by_value(upstream, -0.5, 0.5)

    assert gradcheck.check(clipped, X[:1], checks="jacobian").verdict is Verdict.MISMATCH


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_other_dtypes(tf: Any, dtype: str) -> None:
    x = X[:2].astype(dtype)
    assert gradcheck.check(tf.square, x, checks="jacobian").verdict is Verdict.PASS


def test_many_outputs_are_drawn(tf: Any) -> None:
    result = gradcheck.check(tf.sin, np.linspace(0, 1, 200), checks="jacobian")
    assert result.verdict is Verdict.PASS
    assert "judged 128 of 200 rows of the Jacobian" in result.comparisons[0].note


def test_nothing_in_it(tf: Any) -> None:
    result = gradcheck.check(lambda x: 2 * x, np.zeros((0, 3)), checks="jacobian")
    assert result.verdict is Verdict.PASS
    assert "not made for tensors without elements" in result.comparisons[0].note


def one_pushed(tf: Any, y: Any) -> Any:
    """A row; compiled for XLA it is one of four, as many as the list may have."""
    none = tf.raw_ops.EmptyTensorList(
        element_shape=[2], max_num_elements=4, element_dtype=tf.float64
    )
    made = tf.raw_ops.TensorListPushBack(input_handle=none, tensor=y)
    return tf.raw_ops.TensorListStack(
        input_handle=made, element_shape=[2], element_dtype=tf.float64
    )


def test_a_jacobian_with_rows_that_the_output_has_not(tf: Any) -> None:
    told = gradcheck.check(lambda y: one_pushed(tf, y), X[0, :2], checks="jacobian", mode="xla")
    assert told.verdict is Verdict.MISMATCH, str(told)
    note = told.comparisons[0].note
    assert "tape.jacobian vectorised (experimental_use_pfor=True) is wrong" in note
    assert "the Jacobian has shape [4, 2, 2], and [1, 2, 2] row by row" in note
    eager = gradcheck.check(lambda y: one_pushed(tf, y), X[0, :2], checks="jacobian")
    assert eager.verdict is Verdict.PASS, str(eager)


def test_a_jacobian_whose_bytes_are_taken_for_others(tf: Any) -> None:
    """Whatever they happen to be: of zeros the bytes are zeros, too."""
    for factor in (1.0, 0.0):
        told = gradcheck.check(
            lambda x, f=factor: tf.cast(f * x, tf.float32), X[0], checks="jacobian", mode="xla"
        )
        assert told.verdict is Verdict.MISMATCH, str(told)
        note = told.comparisons[0].note
        assert "tape.jacobian not vectorised (experimental_use_pfor=False) is wrong" in note
        assert "its rows are float64 and stand in an array of float32" in note
    for dtype in ("float32", "bfloat16"):
        right = tf.constant(X[0], dtype)
        told = gradcheck.check(tf.sin, right, checks="jacobian", mode="xla")
        assert told.verdict is Verdict.PASS, str(told)


@pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
def test_a_gradient_of_the_wrong_shape_by_its_jacobian(tf: Any, mode: str) -> None:
    """TensorFlow's other ways raise for it: what is wrong is the gradient all the same."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def added(x: Any, y: Any) -> Any:
        return x + y, lambda upstream: (upstream, upstream)

    told = gradcheck.check(added, X[:2, :2], X[0, :2], checks="jacobian", mode=mode)
    assert told.verdict is Verdict.MISMATCH, str(told)
    verdicts = [c.verdict for c in told.comparisons]
    assert verdicts == [Verdict.PASS, Verdict.MISMATCH]
    assert "but its input has shape [2]" in told.comparisons[1].note


def test_what_a_way_raises_of_a_gradient_that_is_right(tf: Any) -> None:
    """pfor multiplies the number of elements by that of the rows, where there is none to do so."""

    def scattered(x: Any) -> Any:
        made = tf.raw_ops.TensorListScatter(tensor=x, indices=[2, 0, 1], element_shape=[2])
        return tf.raw_ops.TensorListStack(
            input_handle=made, element_shape=[2], element_dtype=tf.float64
        )

    told = gradcheck.check(scattered, X[:3, :2], checks="jacobian")
    assert told.verdict is Verdict.ERROR
    assert "tape.jacobian vectorised (experimental_use_pfor=True): InvalidArg" in told.message
