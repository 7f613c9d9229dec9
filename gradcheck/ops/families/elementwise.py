"""Arithmetic on each element, and the factory that declares any elementwise op.

For complex inputs TensorFlow's gradient of a holomorphic f is G·conj(f′); hence the `conj`.
Inputs that were broadcast get the formula's value summed back to their shape by the checker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Derivation, Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import broadcast_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

NONZERO = Domain(sample=Sample("nonzero"), kinks=(0.0,))
BEND_AT_ZERO = Domain(kinks=(0.0,))

BROADCASTING = "An input that was broadcast gets the gradient summed over the repeated axes."


def elementwise(
    name: str,
    tf: str,
    summary: str,
    *aliases: str,
    forward: str,
    family: str = "elementwise",
    related: tuple[str, ...] = (),
    slope: Derivation = (),
    undefined: tuple[str, ...] = (),
    shape: Callable[[Call], Shape] = broadcast_call,
    args: dict[str, Any] | None = None,
    required: tuple[str, ...] = (),
    example: Example | None = None,
    domains: dict[str, Domain] | None = None,
    pitfalls: tuple[str, ...] = (),
    **formula: str,
) -> Op:
    """An op whose inputs are the keywords of `formula`, broadcast against each other."""
    domains = domains or {}
    return Op(
        name=name,
        tf=tf,
        family=family,
        summary=summary,
        inputs=tuple(Parameter(key, domains.get(key, ANYWHERE)) for key in formula),
        formula=formula,
        shape=shape,
        args=args or {},
        required=required,
        example=example,
        aliases=aliases,
        pitfalls=pitfalls,
        forward=forward,
        related=related,
        slope=slope,
        undefined=undefined,
    )


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
            BROADCASTING,
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
        pitfalls=("The second input gets the minus sign.", BROADCASTING),
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
            BROADCASTING,
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
            "At y = 0 the gradient is infinite or NaN; masking the output with tf.where does not "
            "help, the divisor itself must be masked.",
            BROADCASTING,
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
        related=("subtract", "square", "l2_loss"),
        pitfalls=("The factor 2 is easy to lose, and y gets the minus sign.", BROADCASTING),
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
            "There is no derivative at 0; TensorFlow gives 0.",
            "For a complex x the output is real and the gradient is G·x/|x|.",
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
            "Where x equals y TensorFlow gives the whole gradient to x; other frameworks split it.",
            BROADCASTING,
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
            "Where x equals y TensorFlow gives the whole gradient to x; other frameworks split it.",
            BROADCASTING,
        ),
    ),
)
