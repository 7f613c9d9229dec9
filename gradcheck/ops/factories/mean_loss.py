"""The factory of losses that average a term of each pair over the last axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain, Example, Op, Parameter, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas

__all__ = [
    "EACH_HAS_A_LOSS",
    "LOSS_SHAPES",
    "LOSS_SYMBOLS",
    "SHARE",
    "loss_shape",
    "mean_loss",
    "pairs",
]

SHARE = Domain(low=0.0, high=1.0, sample=Sample("uniform", (0.1, 0.9)))
EACH_HAS_A_LOSS = (
    "Every axis but the last is a batch axis: each of their places has a loss of its own."
)
LOSS_SYMBOLS = {"y_true": "t", "y_pred": "p", "out": "y"}
LOSS_SHAPES: Mapping[str, Shape] = {"y_true": (2, 3), "y_pred": (2, 3)}


def pairs(call: Call) -> Shape:
    """The shape of targets and predictions, which is one."""
    true, predicted = call.shapes["y_true"], call.shapes["y_pred"]
    if true != predicted or not true:
        raise ShapeError(
            f"y_true {list(true)} and y_pred {list(predicted)} must have the same shape, not a "
            "scalar's"
        )
    return true


def loss_shape(call: Call) -> Shape:
    """A loss for each place of all axes but the last."""
    return pairs(call)[:-1]


def mean_loss(
    name: str,
    tf: str,
    summary: str,
    term: str,
    *pitfalls: str,
    true: str,
    predicted: str,
    total: bool = False,
    domains: tuple[Domain, Domain] = (ANYWHERE, ANYWHERE),
    args: Mapping[str, Any] | None = None,
    undefined: tuple[str, ...] = (),
    why: str = "",
    related: tuple[str, ...] = ("mean_squared_error", "huber", "reduce_mean"),
) -> Op:
    """A loss whose slope by the targets and by the predictions is given for each pair."""
    reduce = "sum" if total else "mean"

    def formula(call: Call) -> Formulas:
        count = "" if total else f" / {pairs(call)[-1]}"
        return {
            "y_true": f"expand_dims(G, -1) * {true}{count}",
            "y_pred": f"expand_dims(G, -1) * {predicted}{count}",
        }

    return Op(
        name=name,
        tf=f"tf.keras.losses.{tf}",
        family="loss",
        summary=summary,
        inputs=(Parameter("y_true", domains[0]), Parameter("y_pred", domains[1])),
        formula=formula,
        forward=f"{reduce}({term}, -1)",
        tangent=f"{reduce}({true} * dy_true + {predicted} * dy_pred, -1)",
        shape=loss_shape,
        real_only=True,
        args=args or {},
        symbols=LOSS_SYMBOLS,
        batches=EACH_HAS_A_LOSS,
        undefined=undefined,
        derivation=_written(why, true, predicted) if why else (),
        example=Example(LOSS_SHAPES),
        related=tuple(other for other in related if other != name),
        pitfalls=pitfalls,
    )


def _written(why: str, true: str, predicted: str) -> Derivation:
    """The derivation where no rule finds the slope of a term; it is said why it is what it is."""
    return (
        Step(why, f"dout == mean({predicted} * dy_pred + {true} * dy_true, -1)"),
        Step(
            "The loss changes by the inner product of G with dy. A mean divides by n, the size of "
            "the last axis, and each of its elements gets the G of its place.",
            f"sum(G * dout) == (sum(expand_dims(G, -1) * {predicted} * dy_pred) + "
            f"sum(expand_dims(G, -1) * {true} * dy_true)) / shape(y_pred)[-1]",
        ),
    )
