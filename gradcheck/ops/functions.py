"""Functions of each element: powers, exponentials, logarithms, trigonometry and their inverses."""

from __future__ import annotations

import math

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain
from gradcheck.ops.elementwise import BROADCASTING, NONZERO, elementwise

POSITIVE = Domain(low=0.0, sample=Sample("positive"))
UNIT = Domain(low=-1.0, high=1.0, sample=Sample("unit"))
ABOVE_ONE = Domain(low=1.0, sample=Sample("above_one"))
# Real inputs could be anything, but complex ones must not come near the branch points ±i.
NEAR_ZERO = Domain(sample=Sample("unit"))
ONE_PERIOD = Domain(low=-math.pi / 2, high=math.pi / 2, sample=Sample("unit"))

_POWERS = (
    elementwise(
        "square",
        "tf.square",
        "y = x²",
        "tf.math.square",
        forward="square(x)",
        x="2 * G * conj(x)",
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
        pitfalls=(
            "At 0 the derivative is infinite, and 0·inf further up the chain is NaN: a norm of a "
            "zero vector has this trap.",
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
        pitfalls=(
            "The exponent has a gradient too: xʸ·log x.",
            "For x < 0 the exponent's gradient is not real; TensorFlow gives 0 where x ≤ 0.",
            BROADCASTING,
        ),
    ),
)

_EXPONENTIALS = (
    elementwise(
        "exp",
        "tf.exp",
        "y = eˣ",
        "tf.math.exp",
        forward="exp(x)",
        x="G * conj(out)",
        pitfalls=("The derivative is the output itself: no second exponential is needed.",),
    ),
    elementwise(
        "expm1",
        "tf.math.expm1",
        "y = eˣ - 1",
        forward="expm1(x)",
        x="G * conj(exp(x))",
        pitfalls=("The derivative is eˣ, not the output, which is one less.",),
    ),
    elementwise(
        "log",
        "tf.math.log",
        "y = log x",
        forward="log(x)",
        domains={"x": POSITIVE},
        x="G / conj(x)",
        pitfalls=(
            "At 0 the gradient is infinite; log(x + ε) moves the trouble and changes the value.",
            "Masking the output with tf.where leaves NaN in the gradient: mask the input.",
        ),
    ),
    elementwise(
        "log1p",
        "tf.math.log1p",
        "y = log(1 + x)",
        forward="log1p(x)",
        domains={"x": Domain(low=-1.0, sample=Sample("unit"))},
        x="G / (1 + conj(x))",
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
        pitfalls=("Where x = 0 TensorFlow gives x no gradient, though log y is its slope.",),
    ),
    elementwise(
        "erf",
        "tf.math.erf",
        "y = erf x",
        forward="erf(x)",
        x="2 / sqrt(pi) * G * exp(-square(x))",
        pitfalls=("The factor 2/√π belongs to erf; without it one has the plain Gaussian.",),
    ),
    elementwise(
        "erfc",
        "tf.math.erfc",
        "y = 1 - erf x",
        forward="erfc(x)",
        x="-2 / sqrt(pi) * G * exp(-square(x))",
    ),
    elementwise(
        "erfinv",
        "tf.math.erfinv",
        "y = erf⁻¹(x)",
        forward="erfinv(x)",
        domains={"x": UNIT},
        x="sqrt(pi) / 2 * G * exp(square(out))",
    ),
)

_TRIGONOMETRY = (
    elementwise(
        "sin",
        "tf.sin",
        "y = sin x",
        "tf.math.sin",
        forward="sin(x)",
        x="G * conj(cos(x))",
        pitfalls=("No minus sign here: that one belongs to cos.",),
    ),
    elementwise(
        "cos",
        "tf.cos",
        "y = cos x",
        "tf.math.cos",
        forward="cos(x)",
        x="-G * conj(sin(x))",
        pitfalls=("The derivative is -sin x: the minus sign is easy to lose.",),
    ),
    elementwise(
        "tan",
        "tf.tan",
        "y = tan x",
        "tf.math.tan",
        forward="tan(x)",
        domains={"x": ONE_PERIOD},
        x="G * conj(1 + out**2)",
        pitfalls=("1 + y² with a plus; the minus belongs to tanh.",),
    ),
    elementwise(
        "asin",
        "tf.asin",
        "y = arcsin x",
        "tf.math.asin",
        forward="arcsin(x)",
        domains={"x": UNIT},
        x="G / conj(sqrt(1 - x**2))",
        pitfalls=("At ±1 the derivative is infinite.",),
    ),
    elementwise(
        "acos",
        "tf.acos",
        "y = arccos x",
        "tf.math.acos",
        forward="arccos(x)",
        domains={"x": UNIT},
        x="-G / conj(sqrt(1 - x**2))",
        pitfalls=("At ±1 the derivative is infinite: angles of parallel vectors give NaN.",),
    ),
    elementwise(
        "atan",
        "tf.atan",
        "y = arctan x",
        "tf.math.atan",
        forward="arctan(x)",
        domains={"x": NEAR_ZERO},
        x="G / conj(1 + x**2)",
    ),
    elementwise(
        "atan2",
        "tf.atan2",
        "z = the angle of the point (x, y)",
        "tf.math.atan2",
        forward="arctan2(y, x)",
        domains={"y": NONZERO, "x": NONZERO},
        y="G * x / (x**2 + y**2)",
        x="-G * y / (x**2 + y**2)",
        pitfalls=(
            "y comes first, and it is x that gets the minus sign.",
            "At the origin the gradient is NaN.",
            BROADCASTING,
        ),
    ),
)

_HYPERBOLIC = (
    elementwise(
        "sinh", "tf.sinh", "y = sinh x", "tf.math.sinh", forward="sinh(x)", x="G * conj(cosh(x))"
    ),
    elementwise(
        "cosh",
        "tf.cosh",
        "y = cosh x",
        "tf.math.cosh",
        forward="cosh(x)",
        x="G * conj(sinh(x))",
        pitfalls=("sinh x without a minus sign, unlike cos.",),
    ),
    elementwise(
        "tanh",
        "tf.tanh",
        "y = tanh x",
        "tf.math.tanh",
        "tf.nn.tanh",
        forward="tanh(x)",
        x="G * conj(1 - out**2)",
        pitfalls=(
            "1 - y², with the output squared, not the input.",
            "For large |x| the gradient underflows to 0: a saturated unit does not learn.",
        ),
    ),
    elementwise(
        "asinh",
        "tf.asinh",
        "y = arsinh x",
        "tf.math.asinh",
        forward="arcsinh(x)",
        domains={"x": NEAR_ZERO},
        x="G / conj(cosh(out))",
    ),
    elementwise(
        "acosh",
        "tf.acosh",
        "y = arcosh x",
        "tf.math.acosh",
        forward="arccosh(x)",
        domains={"x": ABOVE_ONE},
        x="G / conj(sinh(out))",
        pitfalls=("At 1, the edge of the domain, the derivative is infinite.",),
    ),
    elementwise(
        "atanh",
        "tf.atanh",
        "y = artanh x",
        "tf.math.atanh",
        forward="arctanh(x)",
        domains={"x": UNIT},
        x="G / conj(1 - x**2)",
        pitfalls=("At ±1 the derivative is infinite.",),
    ),
)

OPS = (*_POWERS, *_EXPONENTIALS, *_TRIGONOMETRY, *_HYPERBOLIC)
