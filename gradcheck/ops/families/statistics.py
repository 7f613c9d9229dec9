"""Means and variances of whole batches, and what is normalised by them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import all_but_last, flag, only, several_axes
from gradcheck.ops.sentences import LAST_AXIS_IS_APART

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas


def _moments_shape(call: Call) -> Shape:
    shape = only(call)
    gone = several_axes(call.args["axes"], len(shape))
    if flag(call, "keepdims"):
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def _count(call: Call) -> int:
    shape = only(call)
    return math.prod(shape[i] for i in several_axes(call.args["axes"], len(shape)))


_CENTRED = "(x - mean(x, axes, True))"


def _along(upstream: str) -> str:
    return f"unreduce({upstream}, shape(x), axes, keepdims)"


def _moments_formula(call: Call) -> Formulas:
    spread = f"{_along('G[0]')} + 2 * {_along('G[1]')} * {_CENTRED}"
    return {"x": f"({spread}) / {_count(call)}"}


_MOMENTS = (
    Step("Let d be the deviations from the mean.", f"d := {_CENTRED}"),
    Step("The mean moves with the mean of dx.", "dout[0] == mean(dx, axes, keepdims)"),
    Step(
        "The variance is the mean of d². Each d moves with dx less the move of the mean; that part "
        "drops out, as the deviations sum to zero.",
        "dout[1] == 2 * mean(d * dx, axes, keepdims)",
    ),
    Step(
        "The loss changes by the inner products of both upstream gradients with both changes. A "
        "mean divides by n, how many were averaged.",
        f"sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum(({_along('G[0]')} + "
        f"2 * {_along('G[1]')} * d) * dx) * size(out[0]) / size(x)",
    ),
)


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


_NORM = "sqrt(sum(square(tensor), axis, True))"


def _normalize_shape(call: Call) -> Shape:
    shape = only(call)
    gone = several_axes(call.args["axis"], len(shape))
    return tuple(1 if i in gone else n for i, n in enumerate(shape))


OPS = (
    Op(
        name="moments",
        tf="tf.nn.moments",
        family="nn",
        batches="The axes that are not named are batch axes: each of their places has moments of "
        "its own.",
        summary="m, v = the mean and the variance of x along axes",
        inputs=(Parameter("x"),),
        formula=_moments_formula,
        forward=f"[mean(x, axes, keepdims), mean(square({_CENTRED}), axes, keepdims)]",
        tangent=f"[mean(dx, axes, keepdims), 2 * mean({_CENTRED} * dx, axes, keepdims)]",
        derivation=_MOMENTS,
        shape=_moments_shape,
        shapes=lambda call: [_moments_shape(call)] * 2,
        outputs=("m", "v"),
        real_only=True,
        required=("axes",),
        args={"keepdims": False},
        example=Example({"x": (2, 3)}, {"axes": [0]}),
        related=("reduce_mean", "reduce_variance", "batch_norm_training"),
        pitfalls=(
            "The divisor is n, not n - 1: this is not the sample variance.",
            "Both outputs depend on x: who holds the mean fixed loses nothing in the variance, but "
            "all of the mean's own gradient.",
        ),
    ),
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
    Op(
        name="normalize",
        tf="tf.linalg.normalize",
        family="reduce",
        summary="u, n = x/‖x‖ and ‖x‖ along axes",
        inputs=(Parameter("tensor"),),
        formula={
            "tensor": f"(G[0] - out[0] * sum(G[0] * out[0], axis, True)) / {_NORM} + G[1] * out[0]"
        },
        forward=f"[tensor / {_NORM}, {_NORM}]",
        tangent=f"[(dtensor - out[0] * sum(dtensor * out[0], axis, True)) / {_NORM}, "
        "sum(out[0] * dtensor, axis, True)]",
        derivation=(
            Step("n is the length of x, and u is x over it.", "out[1] * out[0] == tensor"),
            Step(
                "The length changes by the share of dx along u.",
                "dout[1] == sum(out[0] * dtensor, axis, True)",
            ),
            Step("By the quotient rule", "dout[0] == (dtensor - out[0] * dout[1]) / out[1]"),
            Step(
                "That takes the share along u out of dx: a projection, which is its own transpose. "
                "So the upstream of u is projected in the same way, and that of n stands beside u.",
                "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum(((G[0] - out[0] * sum(G[0] * "
                "out[0], axis, True)) / out[1] + G[1] * out[0]) * dtensor)",
            ),
        ),
        shape=only,
        shapes=lambda call: [only(call), _normalize_shape(call)],
        outputs=("u", "n"),
        real_only=True,
        args={"axis": None},
        undefined=("At the zero vector.",),
        example=Example({"tensor": (2, 3)}, {"axis": 1}),
        related=("l2_normalize", "norm", "reduce_euclidean_norm"),
        pitfalls=("Through u alone no length can be learned; through n nothing else.",),
    ),
)
