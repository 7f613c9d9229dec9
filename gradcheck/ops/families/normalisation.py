"""Normalisations, biases and lookups of neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.families.elementwise import BROADCASTING, elementwise
from gradcheck.ops.families.functions import POSITIVE
from gradcheck.ops.rules import only, several_axes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

_LAST = (
    "Every axis but the last is a batch axis, and what belongs to the last alone is summed over "
    "them."
)


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


def _bias_shape(call: Call) -> Shape:
    value, bias = call.shapes["value"], call.shapes["bias"]
    if len(value) < 2 or bias != value[-1:]:
        raise ShapeError(
            f"bias has shape {list(bias)}, but the last axis of value {list(value)} "
            f"needs {list(value[-1:])}"
        )
    return value


def _lookup_shape(call: Call) -> Shape:
    params = call.shapes["params"]
    if not params:
        raise ShapeError("params need an axis to look up along")
    return (*call.shapes["ids"], *params[1:])


_DEVIATION = "sqrt(mean(square(x - mean(x, -1, True)), -1, True) + epsilon)"


_HAT = f"((x - mean(x, -1, True)) / {_DEVIATION})"


def _outer(call: Call) -> list[int]:
    """Every axis but the last."""
    return list(range(len(only(call)) - 1))


def _layer_norm_formula(call: Call) -> dict[str, str]:
    return {
        "x": _projected("(G * scale)"),
        "scale": f"sum(G * {_HAT}, {_outer(call)})",
        "offset": f"sum(G, {_outer(call)})",
    }


def _bias_formula(call: Call) -> dict[str, str]:
    return {"value": "G", "bias": f"sum(G, {_outer(call)})"}


def _projected(upstream: str) -> str:
    """What is left of a vector when its mean and its share along the normalised x are taken out."""
    return (
        f"({upstream} - mean({upstream}, -1, True) - {_HAT} * mean({upstream} * "
        f"{_HAT}, -1, True)) / {_DEVIATION}"
    )


_LAYER_NORM = (
    Step("Normalise: subtract the mean μ and divide by the deviation s.", f"s := {_DEVIATION}"),
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
            BROADCASTING,
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
        undefined=("At the zero vector; below a length of 1e-6 TensorFlow divides by 1e-6.",),
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
        forward=f"{_HAT} * scale + offset",
        tangent=f"{_projected('dx')} * scale + {_HAT} * dscale + doffset",
        batches=_LAST,
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
    Op(
        name="bias_add",
        tf="tf.nn.bias_add",
        family="nn",
        summary="y = x + b along the last axis",
        inputs=(Parameter("value"), Parameter("bias")),
        formula=_bias_formula,
        forward="value + bias",
        tangent="dvalue + dbias",
        batches=_LAST,
        shape=_bias_shape,
        symbols={"value": "x", "bias": "b"},
        example=Example({"value": (2, 3), "bias": (3,)}),
        related=("add", "conv2d"),
        pitfalls=("The bias gets G summed over every axis but the last, the batch included.",),
    ),
    Op(
        name="embedding_lookup",
        tf="tf.nn.embedding_lookup",
        family="nn",
        summary="y = the rows of params at the ids",
        inputs=(
            Parameter("params"),
            Parameter("ids", Domain(sample=Sample("integers")), Kind.INTEGER),
        ),
        formula={"params": "scatter_add(params, ids, G, 0)"},
        forward="take(params, ids, 0)",
        shape=_lookup_shape,
        example=Example({"params": (4, 3), "ids": (5,)}),
        related=("gather", "matmul"),
        batches="The axes of ids are batch axes: each of them looks up a row.",
        pitfalls=(
            "A row that is looked up twice gets both gradients, one that is not gets zeros.",
            "The tape returns IndexedSlices: made dense, they are mostly zeros.",
        ),
    ),
)
