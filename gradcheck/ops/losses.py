"""Losses, normalisations and lookups of neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.elementwise import BROADCASTING, elementwise
from gradcheck.ops.functions import POSITIVE
from gradcheck.ops.rules import one_axis, only, several_axes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

PROBABILITY = Domain(sample=Sample("probability"))
ANY_LABEL = Domain(sample=Sample("uniform", (0.0, 1.0)))

_SOFTMAX = "exp(logits) / sum(exp(logits), axis, True)"
_LOG_SOFTMAX = "(logits - log(sum(exp(logits), axis, True)))"


def _entropy_shape(call: Call) -> Shape:
    labels, logits = call.shapes["labels"], call.shapes["logits"]
    if labels != logits or not logits:
        raise ShapeError(
            f"labels {list(labels)} and logits {list(logits)} must have the same "
            "shape, not a scalar's"
        )
    axis = one_axis(call.args["axis"], len(logits))
    return (*logits[:axis], *logits[axis + 1 :])


def _sparse_shape(call: Call) -> Shape:
    labels, logits = call.shapes["labels"], call.shapes["logits"]
    if labels != logits[:-1] or not logits:
        raise ShapeError(
            f"labels {list(labels)} need the shape of logits {list(logits)} without the last axis"
        )
    return labels


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


_HAT = "((x - mean(x, -1, True)) / sqrt(mean(square(x - mean(x, -1, True)), -1, True) + epsilon))"
_DEV = "sqrt(mean(square(x - mean(x, -1, True)), -1, True) + epsilon)"


def _projected(upstream: str) -> str:
    """What is left of a vector when its mean and its share along the normalised x are taken out."""
    return (
        f"({upstream} - mean({upstream}, -1, True) - {_HAT} * mean({upstream} * "
        f"{_HAT}, -1, True)) / {_DEV}"
    )


_LAYER_NORM = (
    Step("Normalise: subtract the mean μ and divide by the deviation s.", f"s := {_DEV}"),
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

_CROSS_ENTROPY = (
    Step("p is the softmax, and the loss is -Σ labels·log p.", f"p := {_SOFTMAX}"),
    Step("", "out == -sum(labels * log(p), axis)"),
    Step(
        "The change of log p is the change of the logits minus its mean under p.",
        "dlogp := dlogits - sum(p * dlogits, axis, True)",
    ),
    Step("", "dout == -sum(labels * dlogp, axis) - sum(dlabels * log(p), axis)"),
    Step(
        "Sort by the change of the logits: each gets p times the sum of the "
        "labels, minus its label. For labels that sum to one this is p - labels.",
        "dout == sum((p * sum(labels, axis, True) - labels) * dlogits, axis) - "
        "sum(dlabels * log(p), axis)",
    ),
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
    Op(
        name="softmax_cross_entropy_with_logits",
        tf="tf.nn.softmax_cross_entropy_with_logits",
        family="nn",
        summary="y = -Σ labels·log softmax(logits) along an axis",
        inputs=(Parameter("labels", PROBABILITY), Parameter("logits")),
        formula={
            "labels": f"-expand_dims(G, axis) * {_LOG_SOFTMAX}",
            "logits": f"expand_dims(G, axis) * ({_SOFTMAX} - labels)",
        },
        forward=f"-sum(labels * {_LOG_SOFTMAX}, axis)",
        tangent=f"sum(({_SOFTMAX} - labels) * dlogits, axis) - sum(dlabels * {_LOG_SOFTMAX}, axis)",
        shape=_entropy_shape,
        args={"axis": -1},
        derivation=_CROSS_ENTROPY,
        undefined=("TensorFlow's formula is right for labels that sum to one along the axis.",),
        example=Example({"labels": (2, 3), "logits": (2, 3)}),
        related=("softmax", "log_softmax", "sparse_softmax_cross_entropy_with_logits"),
        pitfalls=(
            "The logits' gradient is p - labels only if the labels sum to one; "
            "TensorFlow assumes it.",
            "Applying softmax first and then this op takes the softmax twice.",
            "The labels have a gradient too: minus the log-softmax.",
        ),
    ),
    Op(
        name="sparse_softmax_cross_entropy_with_logits",
        tf="tf.nn.sparse_softmax_cross_entropy_with_logits",
        family="nn",
        summary="y = -log softmax(logits) at the label",
        inputs=(
            Parameter("labels", Domain(sample=Sample("integers")), Kind.INTEGER),
            Parameter("logits"),
        ),
        formula={
            "logits": "expand_dims(G, -1) * (exp(logits) / sum(exp(logits), -1, True) - "
            "one_hot(labels, shape(logits)[-1]))"
        },
        forward="log(sum(exp(logits), -1)) - sum(one_hot(labels, shape(logits)[-1]) * logits, -1)",
        tangent="sum((exp(logits) / sum(exp(logits), -1, True) - one_hot(labels, "
        "shape(logits)[-1])) * dlogits, -1)",
        shape=_sparse_shape,
        symbols={"logits": "x"},
        example=Example({"labels": (2,), "logits": (2, 3)}),
        related=("softmax_cross_entropy_with_logits", "log_softmax"),
        derivation=(
            Step(
                "The loss is log Σ eˣ minus x at the label.",
                "out == log(sum(exp(logits), -1)) - sum(one_hot(labels, "
                "shape(logits)[-1]) * logits, -1)",
            ),
            Step(
                "The first part moves by the softmax, the second by a one at the label.",
                "dout == sum((exp(logits) / sum(exp(logits), -1, True) - one_hot(labels, "
                "shape(logits)[-1])) * dlogits, -1)",
            ),
        ),
        pitfalls=(
            "A one is subtracted at the label; everywhere else the gradient is the softmax itself.",
            "Labels are class numbers, without a gradient of their own.",
        ),
    ),
    elementwise(
        "sigmoid_cross_entropy_with_logits",
        "tf.nn.sigmoid_cross_entropy_with_logits",
        "z = -labels·log σ(x) - (1 - labels)·log(1 - σ(x))",
        family="nn",
        domains={"labels": ANY_LABEL},
        forward="log(1 + exp(logits)) - logits * labels",
        labels="-G * logits",
        logits="G * (sigmoid(logits) - labels)",
        related=("sigmoid", "softmax_cross_entropy_with_logits"),
        pitfalls=("Applying the sigmoid first and then this op takes it twice.",),
    ),
    elementwise(
        "gelu",
        "tf.nn.gelu",
        "y = x·Φ(x), Φ the normal distribution",
        family="nn",
        forward="features * erfc(-features * float32(1 / sqrt(2))) / 2",
        features="G * (erfc(-features * float32(1 / sqrt(2))) / 2 + features * float32(1 / "
        "sqrt(2)) "
        "* exp(-square(features * float32(1 / sqrt(2)))) / sqrt(pi))",
        related=("relu", "silu", "erf"),
        pitfalls=(
            "A product: both the factor x and Φ contribute.",
            "The approximation by tanh has another derivative; this formula is for the exact one.",
            "TensorFlow keeps 1/√2 in float32, so the value is off by 1e-8 also in float64.",
        ),
    ),
    Op(
        name="l2_loss",
        tf="tf.nn.l2_loss",
        family="nn",
        summary="y = Σ x²/2",
        inputs=(Parameter("t"),),
        formula={"t": "G * t"},
        forward="sum(square(t)) / 2",
        tangent="sum(t * dt)",
        shape=lambda _: (),
        example=Example({"t": (3,)}),
        related=("square", "norm"),
        pitfalls=("The half is there so that the factor 2 cancels: the gradient is x.",),
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
        aliases=("tf.nn.l2_normalize", "tf.linalg.l2_normalize"),
        derivation=_NORMALISE,
        undefined=("At the zero vector; below a length of 1e-6 TensorFlow divides by 1e-6.",),
        example=Example({"x": (2, 3)}, {"axis": 1}),
        related=("norm", "layer_norm"),
        pitfalls=("The gradient is perpendicular to y: length cannot be learned through it.",),
    ),
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
        name="layer_norm",
        tf="tf.keras.layers.LayerNormalization",
        is_part=True,
        family="nn",
        summary="y = (x - μ)/√(σ² + ε)·scale + offset, along the last axis",
        inputs=(Parameter("x"), Parameter("scale"), Parameter("offset")),
        formula={
            "x": _projected("(G * scale)"),
            "scale": f"unbroadcast(G * {_HAT}, shape(scale))",
            "offset": "unbroadcast(G, shape(offset))",
        },
        forward=f"{_HAT} * scale + offset",
        tangent=f"{_projected('dx')} * scale + {_HAT} * dscale + doffset",
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
        formula={"value": "G", "bias": "unbroadcast(G, shape(bias))"},
        forward="value + bias",
        tangent="dvalue + dbias",
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
        related=("gather",),
        pitfalls=(
            "A row that is looked up twice gets both gradients, one that is not gets zeros.",
            "The tape returns IndexedSlices: made dense, they are mostly zeros.",
        ),
    ),
)
