"""Losses of whole vectors: shares that sum to one, directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.factories.mean_loss import (
    EACH_HAS_A_LOSS,
    LOSS_SHAPES,
    LOSS_SYMBOLS,
    SHARE,
    loss_shape,
    pairs,
)
from gradcheck.ops.rules import one_axis

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _along_axis(call: Call) -> Shape:
    shape = pairs(call)
    axis = one_axis(call.args["axis"], len(shape))
    return (*shape[:axis], *shape[axis + 1 :])


def _classes(call: Call) -> Shape:
    shape = loss_shape(call)
    if call.shapes["y_pred"][-1] == 1:
        # (Keras holds the shares below 1 - 1e-7, and warns: the loss is a constant.)
        raise ShapeError(
            f"y_pred {list(call.shapes['y_pred'])} needs two classes or more along its last axis: "
            "the share of a single one is 1 whatever it is"
        )
    return shape


_TOTAL = "sum(y_pred, -1, True)"
_CATEGORICAL = (
    Step(
        "The predictions are divided by their sum s, so that they sum to one.",
        f"s := {_TOTAL}",
    ),
    Step("", "out == -sum(y_true * (log(y_pred) - log(s)), -1)"),
    Step(
        "log p has the slope 1/p; each p also moves s, and with it all the logarithms: that is the "
        "sum of the targets over s.",
        "dout == sum((sum(y_true, -1, True) / s - y_true / y_pred) * dy_pred, -1) - "
        "sum(log(y_pred / s) * dy_true, -1)",
    ),
    Step(
        "Each example has a loss of its own: its G multiplies all of its slopes.",
        "sum(G * dout) == sum(expand_dims(G, -1) * (sum(y_true, -1, True) / s - y_true / y_pred) "
        "* dy_pred) - sum(expand_dims(G, -1) * log(y_pred / s) * dy_true)",
    ),
)

_UNIT_T = "(y_true / sqrt(sum(square(y_true), axis, True)))"
_UNIT_P = "(y_pred / sqrt(sum(square(y_pred), axis, True)))"


def _turned(own: str, other: str, name: str) -> str:
    """The gradient of the cosine by one vector, without upstream."""
    size = f"sqrt(sum(square({name}), axis, True))"
    return f"(({own} * sum({own} * {other}, axis, True) - {other}) / {size})"


_COSINE = (
    Step("Divide both vectors by their lengths.", f"a := {_UNIT_T}"),
    Step("", f"b := {_UNIT_P}"),
    Step("", "out == -sum(a * b, axis)"),
    Step(
        "A vector that keeps the length 1 moves across itself alone: of dp the share along b is "
        "taken out, and what is left is divided by the length of p.",
        "db := (dy_pred - b * sum(b * dy_pred, axis, True)) / "
        "sqrt(sum(square(y_pred), axis, True))",
    ),
    Step(
        "",
        "da := (dy_true - a * sum(a * dy_true, axis, True)) / "
        "sqrt(sum(square(y_true), axis, True))",
    ),
    Step("By the product rule", "dout == -sum(a * db + b * da, axis)"),
    Step(
        "Taking out a share is its own transpose, so on the way back it acts on the other vector: "
        "beside dp stands a, less its share along b, negative and over the length of p; and so "
        "for dt.",
        "sum(G * dout) == sum(expand_dims(G, axis) * "
        f"{_turned('b', 'a', 'y_pred')} * dy_pred) + sum(expand_dims(G, axis) * "
        f"{_turned('a', 'b', 'y_true')} * dy_true)",
    ),
)

OPS = (
    Op(
        name="categorical_crossentropy",
        tf="tf.keras.losses.categorical_crossentropy",
        family="loss",
        summary="y = -Σ t·log(p/Σ p) along the last axis",
        inputs=(Parameter("y_true", SHARE), Parameter("y_pred", SHARE)),
        formula={
            "y_true": f"-expand_dims(G, -1) * log(y_pred / {_TOTAL})",
            "y_pred": f"expand_dims(G, -1) * (sum(y_true, -1, True) / {_TOTAL} - y_true / y_pred)",
        },
        forward=f"-sum(y_true * log(y_pred / {_TOTAL}), -1)",
        tangent=f"sum((sum(y_true, -1, True) / {_TOTAL} - y_true / y_pred) * dy_pred, -1) - "
        f"sum(log(y_pred / {_TOTAL}) * dy_true, -1)",
        shape=_classes,
        real_only=True,
        symbols=LOSS_SYMBOLS,
        batches=EACH_HAS_A_LOSS,
        derivation=_CATEGORICAL,
        example=Example(LOSS_SHAPES),
        related=("softmax_cross_entropy_with_logits", "kl_divergence", "binary_crossentropy"),
        pitfalls=(
            "The predictions are divided by their sum first: -t/p alone lacks a term, though for "
            "predictions that a softmax made that term drops out behind it.",
            "With logits the divisions cancel: softmax_cross_entropy_with_logits is exact where "
            "this loses digits.",
        ),
    ),
    Op(
        name="cosine_similarity",
        tf="tf.keras.losses.cosine_similarity",
        family="loss",
        summary="y = -the cosine of the angle between t and p",
        inputs=(Parameter("y_true"), Parameter("y_pred")),
        formula={
            "y_true": f"expand_dims(G, axis) * {_turned(_UNIT_T, _UNIT_P, 'y_true')}",
            "y_pred": f"expand_dims(G, axis) * {_turned(_UNIT_P, _UNIT_T, 'y_pred')}",
        },
        forward=f"-sum({_UNIT_T} * {_UNIT_P}, axis)",
        tangent=f"sum({_turned(_UNIT_T, _UNIT_P, 'y_true')} * dy_true + "
        f"{_turned(_UNIT_P, _UNIT_T, 'y_pred')} * dy_pred, axis)",
        shape=_along_axis,
        real_only=True,
        args={"axis": -1},
        symbols=LOSS_SYMBOLS,
        batches="Every axis but `axis` is a batch axis: each pair of vectors along it has a loss "
        "of its own.",
        derivation=_COSINE,
        undefined=("Where one of the vectors is 0.",),
        example=Example(LOSS_SHAPES),
        related=("l2_normalize", "norm", "mean_squared_error"),
        pitfalls=(
            "It is the negative cosine: -1 is the best value.",
            "The gradient is perpendicular to the vector: its length cannot be learned.",
        ),
    ),
)
