"""Softmax and its logarithm, along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import one_axis, only
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


def _axis_kept(call: Call) -> Shape:
    shape = only(call)
    one_axis(call.args["axis"], len(shape))
    return shape


def _declare(
    name: str,
    summary: str,
    other: str,
    *,
    forward: str,
    formula: str,
    tangent: str,
    derivation: Derivation,
    pitfalls: tuple[str, ...],
) -> Op:
    return Op(
        name=name,
        tf=f"tf.nn.{name}",
        family="nn",
        summary=summary,
        inputs=(Parameter("logits"),),
        formula={"logits": formula},
        forward=forward,
        tangent=tangent,
        derivation=derivation,
        symbols={"logits": "x", "out": "y"},
        example=Example({"logits": (2, 3)}),
        related=(other, "softmax_cross_entropy_with_logits", "reduce_logsumexp"),
        batches="Every axis but `axis` is a batch axis: each row along it is by itself.",
        shape=_axis_kept,
        args={"axis": -1},
        pitfalls=pitfalls,
    )


_SOFTMAX = (
    Step("Name the exponentials and their sum.", "w := exp(logits)"),
    Step("", "s := sum(w, axis, True)"),
    Step("", "out == w / s"),
    Step(
        "Each exponential changes by itself times dx, and s by the sum of these.",
        "ds := sum(w * dlogits, axis, True)",
    ),
    Step("By the quotient rule", "dout == (w * dlogits) / s - w * ds / square(s)"),
    Step(
        "In both terms w/s is y again: y moves by y times how far dx is above its mean under y.",
        "dout == out * (dlogits - sum(out * dlogits, axis, True))",
    ),
    Step(
        "The change of the loss is the inner product of G with dy. Written out, it is a "
        "double sum over the row in which the two indices may be swapped: the same formula, with G "
        "in the place of dx, stands beside dx.",
        "sum(G * dout) == sum(out * (G - sum(G * out, axis, True)) * dlogits)",
    ),
)

_LOG_SOFTMAX = (
    Step("p is the softmax.", "p := exp(logits) / sum(exp(logits), axis, True)"),
    Step("", "out == log(p)"),
    Step(
        "log Σ eˣ changes by the mean of dx under p; y by what dx is above that.",
        "dout == dlogits - sum(p * dlogits, axis, True)",
    ),
    Step(
        "Multiply by G and sum. In the second part the sum of G over the row stands beside p·dx.",
        "sum(G * dout) == sum((G - p * sum(G, axis, True)) * dlogits)",
    ),
    Step("p is exp(y), which is at hand.", "p == exp(out)"),
)

OPS = (
    _declare(
        "softmax",
        "y = eˣ / Σ eˣ along an axis",
        "log_softmax",
        forward="exp(logits) / sum(exp(logits), axis, True)",
        formula="out * (G - sum(G * out, axis, True))",
        tangent="out * (dlogits - sum(dlogits * out, axis, True))",
        derivation=_SOFTMAX,
        pitfalls=(
            "The Jacobian is not diagonal: every output depends on every logit of its row.",
            "With an upstream of ones the gradient is exactly 0, so a check with ones passes "
            "for a backward pass that returns nothing.",
            "The inner sum keeps its axis; without that it broadcasts along the wrong one.",
        ),
    ),
    _declare(
        "log_softmax",
        "y = x - log Σ eˣ along an axis",
        "softmax",
        forward="logits - log(sum(exp(logits), axis, True))",
        formula="G - exp(out) * sum(G, axis, True)",
        tangent="dlogits - sum(exp(out) * dlogits, axis, True)",
        derivation=_LOG_SOFTMAX,
        pitfalls=(
            "The sum runs over G, and exp(out) is the softmax: not the other way round.",
            Seen(
                "log(softmax(x)) by hand underflows, and its gradient is NaN there.",
                {"x": [0.0, 800.0]},
                {"x": ["nan", "nan"]},
                out=["-inf", 0.0],
                expr="tf.math.log(tf.nn.softmax(x))",
            ),
            Seen(
                "This op is right there.",
                {"logits": [0.0, 800.0]},
                {"logits": [1.0, -1.0]},
                out=[-800.0, 0.0],
            ),
        ),
    ),
)
