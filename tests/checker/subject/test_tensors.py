"""The border to TensorFlow: structures, dtypes, and the telling line of an exception."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.subject.tensors import (
    FunctionRaised,
    call,
    differentiable_outputs,
    explain_exception,
    is_differentiable,
    to_numpy,
    widen,
)


def test_outputs_of_any_structure(tf: Any) -> None:
    found = differentiable_outputs(
        {"b": [tf.constant(1.0), (2.0, None)], "a": tf.constant(3 + 0j), "c": tf.constant(4)}
    )
    # tf.nest goes through the keys in their order.
    assert [complex(tensor.numpy()) for tensor in found] == [3, 1, 2]


def test_slices_become_dense(tf: Any) -> None:
    slices = tf.IndexedSlices(
        tf.constant([[1.0], [2.0], [4.0]]), tf.constant([0, 2, 2]), tf.constant([3, 1])
    )
    assert to_numpy(slices).tolist() == [[1], [0], [6]]


@pytest.mark.parametrize(
    ("dtype", "differentiable", "wide"),
    [
        ("float16", True, "float64"),
        ("bfloat16", True, "float64"),
        ("float64", True, "float64"),
        ("complex64", True, "complex128"),
        ("int32", False, "int32"),
        ("bool", False, "bool"),
    ],
)
def test_dtypes(tf: Any, dtype: str, differentiable: bool, wide: str) -> None:
    value = np.ones(1).astype(tf.as_dtype(dtype).as_numpy_dtype)
    assert is_differentiable(value.dtype) is differentiable
    assert widen(value).dtype.name == wide


def test_what_a_function_raises_is_wrapped() -> None:
    with pytest.raises(FunctionRaised, match="ValueError: no") as raised:
        call(lambda: (_ for _ in ()).throw(ValueError("no")), [])
    assert isinstance(raised.value.__cause__, ValueError)


def test_what_ends_a_program_is_not() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(interrupted, [])


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("one\n\ntwo"), "ValueError: one"),
        (ValueError(), "ValueError"),
        (
            ValueError("in user code:\n\n    File x, line 3\n\n    ValueError: at the end"),
            "ValueError: at the end",
        ),
        (ValueError("{{function_node __wrapped}} bad [Op:Reshape]"), "ValueError: bad"),
    ],
)
def test_the_telling_line(error: Exception, text: str) -> None:
    assert explain_exception(error) == text


def test_tensors_of_two_precisions(tf: Any) -> None:
    own = tf.constant([1.0, 2.0])
    with pytest.raises(FunctionRaised) as raised:
        call(lambda x: x * own, [tf.constant([1.0, 2.0], tf.float64)])
    assert "float64 and float32 do not mix" in str(raised.value)
    assert "`dtype:` in a spec" in str(raised.value)


@pytest.mark.parametrize("value", [1.0, [1.0], [1.0, 2.0], [1.0, 2.0, 3.0]])
def test_a_custom_gradient_without_a_gradient(tf: Any, value: Any) -> None:
    with pytest.raises(FunctionRaised) as raised:
        call(tf.custom_gradient(lambda x: x * x), [tf.constant(value)])
    assert "must return two things" in str(raised.value)


def test_what_the_function_itself_unpacks_is_its_own(tf: Any) -> None:
    def unpacks(x: Any) -> Any:
        first, second = tuple(range(3))
        return first * second * x, lambda dy: dy

    with pytest.raises(FunctionRaised) as raised:
        call(tf.custom_gradient(unpacks), [tf.constant([1.0])])
    assert "unpack" in str(raised.value)
    assert "must return two things" not in str(raised.value)


class Untellable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_what_an_exception_says_of_itself() -> None:
    assert explain_exception(Untellable()) == "Untellable: its text raises RuntimeError"
    long = explain_exception(ValueError("a" + "x" * 50_000_000 + "z"))
    assert len(long) < 2_100
    assert long.startswith("ValueError: ax")
    assert long.endswith("xz")


def test_an_object_that_is_no_tensor_is_the_users_own(tf: Any) -> None:
    class Odd:
        def __array__(self, *_: object, **__: object) -> None:
            raise RuntimeError("planted")

    assert call(object, []) == []
    with pytest.raises(FunctionRaised, match="RuntimeError: planted"):
        call(Odd, [])


def test_which_attribute_is_refused_first_is_no_news(tf: Any) -> None:
    x = tf.constant([[[[1.0]]]], tf.float64)
    s = tf.constant([1.0], tf.float64)
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.raw_ops.FusedBatchNormV3(x=x, scale=s, offset=s, mean=s, variance=s)
    assert explain_exception(raised.value) == "InvalidArgumentError: it takes no float64"
