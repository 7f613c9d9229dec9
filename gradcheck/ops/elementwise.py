"""Arithmetic on each element, and the factory that declares any elementwise op.

For complex inputs TensorFlow's gradient of a holomorphic f is G·conj(f′); hence the `conj`.
Inputs that were broadcast get the formula's value summed back to their shape by the checker.
"""

from __future__ import annotations

from typing import Any

from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Derivation, Domain, Example, Op, Parameter
from gradcheck.ops.rules import broadcast_call

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
    derivation: Derivation = (),
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
        shape=broadcast_call,
        args=args or {},
        required=required,
        example=example,
        aliases=aliases,
        pitfalls=pitfalls,
        forward=forward,
        related=related,
        derivation=derivation,
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
        pitfalls=("The factor 2 is easy to lose, and y gets the minus sign.", BROADCASTING),
    ),
    elementwise("negative", "tf.negative", "y = -x", "tf.math.negative", forward="-x", x="-G"),
    elementwise(
        "reciprocal",
        "tf.math.reciprocal",
        "y = 1/x",
        forward="1 / x",
        domains={"x": NONZERO},
        x="-G * conj(out**2)",
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
        pitfalls=(
            "Where x equals y TensorFlow gives the whole gradient to x; other frameworks split it.",
            BROADCASTING,
        ),
    ),
)
