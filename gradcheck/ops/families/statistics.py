"""What is normalised by the statistics of a batch, or by its root mean square."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import all_but_last
from gradcheck.ops.sentences import LAST_AXIS_IS_APART

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas


def _per_channel(call: Call) -> Shape:
    shape = call.shapes["x"]
    for name in ("scale", "offset"):
        if call.shapes[name] != shape[-1:] or len(shape) < 2:
            raise ShapeError(
                f"{name} has shape {list(call.shapes[name])}, but x {list(shape)} needs one number "
                "for each channel, its last axis, and another axis to average over"
            )
    return shape


def _spread(call: Call) -> str:
    axes = all_but_last(call)
    return f"sqrt(mean(square(x - mean(x, {axes}, True)), {axes}, True) + epsilon)"


def _normalised(call: Call) -> str:
    return f"((x - mean(x, {all_but_last(call)}, True)) / {_spread(call)})"


def _projected(call: Call, upstream: str) -> str:
    axes, h = all_but_last(call), _normalised(call)
    return (
        f"({upstream} - mean({upstream}, {axes}, True) - {h} * mean({upstream} * {h}, {axes}, "
        f"True)) / {_spread(call)}"
    )


def _batch_formula(call: Call) -> Formulas:
    axes = all_but_last(call)
    return {
        "x": _projected(call, "(G * scale)"),
        "scale": f"sum(G * {_normalised(call)}, {axes})",
        "offset": f"sum(G, {axes})",
    }


def _batch_derivation(call: Call) -> Derivation:
    axes = all_but_last(call)
    return (
        Step(
            "Normalise each channel over the whole batch: subtract the mean μ and divide by the "
            "deviation s.",
            f"s := {_spread(call)}",
        ),
        Step("", f"h := (x - mean(x, {axes}, True)) / s"),
        Step(
            "Mean and deviation move with every element of the batch: by the product rule",
            f"dh := (dx - mean(dx, {axes}, True) - h * mean(dx * h, {axes}, True)) / s",
        ),
        Step("", "dout == dh * scale + h * dscale + doffset"),
        Step(
            "The first part projects: it takes the mean and the share along h out of dx. A "
            "projection is its own transpose, so on the way back it acts on G·scale in the same "
            "way.",
            f"sum(G * scale * dh) == sum((G * scale - mean(G * scale, {axes}, True) - h * "
            f"mean(G * scale * h, {axes}, True)) / s * dx)",
        ),
        Step(
            "scale and offset were broadcast: their gradients are summed over the batch.",
            f"sum(G * dout) == sum(G * scale * dh) + sum(sum(G * h, {axes}) * dscale) + "
            f"sum(sum(G, {axes}) * doffset)",
        ),
    )


def _batch_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    x, scale, offset = tensors
    mean, variance = tf.nn.moments(x, list(range(len(x.shape) - 1)), keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, args["epsilon"])


_ROOT = "sqrt(mean(square(x), -1, True) + epsilon)"


def _rms_shape(call: Call) -> Shape:
    shape = call.shapes["x"]
    if not shape or call.shapes["scale"] != shape[-1:]:
        raise ShapeError(
            f"scale has shape {list(call.shapes['scale'])}, but the last axis of x needs "
            f"{list(shape[-1:])}"
        )
    return shape


def _rms_back(upstream: str) -> str:
    inner = f"mean({upstream} * x, -1, True)"
    return f"({upstream} - x * {inner} / square({_ROOT})) / {_ROOT}"


_RMS = (
    Step("Let r be the root of the mean square.", f"r := {_ROOT}"),
    Step("It moves with the share of dx along x.", "dr := mean(x * dx, -1, True) / r"),
    Step(
        "By the product and the quotient rule",
        "dout == (dx - x * dr / r) / r * scale + x / r * dscale",
    ),
    Step(
        "Taking out that share is its own transpose: on the way back it acts on G·scale in the "
        "same way.",
        "sum(G * scale * (dx - x * dr / r) / r) == sum((G * scale - x * mean(G * scale * x, -1, "
        "True) / square(r)) / r * dx)",
    ),
    Step("scale was broadcast: its gradient is summed over all axes but the last."),
)


def _rms_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    x, scale = tensors
    mean = tf.reduce_mean(tf.square(x), -1, keepdims=True)
    return x / tf.sqrt(mean + args["epsilon"]) * scale


OPS = (
    Op(
        name="batch_norm_training",
        tf="tf.keras.layers.BatchNormalization",
        is_part=True,
        family="nn",
        summary="y = (x - μ)/√(σ² + ε)·scale + offset, μ and σ² of the batch, channel by channel",
        inputs=(Parameter("x"), Parameter("scale"), Parameter("offset")),
        formula=_batch_formula,
        forward=lambda call: f"{_normalised(call)} * scale + offset",
        tangent=lambda call: (
            f"{_projected(call, 'dx')} * scale + {_normalised(call)} * dscale + doffset"
        ),
        derivation=_batch_derivation,
        batches="The last axis is apart: each channel is normalised over all the other axes, and "
        "examples do mix.",
        shape=_per_channel,
        real_only=True,
        args={"epsilon": 0.001},
        build=_batch_build,
        example=Example({"x": (4, 2), "scale": (2,), "offset": (2,)}),
        related=("batch_normalization", "layer_norm", "moments"),
        pitfalls=(
            "μ and σ² depend on x too: two terms more than with fixed statistics, and every "
            "example of the batch gets a part of every other's gradient.",
            "The gradient of x sums to 0 over the batch, so an upstream of ones hides all of it.",
        ),
    ),
    Op(
        name="rms_norm",
        tf="tf.keras.layers.RMSNormalization",
        is_part=True,
        family="nn",
        summary="y = x/√(mean x² + ε)·scale, along the last axis",
        inputs=(Parameter("x"), Parameter("scale")),
        formula=lambda call: {
            "x": _rms_back("(G * scale)"),
            "scale": f"sum(G * x / {_ROOT}, {all_but_last(call)})",
        },
        forward=f"x / {_ROOT} * scale",
        tangent=f"{_rms_back('dx')} * scale + x / {_ROOT} * dscale",
        derivation=_RMS,
        batches=LAST_AXIS_IS_APART,
        shape=_rms_shape,
        real_only=True,
        args={"epsilon": 1e-06},
        build=_rms_build,
        example=Example({"x": (2, 3), "scale": (3,)}),
        related=("layer_norm", "l2_normalize", "reduce_mean"),
        pitfalls=(
            "Nothing is subtracted: unlike in layer_norm the gradient need not sum to 0.",
            "The root depends on x: without its term the length of x could be learned.",
        ),
    ),
)
