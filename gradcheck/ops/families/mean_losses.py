"""Losses of regression and classification that average a term of each pair over the last axis."""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain
from gradcheck.ops.domains import POSITIVE
from gradcheck.ops.factories.mean_loss import SHARE, mean_loss
from gradcheck.ops.seen import Seen

_TARGETS = "The targets have a gradient too; who holds them fixed never asks for it."

_ERROR = "(y_pred - y_true)"
_HUBER = f"where(abs{_ERROR} <= delta, {_ERROR}, delta * sign{_ERROR})"
_MARGIN = "(1 - y_true * y_pred)"
_NEARLY = "1e-07"

OPS = (
    mean_loss(
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
    mean_loss(
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
    mean_loss(
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
    mean_loss(
        "mean_squared_logarithmic_error",
        "MSLE",
        "y = the mean of (log(1 + p) - log(1 + t))² along the last axis",
        "square(log(1 + y_pred) - log(1 + y_true))",
        "The slope is divided by 1 + p: large predictions get small gradients.",
        true="(-2 * (log(1 + y_pred) - log(1 + y_true)) / (1 + y_true))",
        predicted="(2 * (log(1 + y_pred) - log(1 + y_true)) / (1 + y_pred))",
        domains=(POSITIVE, POSITIVE),
    ),
    mean_loss(
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
    mean_loss(
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
    mean_loss(
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
    mean_loss(
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
        related=("squared_hinge", "mean_absolute_error", "relu"),
    ),
    mean_loss(
        "squared_hinge",
        "squared_hinge",
        "y = the mean of max(1 - t·p, 0)² along the last axis, for targets of -1 and 1",
        f"square(maximum({_MARGIN}, 0))",
        "Unlike that of hinge, the slope has no jump at the margin: it falls to 0 there.",
        true=f"(-2 * maximum({_MARGIN}, 0) * y_pred)",
        predicted=f"(-2 * maximum({_MARGIN}, 0) * y_true)",
        related=("hinge", "mean_squared_error"),
    ),
    mean_loss(
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
        domains=(SHARE, SHARE),
        related=("categorical_crossentropy", "poisson", "xlogy"),
    ),
    mean_loss(
        "binary_crossentropy",
        "binary_crossentropy",
        "y = the mean of -t·log p - (1 - t)·log(1 - p) along the last axis",
        "-y_true * log(y_pred) - (1 - y_true) * log(1 - y_pred)",
        "The divisor p·(1 - p) vanishes at 0 and 1; with logits it cancels, and the slope is "
        "σ(x) - t.",
        "Applying a sigmoid first and asking for logits takes it twice.",
        true="(log(1 - y_pred) - log(y_pred))",
        predicted="((y_pred - y_true) / (y_pred * (1 - y_pred)))",
        domains=(SHARE, SHARE),
        related=("sigmoid_cross_entropy_with_logits", "categorical_crossentropy"),
    ),
)
