"""Lambdas and keyword arguments in expressions: what they mean, and what they do not reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.subject.build_function import tensorflow_name
from gradcheck.spec.expression.control_flow import MAX_ITERATIONS
from gradcheck.spec.expression.expression import parse_tf
from tests.spec.expression.refusals import is_refused_at

X = np.array([1.0, -2.0, 3.0])

MEANT = {
    "tf.cond(x[0] > 0, lambda: 2.0 * x, lambda: -x)": 2 * X,
    "tf.case([(x[0] > 5, lambda: x)], default=lambda: 3.0 * x)": 3 * X,
    "tf.switch_case(tf.constant(1), [lambda: x, lambda: x + 1.0])": X + 1,
    "tf.map_fn(lambda row: row * row, x)": X**2,
    "tf.map_fn(tf.square, x)": X**2,
    "tf.vectorized_map(lambda row: row * x[0], x)": X,
    "tf.scan(lambda total, row: total + row, x)": np.cumsum(X),
    "tf.foldl(lambda total, row: total * row, x)": np.prod(X),
    "tf.foldr(lambda total, row: total - row, x)": 3.0 + 2.0 - 1.0,
    "tf.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, 2.0 * y], [0, x], "
    "maximum_iterations=5)[1]": 8 * X,
    "tf.nest.map_structure(lambda part: part + 1.0, [x, x])[1]": X + 1,
    "tf.sparse.to_dense(tf.sparse.map_values(tf.square, tf.sparse.from_dense(x)))": X**2,
    "keras.ops.cond(x[0] > 0, lambda: x, lambda: -x)": X,
    "keras.ops.fori_loop(0, 3, lambda i, y: y * 2.0, x)": 8 * X,
    "keras.ops.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * y), (0, x), "
    "maximum_iterations=10)[1]": X**4,
    "keras.ops.map(lambda row: row * row, x)": X**2,
    "keras.ops.scan(lambda carry, row: (carry + row, carry), x[0] * 0.0, x)[0]": X.sum(),
    "keras.ops.associative_scan(lambda a, b: a + b, x)": np.cumsum(X),
    "keras.ops.vectorized_map(lambda row: row + 1.0, x)": X + 1,
    "keras.ops.switch(0, [lambda y: y + 1.0, lambda y: y], x)": X + 1,
    "tf.keras.ops.cond(x[0] < 0, lambda: x, lambda: -x)": -X,
    "tf.experimental.numpy.cumsum(x)": np.cumsum(X),
    "keras.activations.relu(x) + keras.ops.relu(-x)": abs(X),
}


@pytest.mark.parametrize("text", MEANT)
def test_control_flow_means_what_tensorflow_says(text: str) -> None:
    import tensorflow as tf

    expression = parse_tf(text, ["x"])

    def run(x: Any) -> Any:
        return expression.evaluate({"x": x}, tensorflow_name)

    np.testing.assert_allclose(run(tf.constant(X)), MEANT[text])
    # The same in a graph, where loops are not Python's.
    np.testing.assert_allclose(tf.function(run, autograph=False)(tf.constant(X)), MEANT[text])


def test_a_lambda_sees_the_inputs_and_its_own_parameters() -> None:
    text = "tf.map_fn(lambda s: tf.map_fn(lambda row: row * s * t, target), s)"
    parse_tf(text, ["s", "t", "target"])
    is_refused_at("tf.map_fn(lambda row: row, s) + row", "row", "not an input")


@pytest.mark.parametrize(
    ("text", "marked", "words"),
    [
        # Only where a function is wanted, and of the plain kind.
        ("lambda: s", "lambda: s", "stands only where a function is wanted"),
        ("tf.square(lambda: s)", "lambda: s", "stands only where a function is wanted"),
        ("(lambda x: x)(s)", "lambda x: x", "only functions named"),
        ("tf.map_fn(lambda x=s: x, s)", "lambda x=s: x", "plain names"),
        ("tf.map_fn(lambda *x: x, s)", "lambda *x: x", "plain names"),
        ("tf.map_fn(lambda tf: tf, s)", "tf", "cannot be the name of a parameter"),
        ("tf.map_fn(lambda x: lambda y: x, s)", "lambda y: x", "stands only where"),
        ("tf.map_fn(tf.map_fn, s)", "tf.map_fn", "a function is wanted"),
        ("tf.map_fn(tf.py_function, s)", "tf.py_function", "a function is wanted"),
        ("tf.map_fn('os.system', s)", "'os.system'", "a function is wanted"),
        ("tf.map_fn(s.__class__, s)", "s.__class__", "a function is wanted"),
        # The body is held to the same rules.
        ("tf.map_fn(lambda x: x.numpy(), s)", "x.numpy", "`.numpy` of a value"),
        ("tf.map_fn(lambda x: x.__class__, s)", "x.__class__", "`.__class__` of a value"),
        ("tf.map_fn(lambda x: __import__('os'), s)", "__import__", "not a function known here"),
        ("tf.map_fn(lambda x: x(s), s)", "x", "cannot be called"),
        ("tf.map_fn(lambda x: tf.io.write_file('a', x), s)", "tf.io.write_file", "not on the list"),
        ("tf.map_fn(lambda x: (y := x), s)", "y := x", "`:=` is not allowed"),
        # Loops are bounded, by what is written.
        ("tf.while_loop(lambda i: i < 3, lambda i: i + 1, [s])", "", "`maximum_iterations`"),
        (
            "tf.while_loop(lambda i: s, lambda i: i, [s], maximum_iterations=t)",
            "t",
            "needs `maximum_iterations` written out",
        ),
        (
            f"tf.while_loop(lambda i: s, lambda i: i, [s], maximum_iterations={MAX_ITERATIONS}1)",
            "10001",
            "too long: at most 1,000",
        ),
        (
            "keras.ops.fori_loop(-1_000_000, 2, lambda i, y: y, s)",
            "2",
            "a loop of 1,000,002 turns is too long",
        ),
        ("keras.ops.fori_loop(t, 2, lambda i, y: y, s)", "t", "needs `lower` written out"),
        (
            "keras.ops.fori_loop(0, 100, lambda i, y: keras.ops.fori_loop(0, 11, "
            "lambda j, z: z, y), s)",
            "11",
            "a loop of 11 turns inside of 100",
        ),
        # What is refused says why.
        ("tf.TensorArray(s)", "tf.TensorArray", "an object with methods"),
        ("tf.recompute_grad(s)", "tf.recompute_grad", "answers a Python function"),
        ("keras.ops.custom_gradient(s)", "keras.ops.custom_gradient", "Python function"),
        ("keras.activations.get('relu')", "keras.activations.get", "an object of a text"),
        ("keras.layers.Dense(3)(s)", "keras.layers.Dense(3)", "only functions named"),
        ("keras.layers.Dense(3)", "keras.layers.Dense", "layer: keras.layers.Dense"),
        ("keras.saving.load_model('a')", "keras.saving.load_model", "not on the list of pure"),
        ("keras", "keras", "`keras` alone"),
        ("keras.ops", "keras.ops", "is a module"),
        # Arguments are those that the function has.
        ("tf.reduce_sum(s, axs=1)", "1", "`tf.reduce_sum` has no arg `axs`"),
        ("tf.reduce_sum(s, axs=1)", "1", "did you mean `axis`?"),
        ("tf.matmul(s)", "tf.matmul(s)", "`tf.matmul` needs `b`"),
        ("tf.square(s, 'n', t)", "", "takes 2 by position, and here are 3"),
        ("tf.square(s, x=t)", "t", "gets `x` twice"),
        ("tf.raw_ops.Square(s)", "", "takes 0 by position"),
    ],
)
def test_what_is_refused(text: str, marked: str, words: str) -> None:
    is_refused_at(text, marked, words)
