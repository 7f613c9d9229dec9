"""What comes of the inputs by no op is said to be that, and no constant of a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from tests.explainer.traced.users_code import UsersCode

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
    import numpy as np
    import tensorflow as tf

    def called_in_numpy(x):
        y = tf.numpy_function(np.sin, [x], x.dtype)
        return tf.reduce_sum(x * y)

    def called_by_the_old_name(x):
        return x * tf.compat.v1.py_func(np.sin, [x], x.dtype)

    @tf.function
    def called_in_a_graph(x):
        y = tf.numpy_function(np.sin, [x], x.dtype)
        y.set_shape(x.shape)
        return x * y

    def asked_for_numbers(x):
        return x * np.sin(x.numpy())

    def a_number_of_python(x):
        return x / float(tf.norm(x))

    def numbers_inside_of_an_op(x):
        return tf.py_function(lambda a: a * np.cos(a.numpy()), [x], x.dtype) * x

    kept = tf.Variable([1.0, 2.0, 3.0], dtype=tf.float64, trainable=False)

    def kept_in_a_variable(x):
        kept.scatter_add(tf.IndexedSlices(x, [0, 2, 1]))
        return kept * x

    def nothing_else(x):
        return tf.numpy_function(np.sin, [x], x.dtype)

    @tf.custom_gradient
    def with_its_own_gradient(x):
        return tf.numpy_function(np.sin, [x], x.dtype), lambda g: g * tf.cos(x)

    def whole_numbers(x):
        order = np.argsort(x.numpy())
        return tf.gather(x, order) * tf.constant([1.0, 2.0, 3.0], x.dtype)

    def a_branch(x):
        return x * x if float(tf.reduce_sum(x)) > 0 else tf.sin(x)

    def a_list(x):
        held = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=tf.constant([], tf.int32))
        return x * tf.raw_ops.TensorListStack(
            input_handle=held, element_shape=tf.constant([], tf.int32),
            element_dtype=x.dtype, num_elements=3,
        )
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UsersCode:
    return UsersCode(tmp_path, monkeypatch, "numbers_from_outside", CODE)


@pytest.mark.parametrize(
    "name",
    [
        "called_in_numpy",
        "called_by_the_old_name",
        "called_in_a_graph",
        "asked_for_numbers",
        "a_number_of_python",
        "numbers_inside_of_an_op",
        "kept_in_a_variable",
    ],
)
def test_what_numpy_computes_is_no_constant(code: UsersCode, name: str) -> None:
    text, proofs = code.explained(name)
    assert "k₁ (used at numbers_from_outside.py:" in text
    assert "outside of TensorFlow's ops" in text
    assert "NOT the whole derivative" in text
    assert "Differences of the function move what is computed outside" in text
    assert not any(p.holds for p in proofs if p.formula == "chain rule")
    # (What the formulas say is what the tape gives: it holds the same numbers fixed.)
    assert max(p.against_tape for p in proofs) < 1e-10 < min(p.tape_against_numeric for p in proofs)


@pytest.mark.parametrize("name", ["nothing_else", "with_its_own_gradient"])
def test_a_function_of_nothing_else_has_no_page(code: UsersCode, name: str) -> None:
    with pytest.raises(UsageError, match=r"outside of TensorFlow's ops.*nothing of that can be"):
        code.explained(name)


@pytest.mark.parametrize("name", ["whole_numbers", "a_branch"])
def test_what_small_moves_do_not_change_is_a_constant(code: UsersCode, name: str) -> None:
    text, proofs = code.explained(name)
    assert "TensorFlow's ops" not in text
    assert all(proof.holds for proof in proofs)


def test_what_is_no_array_of_numbers_is_no_constant(code: UsersCode) -> None:
    text, _ = code.explained("a_list", verify=False)
    assert "TensorListFromTensor gives what is no array of numbers" in text
    with pytest.raises(UsageError, match="no formula to evaluate"):
        code.explained("a_list")
