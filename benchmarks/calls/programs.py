"""What users write: control flow, gradients of their own, closures over variables."""

from __future__ import annotations

from typing import Any

from benchmarks.calls.declaration import BF16, C64, F16, F32, F64, closure, each, given, op
from benchmarks.subjects import Function, normal, uniform

CONTROL = "control flow"
CUSTOM = "custom gradients"
CLOSURE = "closures over variables"


def _condition(tf: Any) -> Function:
    return lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x), lambda: tf.sin(x))


def _power_iteration(tf: Any) -> Function:
    """A tf.while_loop that multiplies and normalises."""

    def iterate(matrix: Any) -> Any:
        def step(i: Any, v: Any) -> Any:
            w = tf.linalg.matvec(matrix, v)
            return i + 1, w / tf.norm(w)

        start = tf.ones([matrix.shape[0]], matrix.dtype)
        return tf.while_loop(lambda i, _: i < 5, step, [0, start])[1]

    return iterate


def _traced_newton(tf: Any) -> Function:
    """Heron's square root, as a tf.function with a loop of Python's."""

    @tf.function  # type: ignore[untyped-decorator]
    def root(x: Any) -> Any:
        y = x
        for _ in tf.range(5):
            y = (y + x / y) / 2
        return y

    traced: Function = root
    return traced


def _recurrence(tf: Any) -> Function:
    """A recurrent network by hand."""

    def run(xs: Any, w: Any, u: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            return tf.tanh(tf.linalg.matvec(w, state) + tf.linalg.matvec(u, x))

        return tf.scan(step, xs, initializer=tf.zeros([3], xs.dtype))

    return run


def _switch(tf: Any) -> Function:
    return lambda x: tf.switch_case(tf.constant(1), [lambda: x, lambda: tf.cos(x), lambda: x * x])


def _tensor_array(tf: Any) -> Function:
    def collect(x: Any) -> Any:
        array = tf.TensorArray(x.dtype, size=4)
        for i in range(4):
            array = array.write(i, x * float(i + 1) + tf.sin(x))
        return array.stack()

    return collect


def _swish(tf: Any) -> Function:
    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def swish(x: Any) -> Any:
        s = tf.sigmoid(x)
        return x * s, lambda upstream: upstream * (s + x * s * (1 - s))

    written: Function = swish
    return written


def _log1pexp(tf: Any) -> Function:
    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def log1pexp(x: Any) -> Any:
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    written: Function = log1pexp
    return written


def _safe_norm(tf: Any) -> Function:
    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def norm(x: Any) -> Any:
        y = tf.norm(x, axis=-1, keepdims=True)
        return y, lambda upstream: upstream * x / (y + 1e-20)

    written: Function = norm
    return written


def _clip(tf: Any) -> Function:
    """A clip whose gradient is written by hand."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def clip(x: Any) -> Any:
        inside = tf.cast(tf.abs(x) < 1, x.dtype)
        return tf.clip_by_value(x, -1, 1), lambda upstream: upstream * inside

    written: Function = clip
    return written


def _matrix_product(tf: Any) -> Function:
    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def product(x: Any, w: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return tf.matmul(upstream, w, transpose_b=True), tf.matmul(
                x, upstream, transpose_a=True
            )

        return tf.matmul(x, w), grad

    written: Function = product
    return written


CALLS = (
    op("cond of 3", CONTROL, F32, normal((3,)), _condition),
    op("while loop of 5 steps 3×3", CONTROL, F64, uniform(0.5, 1.5, (3, 3)), _power_iteration),
    op("while loop of 5 steps 2×2", CONTROL, F32, uniform(0.5, 1.5, (2, 2)), _power_iteration),
    op("loop in a tf.function of 4", CONTROL, F32, uniform(0.5, 3, (4,)), _traced_newton),
    op("scan 4×2 by 3×3 and 3×2", CONTROL, F32, normal((4, 2), (3, 3), (3, 2)), _recurrence),
    op(
        "foldl 1×2",
        CONTROL,
        F32,
        given([[1.0, 2.0]]),
        lambda tf: lambda x: tf.foldl(lambda a, b: tf.cos(a + b), tf.transpose(x)),
    ),
    op(
        "map_fn 5×3",
        CONTROL,
        F64,
        normal((5, 3)),
        lambda tf: lambda x: tf.map_fn(lambda row: tf.tanh(row) * tf.reduce_sum(row), x),
    ),
    op(
        "vectorized_map 4×3",
        CONTROL,
        F32,
        normal((4, 3)),
        lambda tf: lambda x: tf.vectorized_map(lambda row: row * tf.reduce_sum(row), x),
    ),
    op("switch_case of 5", CONTROL, C64, normal((5,)), _switch),
    op("TensorArray of 4 writes of 3", CONTROL, F64, normal((3,)), _tensor_array),
    op("swish of 5", CUSTOM, F32, normal((5,)), _swish),
    op("swish 4×5", CUSTOM, F16, normal((4, 5)), _swish),
    op("log1pexp of 1", CUSTOM, F32, given(2.0), _log1pexp),
    op("log1pexp of 8", CUSTOM, F64, normal((8,)), _log1pexp),
    op("norm by rows 3×4", CUSTOM, F32, normal((3, 4)), _safe_norm),
    op("clip of 6", CUSTOM, F32, given([-2.1, -0.6, 0.2, 0.7, 1.4, 2.2]), _clip),
    op("clip of 6", CUSTOM, BF16, given([-2.1, -0.6, 0.2, 0.7, 1.4, 2.2]), _clip),
    op("matrix product 10×12·12×10", CUSTOM, F32, normal((10, 12), (12, 10)), _matrix_product),
    closure(
        "affine 2×3 by 3×2",
        CLOSURE,
        F32,
        normal((2, 3)),
        normal((3, 2), (2,)),
        lambda tf: lambda x, w, b: tf.matmul(x, w) + b,
    ),
    closure(
        "scale and shift of 3",
        CLOSURE,
        F64,
        normal((3,)),
        each(given(1.5), given(-0.3)),
        lambda tf: lambda x, a, b: tf.tanh(a * x + b),
    ),
    closure(
        "a kernel rounded to float32 2×3 by 3×2",
        CLOSURE,
        F64,
        normal((2, 3)),
        normal((3, 2)),
        lambda tf: lambda x, k: tf.matmul(x, tf.cast(tf.cast(k, tf.float32), k.dtype)),
    ),
    closure(
        "two layers 4×8",
        CLOSURE,
        F64,
        normal((4, 8)),
        normal((8, 16), (16,), (16, 4)),
        lambda tf: lambda x, w, b, v: tf.matmul(tf.nn.relu(tf.matmul(x, w) + b), v),
    ),
    closure(
        "convolution 1×5×5×1 by 3×3×1×2",
        CLOSURE,
        F32,
        normal((1, 5, 5, 1)),
        normal((3, 3, 1, 2), (2,)),
        lambda tf: lambda x, w, b: tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + b),
    ),
    closure(
        "embedding 6×3 of 4 words",
        CLOSURE,
        F32,
        normal((3,)),
        normal((6, 3)),
        lambda tf: lambda x, table: tf.gather(table, [5, 0, 5, 2]) * x,
    ),
)
