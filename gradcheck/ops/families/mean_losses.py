"""Losses of regression and classification that average a term of each pair over the last axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain, Example, Op, Parameter, Step
from gradcheck.ops.domains import POSITIVE
from gradcheck.ops.rules import one_axis
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas

_SHARE = Domain(low=0.0, high=1.0, sample=Sample("uniform", (0.1, 0.9)))
_BATCHES = "Every axis but the last is a batch axis: each of their places has a loss of its own."
_SYMBOLS = {"y_true": "t", "y_pred": "p", "out": "y"}
_EXAMPLE: Mapping[str, Shape] = {"y_true": (2, 3), "y_pred": (2, 3)}
_TARGETS = "The targets have a gradient too; who holds them fixed never asks for it."


def _pairs(call: Call) -> Shape:
    true, predicted = call.shapes["y_true"], call.shapes["y_pred"]
    if true != predicted or not true:
        raise ShapeError(
            f"y_true {list(true)} and y_pred {list(predicted)} must have the same shape, not a "
            "scalar's"
        )
    return true


def _loss_shape(call: Call) -> Shape:
    return _pairs(call)[:-1]


def _along_axis(call: Call) -> Shape:
    shape = _pairs(call)
    axis = one_axis(call.args["axis"], len(shape))
    return (*shape[:axis], *shape[axis + 1 :])


def _loss(
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
        count = "" if total else f" / {_pairs(call)[-1]}"
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
        shape=_loss_shape,
        real_only=True,
        args=args or {},
        symbols=_SYMBOLS,
        batches=_BATCHES,
        undefined=undefined,
        derivation=_written(why, true, predicted) if why else (),
        example=Example(_EXAMPLE),
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


_ERROR = "(y_pred - y_true)"
_HUBER = f"where(abs{_ERROR} <= delta, {_ERROR}, delta * sign{_ERROR})"
_MARGIN = "(1 - y_true * y_pred)"
_NEARLY = "1e-07"

_MEANS = (
    _loss(
        "mean_squared_error",
        "MSE",
        "y = the mean of (p - t)² along the last axis",
        f"square{_ERROR}",
        "The factor 2 stays, and the divisor is the size of the last axis alone.",
        _TARGETS,
        true=f"(-2 * {_ERROR})",
        predicted=f"(2 * {_ERROR})",
        related=("mean_absolute_error", "huber", "l2_loss", "squared_difference"),
    ),
    _loss(
        "mean_absolute_error",
        "MAE",
        "y = the mean of |p - t| along the last axis",
        f"abs{_ERROR}",
        "The gradient has the same size near the target as far from it: it does not vanish.",
        _TARGETS,
        true=f"(-sign{_ERROR})",
        predicted=f"sign{_ERROR}",
        undefined=("Where a prediction meets its target there is a kink.",),
    ),
    _loss(
        "mean_absolute_percentage_error",
        "MAPE",
        "y = the mean of 100·|t - p|/|t| along the last axis",
        "100 * abs((y_true - y_pred) / y_true)",
        "The targets stand in the divisor: near a target of 0 the gradient has no bound.",
        "The factor 100 is part of the gradient.",
        true="(100 * sign((y_true - y_pred) / y_true) * y_pred / square(y_true))",
        predicted="(-100 * sign((y_true - y_pred) / y_true) / y_true)",
        domains=(Domain(sample=Sample("nonzero"), kinks=(0.0,)), ANYWHERE),
        undefined=("At a target of 0; where a prediction meets its target there is a kink.",),
    ),
    _loss(
        "mean_squared_logarithmic_error",
        "MSLE",
        "y = the mean of (log(1 + p) - log(1 + t))² along the last axis",
        "square(log(1 + y_pred) - log(1 + y_true))",
        "The slope is divided by 1 + p: large predictions get small gradients.",
        true="(-2 * (log(1 + y_pred) - log(1 + y_true)) / (1 + y_true))",
        predicted="(2 * (log(1 + y_pred) - log(1 + y_true)) / (1 + y_pred))",
        domains=(POSITIVE, POSITIVE),
    ),
    _loss(
        "huber",
        "huber",
        "y = the mean of e²/2 where |e| ≤ delta, else of delta·|e| - delta²/2, for e = p - t",
        f"where(abs{_ERROR} <= delta, square{_ERROR} / 2, delta * abs{_ERROR} - delta * delta / 2)",
        "The gradient is clipped at ±delta, the loss is not.",
        "Its slope has no jump at |e| = delta, but a bend: second derivatives jump there.",
        true=f"(-{_HUBER})",
        predicted=_HUBER,
        args={"delta": 1.0},
        why="Let e = p - t. Within delta the term is e²/2, with the slope e; beyond it is a "
        "straight line, with the slope delta times the sign of e. By t the slope is the opposite.",
        related=("mean_squared_error", "mean_absolute_error", "log_cosh"),
    ),
    _loss(
        "log_cosh",
        "logcosh",
        "y = the mean of log cosh(p - t) along the last axis",
        f"{_ERROR} + softplus(-2 * {_ERROR}) - float32(log(2))",
        "The slope is tanh of the error: near 0 the error itself, far from it ±1.",
        Seen(
            "Keras rounds log 2 to float32: also in float64 the loss at p = t is -1.9e-9, and the "
            "gradient is none the worse.",
            {"y_true": [[0.5]], "y_pred": [[0.5]]},
            {"y_pred": [[0.0]]},
            out=[-1.904654323148236e-09],
        ),
        true=f"(-tanh{_ERROR})",
        predicted=f"tanh{_ERROR}",
        why="With e = p - t, e + log(1 + exp(-2·e)) - log 2 is log cosh e, in a form that does not "
        "grow too large. cosh has the slope sinh, and log the slope one over: by the chain rule "
        "log cosh has the slope sinh/cosh, which is tanh.",
        related=("huber", "mean_squared_error", "tanh"),
    ),
    _loss(
        "poisson",
        "poisson",
        "y = the mean of p - t·log p along the last axis",
        f"y_pred - y_true * log(y_pred + {_NEARLY})",
        "It is smallest at p = t, but it is not 0 there: the part that depends on t alone is left "
        "out.",
        Seen(
            "At p = 0 the slope is 1 - 1e7·t: Keras adds 1e-7 under the logarithm.",
            {"y_true": [[1.0]], "y_pred": [[0.0]]},
            {"y_pred": [[1.0 - 1e7]]},
        ),
        true=f"(-log(y_pred + {_NEARLY}))",
        predicted=f"(1 - y_true / (y_pred + {_NEARLY}))",
        domains=(POSITIVE, POSITIVE),
        related=("log_poisson_loss", "kl_divergence", "mean_squared_error"),
    ),
    _loss(
        "hinge",
        "hinge",
        "y = the mean of max(1 - t·p, 0) along the last axis, for targets of -1 and 1",
        f"maximum({_MARGIN}, 0)",
        "Beyond the margin, where t·p > 1, the gradient is 0: nothing is learnt from such pairs.",
        Seen(
            "Targets that are all 0 or 1 are taken for -1 and 1, and have no gradient then.",
            {"y_true": [[0.0, 1.0]], "y_pred": [[0.5, 0.5]]},
            {"y_pred": [[0.5, -0.5]]},
        ),
        true=f"where({_MARGIN} > 0, -y_pred, 0)",
        predicted=f"where({_MARGIN} > 0, -y_true, 0)",
        undefined=("At t·p = 1 there is a kink.",),
        why="Where t·p < 1 the term is 1 - t·p, whose slope by p is -t and by t is -p; where "
        "t·p > 1 it is 0, and stays 0.",
        related=("squared_hinge", "categorical_hinge", "relu"),
    ),
    _loss(
        "squared_hinge",
        "squared_hinge",
        "y = the mean of max(1 - t·p, 0)² along the last axis, for targets of -1 and 1",
        f"square(maximum({_MARGIN}, 0))",
        "Unlike that of hinge, the slope has no jump at the margin: it falls to 0 there.",
        true=f"(-2 * maximum({_MARGIN}, 0) * y_pred)",
        predicted=f"(-2 * maximum({_MARGIN}, 0) * y_true)",
        related=("hinge", "mean_squared_error"),
    ),
    _loss(
        "kl_divergence",
        "KLD",
        "y = Σ t·log(t/p) along the last axis",
        "y_true * log(y_true / y_pred)",
        "By the predictions the slope is -t/p: it does not vanish at p = t, where the loss is "
        "smallest only among predictions that sum to one.",
        Seen(
            "Keras holds both between 1e-7 and 1: a prediction above 1 gets no gradient.",
            {"y_true": [[0.5]], "y_pred": [[1.5]]},
            {"y_pred": [[0.0]]},
        ),
        true="(log(y_true / y_pred) + 1)",
        predicted="(-y_true / y_pred)",
        total=True,
        domains=(_SHARE, _SHARE),
        related=("categorical_crossentropy", "poisson", "xlogy"),
    ),
    _loss(
        "binary_crossentropy",
        "binary_crossentropy",
        "y = the mean of -t·log p - (1 - t)·log(1 - p) along the last axis",
        "-y_true * log(y_pred) - (1 - y_true) * log(1 - y_pred)",
        "The divisor p·(1 - p) vanishes at 0 and 1; with logits it cancels, and the slope is "
        "σ(x) - t.",
        "Applying a sigmoid first and asking for logits takes it twice.",
        true="(log(1 - y_pred) - log(y_pred))",
        predicted="((y_pred - y_true) / (y_pred * (1 - y_pred)))",
        domains=(_SHARE, _SHARE),
        related=("sigmoid_cross_entropy_with_logits", "categorical_crossentropy"),
    ),
)

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

_OTHERS = (
    Op(
        name="categorical_crossentropy",
        tf="tf.keras.losses.categorical_crossentropy",
        family="loss",
        summary="y = -Σ t·log(p/Σ p) along the last axis",
        inputs=(Parameter("y_true", _SHARE), Parameter("y_pred", _SHARE)),
        formula={
            "y_true": f"-expand_dims(G, -1) * log(y_pred / {_TOTAL})",
            "y_pred": f"expand_dims(G, -1) * (sum(y_true, -1, True) / {_TOTAL} - y_true / y_pred)",
        },
        forward=f"-sum(y_true * log(y_pred / {_TOTAL}), -1)",
        tangent=f"sum((sum(y_true, -1, True) / {_TOTAL} - y_true / y_pred) * dy_pred, -1) - "
        f"sum(log(y_pred / {_TOTAL}) * dy_true, -1)",
        shape=_loss_shape,
        real_only=True,
        symbols=_SYMBOLS,
        batches=_BATCHES,
        derivation=_CATEGORICAL,
        example=Example(_EXAMPLE),
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
        symbols=_SYMBOLS,
        batches="Every axis but `axis` is a batch axis: each pair of vectors along it has a loss "
        "of its own.",
        derivation=_COSINE,
        undefined=("Where one of the vectors is 0.",),
        example=Example(_EXAMPLE),
        related=("l2_normalize", "norm", "mean_squared_error"),
        pitfalls=(
            "It is the negative cosine: -1 is the best value.",
            "The gradient is perpendicular to the vector: its length cannot be learned.",
        ),
    ),
)

OPS = (*_MEANS, *_OTHERS)
