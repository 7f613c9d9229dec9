"""Powers, roots, exponentials and logarithms of each element."""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Step
from gradcheck.ops.domains import NONZERO, POSITIVE, UNIT
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import BROADCAST_IS_SUMMED

OPS = (
    elementwise(
        "square",
        "tf.square",
        "y = x²",
        "tf.math.square",
        forward="square(x)",
        x="2 * G * conj(x)",
        slope=(
            Step(
                "(x + dx)² = x² + 2·x·dx + dx², and dx² is too small to count.",
                "dout == 2 * x * dx",
            ),
        ),
        related=("sqrt", "pow", "squared_difference"),
        pitfalls=("The derivative is 2x, not 2 and not x.",),
    ),
    elementwise(
        "sqrt",
        "tf.sqrt",
        "y = √x",
        "tf.math.sqrt",
        forward="sqrt(x)",
        domains={"x": POSITIVE},
        x="G / (2 * conj(out))",
        slope=(Step("y² = x; differentiate both sides.", "2 * out * dout == dx"),),
        undefined=("Not defined below 0; at 0 it is defined, but its slope is infinite.",),
        related=("square", "rsqrt", "norm"),
        pitfalls=(
            Seen("At 0 the derivative is infinite.", {"x": [0.0]}, {"x": ["inf"]}),
            Seen(
                "0·inf further up the chain is NaN: a norm of a zero vector has this trap.",
                {"x": [0.0, 0.0]},
                {"x": ["nan", "nan"]},
                expr="tf.sqrt(tf.reduce_sum(tf.square(x)))",
            ),
            "The output is what the formula divides by, not the input.",
        ),
    ),
    elementwise(
        "rsqrt",
        "tf.math.rsqrt",
        "y = 1/√x",
        forward="1 / sqrt(x)",
        domains={"x": POSITIVE},
        x="-G * conj(out**3) / 2",
        slope=(
            Step(
                "y²·x = 1; by the product rule",
                "2 * out * dout * x + square(out) * dx == zeros_like(x)",
            ),
            Step("Divide by 2·x·y, where 1/x is y².", "dout == -out**3 / 2 * dx"),
        ),
        related=("sqrt", "reciprocal", "l2_normalize"),
        pitfalls=("The derivative is -y³/2: both the sign and the half are easy to lose.",),
    ),
    elementwise(
        "pow",
        "tf.pow",
        "z = xʸ",
        "tf.math.pow",
        forward="x**y",
        domains={"x": POSITIVE},
        x="G * conj(y * x**(y - 1))",
        y="G * conj(log(x) * out)",
        slope=(
            Step("xʸ is exp(y·log x).", "out == exp(y * log(x))"),
            Step(
                "The exponential changes by itself times the change of y·log x.",
                "dout == out * (dy * log(x) + y * dx / x)",
            ),
        ),
        undefined=(
            "Below x = 0 only whole exponents give real numbers, and the exponent has no gradient.",
        ),
        related=("square", "sqrt", "exp"),
        pitfalls=(
            "The exponent has a gradient too: xʸ·log x.",
            Seen(
                "For x < 0 the exponent's gradient is not real; TensorFlow gives 0 where x ≤ 0.",
                {"x": [-2.0, 0.0], "y": [2.0, 2.0]},
                {"y": [0.0, 0.0]},
            ),
            BROADCAST_IS_SUMMED,
        ),
    ),
    elementwise(
        "exp",
        "tf.exp",
        "y = eˣ",
        "tf.math.exp",
        forward="exp(x)",
        x="G * conj(out)",
        slope=(
            Step("e^(x + dx) = eˣ·e^dx, and e^dx is 1 + dx for a small dx.", "dout == out * dx"),
        ),
        related=("expm1", "log", "softmax"),
        pitfalls=("The derivative is the output itself: no second exponential is needed.",),
    ),
    elementwise(
        "expm1",
        "tf.math.expm1",
        "y = eˣ - 1",
        forward="expm1(x)",
        x="G * conj(exp(x))",
        slope=(Step("The constant −1 does not move; the rest is eˣ.", "dout == exp(x) * dx"),),
        related=("exp", "log1p"),
        pitfalls=("The derivative is eˣ, not the output, which is one less.",),
    ),
    elementwise(
        "log",
        "tf.math.log",
        "y = log x",
        forward="log(x)",
        domains={"x": POSITIVE},
        x="G / conj(x)",
        slope=(Step("eʸ = x; differentiate both sides.", "exp(out) * dout == dx"),),
        related=("exp", "log1p", "xlogy"),
        pitfalls=(
            Seen(
                "At 0 the gradient is infinite; log(x + ε) moves the trouble and changes the "
                "value.",
                {"x": [0.0]},
                {"x": ["inf"]},
            ),
            Seen(
                "Masking the output with tf.where leaves NaN in the gradient: mask the input.",
                {"x": [0.0]},
                {"x": ["nan"]},
                expr="tf.where(x > 0.0, tf.math.log(x), 0.0)",
            ),
        ),
    ),
    elementwise(
        "log1p",
        "tf.math.log1p",
        "y = log(1 + x)",
        forward="log1p(x)",
        domains={"x": Domain(low=-1.0, sample=Sample("unit"))},
        x="G / (1 + conj(x))",
        slope=(Step("eʸ = 1 + x; differentiate both sides.", "exp(out) * dout == dx"),),
        related=("log", "expm1", "softplus"),
        pitfalls=("The edge of the domain is -1, not 0.",),
    ),
    elementwise(
        "xlogy",
        "tf.math.xlogy",
        "z = x·log y, and 0 where x = 0",
        forward="x * log(y)",
        domains={"x": NONZERO, "y": POSITIVE},
        x="G * conj(log(y))",
        y="G * conj(x / y)",
        slope=(Step("By the product rule", "dout == log(y) * dx + x / y * dy"),),
        undefined=("y must lie above 0. At x = 0 the value is set to 0, whatever y is.",),
        complex_finding="TensorFlow does not conjugate the factors log y and x/y",
        related=("xlog1py", "log", "xdivy"),
        pitfalls=(
            Seen(
                "Where x = 0 TensorFlow gives x the gradient 0, though its slope is log y.",
                {"x": [0.0], "y": [2.0]},
                {"x": [0.0]},
            ),
        ),
    ),
    elementwise(
        "xlog1py",
        "tf.math.xlog1py",
        "z = x·log(1 + y), and 0 where x = 0",
        domains={"x": NONZERO, "y": UNIT},
        forward="x * log1p(y)",
        x="G * conj(log1p(y))",
        y="G * conj(x / (1 + y))",
        complex_finding="TensorFlow does not conjugate the factors log(1 + y) and x/(1 + y)",
        related=("xlogy", "log1p"),
        slope=(Step("By the product rule", "dout == log1p(y) * dx + x / (1 + y) * dy"),),
        undefined=("y must lie above -1. At x = 0 the value is set to 0, whatever y is.",),
        pitfalls=(
            Seen(
                "Where x = 0 TensorFlow gives x the gradient 0, though its slope is log(1 + y).",
                {"x": [0.0], "y": [2.0]},
                {"x": [0.0]},
            ),
        ),
    ),
)
