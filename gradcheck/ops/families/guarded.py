"""Arithmetic with a guard: safe at zero, or held between bounds."""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Step
from gradcheck.ops.families.elementwise import BROADCASTING, NONZERO, elementwise
from gradcheck.ops.families.functions import UNIT

OPS = (
    elementwise(
        "xlog1py",
        "tf.math.xlog1py",
        "z = x·log(1 + y), and 0 where x = 0",
        domains={"x": NONZERO, "y": UNIT},
        forward="x * log1p(y)",
        x="G * conj(log1p(y))",
        y="G * conj(x / (1 + y))",
        related=("xlogy", "log1p"),
        slope=(Step("By the product rule", "dout == log1p(y) * dx + x / (1 + y) * dy"),),
        undefined=("y must lie above -1. At x = 0 the value is set to 0, whatever y is.",),
        pitfalls=("Where x = 0 TensorFlow gives x no gradient, though log(1 + y) is its slope.",),
    ),
    elementwise(
        "xdivy",
        "tf.math.xdivy",
        "z = x/y, and 0 where x = 0",
        domains={"x": NONZERO, "y": NONZERO},
        forward="x / y",
        x="G / conj(y)",
        y="-G * conj(x / square(y))",
        related=("divide", "divide_no_nan"),
        slope=(Step("z·y = x; by the product rule", "dout * y + out * dy == dx"),),
        undefined=(
            "At x = 0 the value is set to 0, whatever y is.",
            "Elsewhere not defined at y = 0.",
        ),
        pitfalls=(
            "Where x = 0 TensorFlow gives x no gradient, though 1/y is its slope.",
            BROADCASTING,
        ),
    ),
    elementwise(
        "divide_no_nan",
        "tf.math.divide_no_nan",
        "z = x/y, and 0 where y = 0",
        domains={"y": NONZERO},
        forward="where(equal(y, 0), 0, x / y)",
        x="where(equal(y, 0), 0, G / conj(y))",
        y="where(equal(y, 0), 0, -G * conj(x / square(y)))",
        related=("divide", "xdivy"),
        slope=(Step("z·y = x; by the product rule", "dout * y + out * dy == dx"),),
        undefined=("At y = 0 the value is set to 0; it jumps there.",),
        pitfalls=(
            "Where y = 0 both gradients are 0, so nothing pulls y away from there.",
            BROADCASTING,
        ),
    ),
    elementwise(
        "multiply_no_nan",
        "tf.math.multiply_no_nan",
        "z = x·y, and 0 where y = 0",
        domains={"y": NONZERO},
        forward="where(equal(y, 0), 0, x * y)",
        x="G * conj(y)",
        y="G * conj(x)",
        slope=(Step("By the product rule", "dout == y * dx + x * dy"),),
        undefined=("Where y = 0 and x is infinite or NaN the value is set to 0; it jumps there.",),
        related=("multiply", "divide_no_nan"),
        pitfalls=(
            "The guard is for the value alone: at y = 0 the gradient of y is still G·x.",
            BROADCASTING,
        ),
    ),
    elementwise(
        "clip_by_value",
        "tf.clip_by_value",
        "y = x, held between two bounds",
        required=("clip_value_min", "clip_value_max"),
        example=Example({"t": (3,)}, {"clip_value_min": -0.5, "clip_value_max": 0.5}),
        domains={"t": Domain(sample=Sample("normal"), kinks=(-0.5, 0.5))},
        forward="minimum(maximum(t, clip_value_min), clip_value_max)",
        t="where(logical_or(t < clip_value_min, t > clip_value_max), 0, G)",
        related=("maximum", "minimum", "relu6"),
        slope=(
            Step(
                "Between the bounds y is t, outside it does not move: the slope is 1 or 0.",
                "dout == where(logical_or(t < clip_value_min, t > clip_value_max), 0, dt)",
            ),
        ),
        undefined=("At the two bounds there is a kink.",),
        pitfalls=("Outside the bounds the gradient is 0: a clipped value does not learn.",),
    ),
)
