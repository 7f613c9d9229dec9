"""Trigonometric and hyperbolic functions of each element, and their inverses."""

from __future__ import annotations

import math

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Step
from gradcheck.ops.domains import NONZERO, UNIT
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import BROADCAST_IS_SUMMED

_ABOVE_ONE = Domain(low=1.0, sample=Sample("above_one"))
# Real inputs could be anything, but complex ones must not come near the branch points ±i.
_NEAR_ZERO = Domain(sample=Sample("unit"))
_ONE_PERIOD = Domain(low=-math.pi / 2, high=math.pi / 2, sample=Sample("unit"))

_TRIGONOMETRY = (
    elementwise(
        "sin",
        "tf.sin",
        "y = sin x",
        "tf.math.sin",
        forward="sin(x)",
        x="G * conj(cos(x))",
        slope=(
            Step(
                "sin(x + dx) = sin x·cos dx + cos x·sin dx; for a small dx cos dx is 1 and sin "
                "dx is dx.",
                "dout == cos(x) * dx",
            ),
        ),
        related=("cos", "asin"),
        pitfalls=("No minus sign here: that one belongs to cos.",),
    ),
    elementwise(
        "cos",
        "tf.cos",
        "y = cos x",
        "tf.math.cos",
        forward="cos(x)",
        x="-G * conj(sin(x))",
        slope=(
            Step(
                "cos(x + dx) = cos x·cos dx − sin x·sin dx; for a small dx cos dx is 1 and sin "
                "dx is dx.",
                "dout == -sin(x) * dx",
            ),
        ),
        related=("sin", "acos"),
        pitfalls=("The derivative is -sin x: the minus sign is easy to lose.",),
    ),
    elementwise(
        "tan",
        "tf.tan",
        "y = tan x",
        "tf.math.tan",
        forward="tan(x)",
        domains={"x": _ONE_PERIOD},
        x="G * conj(1 + out**2)",
        slope=(
            Step(
                "y = sin x/cos x; by the quotient rule the slope is (cos² x + sin² x)/cos² x, "
                "and the sum above is 1.",
                "dout == dx / square(cos(x))",
            ),
            Step(
                "Divided out, the two terms are 1 and y².", "1 / square(cos(x)) == 1 + square(out)"
            ),
        ),
        undefined=("Not defined at the odd multiples of π/2.",),
        related=("atan", "sin", "tanh"),
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
        slope=(
            Step("sin y = x; differentiate both sides.", "cos(out) * dout == dx"),
            Step(
                "cos y is positive here, and cos² y = 1 − sin² y.",
                "cos(out) == sqrt(1 - square(x))",
            ),
        ),
        related=("acos", "sin"),
        pitfalls=(
            Seen("At ±1 the derivative is infinite.", {"x": [-1.0, 1.0]}, {"x": ["inf", "inf"]}),
        ),
    ),
    elementwise(
        "acos",
        "tf.acos",
        "y = arccos x",
        "tf.math.acos",
        forward="arccos(x)",
        domains={"x": UNIT},
        x="-G / conj(sqrt(1 - x**2))",
        slope=(
            Step("cos y = x; differentiate both sides.", "-sin(out) * dout == dx"),
            Step(
                "sin y is positive here, and sin² y = 1 − cos² y.",
                "sin(out) == sqrt(1 - square(x))",
            ),
        ),
        related=("asin", "cos"),
        pitfalls=(
            Seen(
                "At ±1 the derivative is infinite: so it is for angles of parallel vectors.",
                {"x": [-1.0, 1.0]},
                {"x": ["-inf", "-inf"]},
            ),
        ),
    ),
    elementwise(
        "atan",
        "tf.atan",
        "y = arctan x",
        "tf.math.atan",
        forward="arctan(x)",
        domains={"x": _NEAR_ZERO},
        x="G / conj(1 + x**2)",
        slope=(
            Step(
                "tan y = x; differentiate both sides, with tan′ = 1 + tan².",
                "(1 + square(tan(out))) * dout == dx",
            ),
        ),
        related=("atan2", "tan"),
        pitfalls=("1 + x² below, with a plus: the minus belongs to atanh.",),
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
        slope=(
            Step(
                "tan z = y/x; differentiate both sides.",
                "(1 + square(y / x)) * dout == dy / x - y / square(x) * dx",
            ),
            Step("Multiply by x².", "(square(x) + square(y)) * dout == x * dy - y * dx"),
        ),
        undefined=("Not defined at x = y = 0, and it jumps across the negative x axis.",),
        related=("atan",),
        pitfalls=(
            "y comes first, and it is x that gets the minus sign.",
            Seen(
                "At the origin the gradient is NaN.",
                {"y": [0.0], "x": [0.0]},
                {"y": ["nan"], "x": ["nan"]},
            ),
            BROADCAST_IS_SUMMED,
        ),
    ),
)

_HYPERBOLIC = (
    elementwise(
        "sinh",
        "tf.sinh",
        "y = sinh x",
        "tf.math.sinh",
        forward="sinh(x)",
        x="G * conj(cosh(x))",
        slope=(
            Step(
                "Written with exponentials, each of which is its own slope up to the sign:",
                "out == (exp(x) - exp(-x)) / 2",
            ),
            Step("so", "dout == (exp(x) + exp(-x)) / 2 * dx"),
        ),
        related=("cosh", "asinh"),
        pitfalls=("cosh x, not the output: the slope is never below 1.",),
    ),
    elementwise(
        "cosh",
        "tf.cosh",
        "y = cosh x",
        "tf.math.cosh",
        forward="cosh(x)",
        x="G * conj(sinh(x))",
        slope=(
            Step(
                "Written with exponentials, each of which is its own slope up to the sign:",
                "out == (exp(x) + exp(-x)) / 2",
            ),
            Step("so", "dout == (exp(x) - exp(-x)) / 2 * dx"),
        ),
        related=("sinh", "acosh"),
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
        slope=(
            Step(
                "y = sinh x/cosh x; by the quotient rule the slope is (cosh² x − sinh² x)/cosh² "
                "x, and the difference above is 1.",
                "dout == dx / square(cosh(x))",
            ),
            Step(
                "Divided out, the two terms are 1 and y².", "1 / square(cosh(x)) == 1 - square(out)"
            ),
        ),
        related=("sigmoid", "atanh", "tan"),
        pitfalls=(
            "1 - y², with the output squared, not the input.",
            Seen(
                "For large |x| the gradient is 0 in floating point: a saturated unit does not "
                "learn.",
                {"x": [40.0]},
                {"x": [0.0]},
            ),
        ),
    ),
    elementwise(
        "asinh",
        "tf.asinh",
        "y = arsinh x",
        "tf.math.asinh",
        forward="arcsinh(x)",
        domains={"x": _NEAR_ZERO},
        x="G / conj(cosh(out))",
        slope=(Step("sinh y = x; differentiate both sides.", "cosh(out) * dout == dx"),),
        related=("sinh", "acosh"),
        pitfalls=("√(1 + x²) below, with a plus: it is cosh y. The minus belongs to acosh.",),
    ),
    elementwise(
        "acosh",
        "tf.acosh",
        "y = arcosh x",
        "tf.math.acosh",
        forward="arccosh(x)",
        domains={"x": _ABOVE_ONE},
        x="G / conj(sinh(out))",
        slope=(Step("cosh y = x; differentiate both sides.", "sinh(out) * dout == dx"),),
        related=("cosh", "asinh"),
        pitfalls=(
            Seen(
                "At 1, the edge of the domain, the derivative is infinite.",
                {"x": [1.0]},
                {"x": ["inf"]},
            ),
        ),
    ),
    elementwise(
        "atanh",
        "tf.atanh",
        "y = artanh x",
        "tf.math.atanh",
        forward="arctanh(x)",
        domains={"x": UNIT},
        x="G / conj(1 - x**2)",
        slope=(
            Step(
                "tanh y = x; differentiate both sides, with tanh′ = 1 − tanh².",
                "(1 - square(tanh(out))) * dout == dx",
            ),
        ),
        related=("tanh", "log1p"),
        pitfalls=(
            Seen("At ±1 the derivative is infinite.", {"x": [-1.0, 1.0]}, {"x": ["inf", "inf"]}),
        ),
    ),
)

OPS = (*_TRIGONOMETRY, *_HYPERBOLIC)
