"""Ops in which float64 wins over less."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from gradcheck.checker.subject.private_names import Private, private, replaced
from gradcheck.checker.subject.widened_ops import Seen, double_wins

X = np.array([0.3, 0.7, 1.1])


def test_float32_beside_float64_gives_way(tf: Any) -> None:
    x, w = tf.constant(X), tf.constant([0.1, 0.2, 0.5])
    with double_wins():
        product, joined = x * w, tf.concat([x, w], 0)
    assert product.dtype == joined.dtype == tf.float64
    assert np.array_equal(product, X * w.numpy().astype(np.float64))
    # Outside nothing has changed.
    try:
        tf.multiply(x, w)
    except tf.errors.InvalidArgumentError:
        return
    raise AssertionError("float64 and float32 do not mix")


def test_among_themselves_ops_of_less_stay_as_they_are(tf: Any) -> None:
    with double_wins():
        assert tf.exp(tf.constant([0.1])).dtype == tf.float32
        assert tf.cast(tf.constant([0.1]), tf.float16).dtype == tf.float16
        assert tf.cast(tf.constant([1]), tf.float32).dtype == tf.float32


def test_a_cast_of_float64_to_less_is_none(tf: Any) -> None:
    with double_wins():
        same = tf.cast(tf.constant(X), tf.float32)
        assert tf.cast(tf.constant(X), tf.int32).dtype == tf.int32
    assert np.array_equal(same, X)
    assert same.dtype == tf.float64


def test_the_way_back_keeps_its_digits(tf: Any) -> None:
    x, w = tf.constant(X), tf.constant([0.1, 0.2, 0.5])
    with double_wins(), tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(tf.cast(x, tf.float32)) * w)
    with double_wins():
        gradient = tape.gradient(y, x)
    assert np.allclose(gradient, np.cos(X) * w.numpy().astype(np.float64), rtol=1e-15, atol=0)


def test_in_a_graph_as_well(tf: Any) -> None:
    w = tf.constant([0.1, 0.2, 0.5])
    with double_wins():

        @tf.function(autograph=False)  # type: ignore[untyped-decorator]
        def function(x: Any) -> Any:
            return tf.cast(x, tf.float32) * w

        assert function(tf.constant(X)).dtype == tf.float64


def test_random_numbers_are_those_of_the_precision_they_are_drawn_in(tf: Any) -> None:
    def draw(dtype: Any) -> Any:
        return tf.random.stateless_normal([4], seed=[1, 2], dtype=dtype)

    with double_wins(draws_in=np.dtype(np.float32)):
        drawn = draw(tf.float64)
    assert drawn.dtype == tf.float64
    assert np.array_equal(drawn, draw(tf.float32).numpy().astype(np.float64))


def test_what_gave_way_is_told(tf: Any) -> None:
    seen, x = Seen(), tf.constant(X)
    with double_wins(seen):
        x * tf.constant([0.5, 1.0, 2.0])
        assert seen.lowest == np.dtype(np.float32)
        assert seen.rounding == 0, "these are exact"
        x * tf.constant([0.1, 1.0, 2.0])
        assert seen.rounding == 2.0**-23
        tf.cast(x, tf.bfloat16)
    assert seen.lowest == tf.bfloat16.as_numpy_dtype


def test_no_variable_is_put_into_words(tf: Any) -> None:
    x, w = tf.constant(X[np.newaxis]), tf.Variable([[0.1], [0.2], [0.5]])
    worded: list[Any] = []
    text = private(Private.TEXT)

    def counted(tensor: Any, is_repr: bool = False) -> Any:
        worded.append(tensor)
        return text(tensor, is_repr)

    with replaced(Private.TEXT, counted), double_wins():
        with suppress(tf.errors.InvalidArgumentError):  # (who reads it gives a tensor instead)
            tf.matmul(x, w)
        assert not worded
        # Whoever asks for one is told.
        assert "0.2" in repr(w)
    assert len(worded) == 1
