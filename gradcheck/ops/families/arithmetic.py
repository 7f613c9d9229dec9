"""Arithmetic on each element: sums, products, quotients, extremes, and those that are safe at 0."""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Step
from gradcheck.ops.domains import BEND_AT_ZERO, NONZERO
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import BROADCAST_IS_SUMMED

OPS = (
    elementwise(
        "add",
        "tf.add",
        "z = x + y",
        "tf.math.add",
        forward="x + y",
        x="G",
        y="G",
        related=("subtract", "bias_add", "reduce_sum"),
        pitfalls=(
            BROADCAST_IS_SUMMED,
            "The same tensor on both sides gets both contributions: d(x + x) is 2G.",
        ),
    ),
    elementwise(
        "subtract",
        "tf.subtract",
        "z = x - y",
        "tf.math.subtract",
        forward="x - y",
        x="G",
        y="-G",
        related=("add", "negative", "squared_difference"),
        pitfalls=("The second input gets the minus sign.", BROADCAST_IS_SUMMED),
    ),
    elementwise(
        "multiply",
        "tf.multiply",
        "z = x·y",
        "tf.math.multiply",
        forward="x * y",
        x="G * conj(y)",
        y="G * conj(x)",
        slope=(Step("By the product rule", "dout == y * dx + x * dy"),),
        related=("divide", "square", "matmul"),
        pitfalls=(
            "Each input gets the other one as its factor, not itself.",
            "Complex factors are conjugated.",
            BROADCAST_IS_SUMMED,
        ),
    ),
    elementwise(
        "divide",
        "tf.divide",
        "z = x/y",
        "tf.math.divide",
        forward="x / y",
        domains={"y": NONZERO},
        x="G / conj(y)",
        y="-G * conj(x / y**2)",
        slope=(
            Step("z·y = x; by the product rule", "dout * y + out * dy == dx"),
            Step("Solve for dz, with z = x/y.", "dout == dx / y - x / square(y) * dy"),
        ),
        undefined=("Not defined at y = 0.",),
        related=("multiply", "reciprocal", "divide_no_nan"),
        pitfalls=(
            "The divisor gets a minus sign and is squared: -x/y².",
            Seen(
                "At y = 0 both gradients are infinite, unless x is 0 too.",
                {"x": [1.0], "y": [0.0]},
                {"x": ["inf"], "y": ["-inf"]},
            ),
            Seen(
                "Masking the output with tf.where leaves NaN in the gradient: mask the divisor "
                "itself.",
                {"x": [1.0], "y": [0.0]},
                {"x": ["nan"], "y": ["nan"]},
                expr="tf.where(y > 0.0, x / y, 0.0)",
            ),
            BROADCAST_IS_SUMMED,
        ),
    ),
    elementwise(
        "squared_difference",
        "tf.math.squared_difference",
        "z = |x - y|²",
        forward="square(abs(x - y))",
        x="2 * real(G) * (x - y)",
        y="-2 * real(G) * (x - y)",
        slope=(
            Step(
                "With d = x - y the square changes by 2·d times the change of d.",
                "dout == 2 * (x - y) * (dx - dy)",
            ),
        ),
        complex_finding=(
            "TensorFlow uses all of G, though the output is real and only its real part counts"
        ),
        related=("subtract", "square", "l2_loss"),
        pitfalls=("The factor 2 is easy to lose, and y gets the minus sign.", BROADCAST_IS_SUMMED),
    ),
    elementwise(
        "negative",
        "tf.negative",
        "y = -x",
        "tf.math.negative",
        forward="-x",
        x="-G",
        related=("subtract",),
        pitfalls=("The gradient is -G whatever x is: the sign acts on G, not on x.",),
    ),
    elementwise(
        "reciprocal",
        "tf.math.reciprocal",
        "y = 1/x",
        forward="1 / x",
        domains={"x": NONZERO},
        x="-G * conj(out**2)",
        slope=(
            Step("x·y = 1; by the product rule", "dx * out + x * dout == zeros_like(x)"),
            Step("Divide by x, which is 1/y.", "dout == -square(out) * dx"),
        ),
        undefined=("Not defined at x = 0.",),
        related=("divide", "rsqrt", "pow"),
        pitfalls=("The derivative is -1/x²: the sign is as easy to lose as the square.",),
    ),
    elementwise(
        "abs",
        "tf.abs",
        "y = |x|",
        "tf.math.abs",
        forward="abs(x)",
        domains={"x": BEND_AT_ZERO},
        x="G * sign(x)",
        slope=(
            Step("Above 0 y is x, below it is −x: the slope is the sign.", "dout == sign(x) * dx"),
        ),
        related=("maximum", "relu", "squared_difference"),
        pitfalls=(
            Seen("There is no derivative at 0; TensorFlow gives 0.", {"x": [0.0]}, {"x": [0.0]}),
            Seen(
                "For a complex x the output is real and the gradient is G·x/|x|.",
                {"x": [3 + 4j]},
                {"x": [0.6 + 0.8j]},
            ),
        ),
    ),
    elementwise(
        "maximum",
        "tf.maximum",
        "z = max(x, y)",
        "tf.math.maximum",
        forward="maximum(x, y)",
        x="where(x >= y, G, 0)",
        y="where(x >= y, 0, G)",
        slope=(
            Step(
                "Where x is the larger z is x, elsewhere it is y: the slope is 1 for the one "
                "and 0 for the other.",
                "dout == where(x >= y, dx, dy)",
            ),
        ),
        undefined=("Where x = y there is a kink.",),
        related=("minimum", "relu", "reduce_max"),
        pitfalls=(
            Seen(
                "Where x equals y TensorFlow gives the whole gradient to x.",
                {"x": [1.0], "y": [1.0]},
                {"x": [1.0], "y": [0.0]},
            ),
            BROADCAST_IS_SUMMED,
        ),
    ),
    elementwise(
        "minimum",
        "tf.minimum",
        "z = min(x, y)",
        "tf.math.minimum",
        forward="minimum(x, y)",
        x="where(x <= y, G, 0)",
        y="where(x <= y, 0, G)",
        slope=(
            Step(
                "Where x is the smaller z is x, elsewhere it is y: the slope is 1 for the one "
                "and 0 for the other.",
                "dout == where(x <= y, dx, dy)",
            ),
        ),
        undefined=("Where x = y there is a kink.",),
        related=("maximum", "relu6", "reduce_min"),
        pitfalls=(
            Seen(
                "Where x equals y TensorFlow gives the whole gradient to x.",
                {"x": [1.0], "y": [1.0]},
                {"x": [1.0], "y": [0.0]},
            ),
            BROADCAST_IS_SUMMED,
        ),
    ),
    elementwise(
        "xdivy",
        "tf.math.xdivy",
        "z = x/y, and 0 where x = 0",
        domains={"x": NONZERO, "y": NONZERO},
        forward="x / y",
        x="G / conj(y)",
        y="-G * conj(x / square(y))",
        complex_finding="TensorFlow does not conjugate the factors 1/y and -x/y²",
        related=("divide", "divide_no_nan"),
        slope=(Step("z·y = x; by the product rule", "dout * y + out * dy == dx"),),
        undefined=(
            "At x = 0 the value is set to 0, whatever y is.",
            "Elsewhere not defined at y = 0.",
        ),
        pitfalls=(
            Seen(
                "Where x = 0 TensorFlow gives x the gradient 0, though its slope is 1/y.",
                {"x": [0.0], "y": [2.0]},
                {"x": [0.0]},
            ),
            BROADCAST_IS_SUMMED,
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
            Seen(
                "Where y = 0 both gradients are 0, so nothing pulls y away from there.",
                {"x": [1.0], "y": [0.0]},
                {"x": [0.0], "y": [0.0]},
            ),
            BROADCAST_IS_SUMMED,
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
        undefined=(
            Seen(
                "Where y = 0 and x is infinite or NaN the value is set to 0; it jumps there.",
                {"x": ["inf", "nan"], "y": [0.0, 0.0]},
                out=[0.0, 0.0],
            ),
        ),
        complex_finding="TensorFlow does not conjugate the factors y and x",
        related=("multiply", "divide_no_nan"),
        pitfalls=(
            Seen(
                "The guard is for the value alone: at y = 0 the gradient of y is still G·x.",
                {"x": [2.0], "y": [0.0]},
                {"y": [2.0]},
            ),
            BROADCAST_IS_SUMMED,
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
