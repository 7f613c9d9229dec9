"""Normalisations of neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.domains import POSITIVE
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.rules import all_but_last, only, several_axes
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import BROADCAST_IS_SUMMED, LAST_AXIS_IS_APART

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _with_axis(call: Call) -> Shape:
    shape = only(call)
    several_axes(call.args["axis"], len(shape))
    return shape


def _last_axis(call: Call) -> Shape:
    shape = call.shapes["x"]
    for name in ("scale", "offset"):
        if call.shapes[name] != shape[-1:]:
            raise ShapeError(
                f"{name} has shape {list(call.shapes[name])}, but the last axis of x needs "
                f"{list(shape[-1:])}"
            )
    return shape


def _layer_norm_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    x, scale, offset = tensors
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, args["epsilon"])


_SPREAD = "sqrt(mean(square(x - mean(x, -1, True)), -1, True) + epsilon)"

_NORMALISED = f"((x - mean(x, -1, True)) / {_SPREAD})"


def _layer_norm_formula(call: Call) -> dict[str, str]:
    return {
        "x": _projected("(G * scale)"),
        "scale": f"sum(G * {_NORMALISED}, {all_but_last(call)})",
        "offset": f"sum(G, {all_but_last(call)})",
    }


def _projected(upstream: str) -> str:
    """What is left of a vector when its mean and its share along the normalised x are taken out."""
    return (
        f"({upstream} - mean({upstream}, -1, True) - {_NORMALISED} * mean({upstream} * "
        f"{_NORMALISED}, -1, True)) / {_SPREAD}"
    )


_LAYER_NORM = (
    Step("Normalise: subtract the mean μ and divide by the deviation s.", f"s := {_SPREAD}"),
    Step("", "h := (x - mean(x, -1, True)) / s"),
    Step(
        "The mean moves with x, and so does s: by the product rule",
        "dh := (dx - mean(dx, -1, True) - h * mean(dx * h, -1, True)) / s",
    ),
    Step("", "dout == dh * scale + h * dscale + doffset"),
    Step(
        "The first part projects: it takes the mean and the share along h out of "
        "dx. A projection is its own transpose, so on the way back it acts on "
        "G·scale in the same way.",
        "sum(G * scale * dh) == sum((G * scale - mean(G * scale, -1, True) - h * "
        "mean(G * scale * h, -1, True)) / s * dx)",
    ),
    Step("scale and offset were broadcast: their gradients are summed over all axes but the last."),
)

_NORMALISE = (
    Step("y is x over its length n.", "n := sqrt(sum(square(x), axis, True))"),
    Step("The length changes by the share of dx along y.", "dn := sum(out * dx, axis, True)"),
    Step("By the quotient rule", "dout == (dx - out * dn) / n"),
    Step(
        "That takes the share along y out of dx: a projection, which is its own "
        "transpose. So G is projected in the same way.",
        "sum(G * dout) == sum((G - out * sum(G * out, axis, True)) / n * dx)",
    ),
)

OPS = (
    elementwise(
        "batch_normalization",
        "tf.nn.batch_normalization",
        "y = (x - mean)/√(variance + ε)·scale + offset",
        family="nn",
        required=("variance_epsilon",),
        example=Example(
            {"x": (2, 3), "mean": (3,), "variance": (3,), "offset": (3,), "scale": (3,)},
            {"variance_epsilon": 0.001},
        ),
        domains={"variance": POSITIVE},
        forward="(x - mean) / sqrt(variance + variance_epsilon) * scale + offset",
        x="G * conj(scale / sqrt(variance + variance_epsilon))",
        mean="-G * conj(scale / sqrt(variance + variance_epsilon))",
        variance="-G * conj(scale * (x - mean) / (2 * (variance + variance_epsilon)**1.5))",
        offset="G",
        scale="G * conj((x - mean) / sqrt(variance + variance_epsilon))",
        related=("layer_norm", "reduce_variance"),
        pitfalls=(
            "mean and variance are inputs here: if they were computed from x, their "
            "gradients flow on.",
            BROADCAST_IS_SUMMED,
        ),
    ),
    Op(
        name="l2_normalize",
        tf="tf.math.l2_normalize",
        family="nn",
        summary="y = x/‖x‖ along an axis",
        inputs=(Parameter("x"),),
        formula={"x": "(G - out * sum(G * out, axis, True)) / sqrt(sum(square(x), axis, True))"},
        forward="x / sqrt(sum(square(x), axis, True))",
        tangent="(dx - out * sum(dx * out, axis, True)) / sqrt(sum(square(x), axis, True))",
        shape=_with_axis,
        real_only=True,
        args={"axis": None},
        batches="Every axis but `axis` is a batch axis: each vector along it is normalised by "
        "itself.",
        aliases=("tf.nn.l2_normalize", "tf.linalg.l2_normalize"),
        derivation=_NORMALISE,
        undefined=(
            "At the zero vector.",
            Seen(
                "Below a length of 1e-6 TensorFlow divides by 1e-6: the gradient is a million "
                "times G.",
                {"x": [1e-7, 0.0]},
                {"x": [1e6, 1e6]},
            ),
        ),
        example=Example({"x": (2, 3)}, {"axis": 1}),
        related=("norm", "layer_norm"),
        pitfalls=("The gradient is perpendicular to y: length cannot be learned through it.",),
    ),
    Op(
        name="layer_norm",
        tf="tf.keras.layers.LayerNormalization",
        is_part=True,
        family="nn",
        summary="y = (x - μ)/√(σ² + ε)·scale + offset, along the last axis",
        inputs=(Parameter("x"), Parameter("scale"), Parameter("offset")),
        formula=_layer_norm_formula,
        forward=f"{_NORMALISED} * scale + offset",
        tangent=f"{_projected('dx')} * scale + {_NORMALISED} * dscale + doffset",
        batches=LAST_AXIS_IS_APART,
        shape=_last_axis,
        real_only=True,
        args={"epsilon": 0.001},
        build=_layer_norm_build,
        derivation=_LAYER_NORM,
        example=Example({"x": (2, 3), "scale": (3,), "offset": (3,)}),
        related=("batch_normalization", "l2_normalize", "reduce_variance"),
        pitfalls=(
            "Mean and deviation depend on x too: two terms more than G·scale/s.",
            "The gradient of x sums to 0 along the axis, so an upstream of ones hides all of it.",
        ),
    ),
)
