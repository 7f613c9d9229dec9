"""Losses of neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.domains import POSITIVE
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.rules import equal_call, one_axis
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

_SUMS_TO_ONE = Domain(sample=Sample("probability"))
_ANY_LABEL = Domain(sample=Sample("uniform", (0.0, 1.0)))

_CLASSES_ARE_APART = (
    "Every axis but that of the classes is a batch axis: each example has a loss of its own."
)

_SHARES = "exp(logits) / sum(exp(logits), axis, True)"
"""The softmax of the logits, as text."""
_LOG_SHARES = "(logits - log(sum(exp(logits), axis, True)))"
"""Its logarithm."""


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


_CROSS_ENTROPY = (
    Step("p is the softmax, and the loss is -Σ labels·log p.", f"p := {_SHARES}"),
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

OPS = (
    Op(
        name="softmax_cross_entropy_with_logits",
        tf="tf.nn.softmax_cross_entropy_with_logits",
        family="nn",
        summary="y = -Σ labels·log softmax(logits) along an axis",
        inputs=(Parameter("labels", _SUMS_TO_ONE), Parameter("logits")),
        formula={
            "labels": f"-expand_dims(G, axis) * {_LOG_SHARES}",
            "logits": f"expand_dims(G, axis) * ({_SHARES} - labels)",
        },
        forward=f"-sum(labels * {_LOG_SHARES}, axis)",
        tangent=f"sum(({_SHARES} - labels) * dlogits, axis) - sum(dlabels * {_LOG_SHARES}, axis)",
        shape=_entropy_shape,
        args={"axis": -1},
        derivation=_CROSS_ENTROPY,
        undefined=("The formula is right for labels that sum to one along the axis.",),
        example=Example({"labels": (2, 3), "logits": (2, 3)}),
        related=("softmax", "log_softmax", "sparse_softmax_cross_entropy_with_logits"),
        batches=_CLASSES_ARE_APART,
        pitfalls=(
            Seen(
                "The logits' gradient is p - labels only if the labels sum to one; TensorFlow "
                "assumes it, and of labels (1, 1) at equal logits gives (-½, -½) where it is 0.",
                {"labels": [1.0, 1.0], "logits": [0.0, 0.0]},
                {"logits": [-0.5, -0.5]},
            ),
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
        batches=_CLASSES_ARE_APART,
        pitfalls=(
            "A one is subtracted at the label; everywhere else the gradient is the softmax itself.",
            "Labels are class numbers, without a gradient of their own.",
        ),
    ),
    elementwise(
        "sigmoid_cross_entropy_with_logits",
        "tf.nn.sigmoid_cross_entropy_with_logits",
        "z = -labels·log σ(x) - (1 - labels)·log(1 - σ(x))",
        shape=equal_call,
        family="nn",
        domains={"labels": _ANY_LABEL},
        forward="log(1 + exp(logits)) - logits * labels",
        labels="-G * logits",
        logits="G * (sigmoid(logits) - labels)",
        related=("sigmoid", "softmax_cross_entropy_with_logits"),
        slope=(
            Step(
                "log(1 + eˣ) has the slope σ(x); the product is linear in both.",
                "dout == (sigmoid(logits) - labels) * dlogits - logits * dlabels",
            ),
        ),
        pitfalls=(
            "Applying the sigmoid first and then this op takes it twice.",
            "The labels have a gradient too: minus the logits.",
        ),
    ),
    elementwise(
        "log_poisson_loss",
        "tf.nn.log_poisson_loss",
        "z = exp(log_input) - targets·log_input",
        shape=equal_call,
        family="nn",
        domains={"targets": POSITIVE},
        forward="exp(log_input) - log_input * targets",
        targets="-G * conj(log_input)",
        log_input="G * conj(exp(log_input) - targets)",
        related=("exp", "sigmoid_cross_entropy_with_logits"),
        slope=(
            Step(
                "The exponential is its own slope; the product is linear in both.",
                "dout == (exp(log_input) - targets) * dlog_input - log_input * dtargets",
            ),
        ),
        pitfalls=(
            "log_input is the logarithm of the rate: the slope is the rate less the target.",
            "The part of the likelihood that depends on the targets alone is left out.",
        ),
    ),
    elementwise(
        "weighted_cross_entropy_with_logits",
        "tf.nn.weighted_cross_entropy_with_logits",
        "z = -pos_weight·labels·log σ(x) - (1 - labels)·log(1 - σ(x))",
        shape=equal_call,
        family="nn",
        domains={"labels": _ANY_LABEL},
        required=("pos_weight",),
        example=Example({"labels": (3,), "logits": (3,)}, {"pos_weight": 2.0}),
        forward="(1 - labels) * logits + (1 + (pos_weight - 1) * labels) * softplus(-logits)",
        labels="G * ((pos_weight - 1) * softplus(-logits) - logits)",
        logits="G * (1 - labels - (1 + (pos_weight - 1) * labels) * sigmoid(-logits))",
        related=("sigmoid_cross_entropy_with_logits", "sigmoid"),
        slope=(
            Step(
                "-log σ(x) = log(1 + e⁻ˣ) has the slope -σ(-x), and -log(1 - σ(x)) is x more than "
                "it. The whole is linear in the labels.",
                "dout == (1 - labels - (1 + (pos_weight - 1) * labels) * sigmoid(-logits)) * "
                "dlogits + ((pos_weight - 1) * softplus(-logits) - logits) * dlabels",
            ),
        ),
        pitfalls=(
            "The weight multiplies the part of the positive labels alone, not the whole loss.",
            "Applying the sigmoid first and then this op takes it twice.",
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
        batches="All axes are summed: there are no batch axes.",
        symbols={"t": "x"},
        pitfalls=("The half is there so that the factor 2 cancels: the gradient is x.",),
    ),
)
