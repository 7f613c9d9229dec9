"""Running sums and products along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import flag, one_axis, only
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation

_OTHER_AXES_ARE_APART = "Every axis but the one of the running sum or product is a batch axis."


def _same_shape(call: Call) -> Shape:
    shape = only(call)
    one_axis(call.args["axis"], len(shape))
    flag(call, "exclusive")
    flag(call, "reverse")
    return shape


def _running(text: str, call: Call, *, back: bool) -> str:
    """The running sum of a text along the axis: forwards, or from the end."""
    total = f"flip(cumsum(flip({text}, axis), axis), axis)" if back else f"cumsum({text}, axis)"
    return f"({total} - {text})" if call.args["exclusive"] else total


def _cumprod_forward(call: Call) -> str:
    total = (
        "flip(cumprod(flip(x, axis), axis), axis)" if call.args["reverse"] else "cumprod(x, axis)"
    )
    return f"{total} / x" if call.args["exclusive"] else total


def _cumprod_formula(call: Call) -> dict[str, str]:
    return {"x": f"{_running('(G * out)', call, back=not call.args['reverse'])} / x"}


def _cumprod_tangent(call: Call) -> str:
    return f"out * {_running('(dx / x)', call, back=bool(call.args['reverse']))}"


def _cumsum_forward(call: Call) -> str:
    total = "flip(cumsum(flip(x, axis), axis), axis)" if call.args["reverse"] else "cumsum(x, axis)"
    return f"{total} - x" if call.args["exclusive"] else total


def _cumsum_formula(call: Call) -> dict[str, str]:
    # The gradient is the running sum of G in the other direction.
    total = "cumsum(G, axis)" if call.args["reverse"] else "flip(cumsum(flip(G, axis), axis), axis)"
    return {"x": f"{total} - G" if call.args["exclusive"] else total}


def _running_product(call: Call) -> Derivation:
    which = "k > i" if call.args["reverse"] else "k < i"
    if not call.args["exclusive"]:
        which = which.replace(">", "≥").replace("<", "≤")
    moved = _running("(dx / x)", call, back=bool(call.args["reverse"]))
    gathered = _running("(G * out)", call, back=not call.args["reverse"])
    return (
        Step(
            "Write i and k for places along the axis; the other axes are carried along. "
            f"y[i] is the product of the x[k] with {which}. By the product rule dy[i] is a sum "
            "over these k: dx[k] times the product of all the others, which is y[i]/x[k]. So dy "
            "is y times a running sum.",
            f"dout == out * {moved}",
        ),
        Step(
            "The loss changes by Σᵢ G[i]·dy[i]: a double sum over i and k of G[i]·y[i]·dx[k]/x[k]. "
            f"Sum over i first: beside dx[k] stands G·y, summed over all i with {which}, a running "
            "sum in the other direction, over x[k]. That is the gradient.",
            f"sum(G * dout) == sum({gathered} / x * dx)",
        ),
    )


def _logsum_forward(call: Call) -> str:
    return f"log({_plain_running('exp(x)', back=bool(call.args['reverse']))})"


def _plain_running(text: str, *, back: bool) -> str:
    return f"flip(cumsum(flip({text}, axis), axis), axis)" if back else f"cumsum({text}, axis)"


def _logsum_formula(call: Call) -> dict[str, str]:
    back = not call.args["reverse"]
    return {"x": f"exp(x) * {_plain_running('(G * exp(-out))', back=back)}"}


def _logsum_tangent(call: Call) -> str:
    return f"exp(-out) * {_plain_running('(exp(x) * dx)', back=bool(call.args['reverse']))}"


def _logsum_shape(call: Call) -> Shape:
    shape = only(call)
    one_axis(call.args["axis"], len(shape))
    flag(call, "reverse")
    return shape


def _running_logarithm(call: Call) -> Derivation:
    gathered = _plain_running("(G * exp(-out))", back=not call.args["reverse"])
    return (
        Step(
            "e to the y is a running sum; differentiate both sides: dy times e to the y is the "
            "running sum of the changes.",
            f"dout == {_logsum_tangent(call)}",
        ),
        Step(
            "The loss changes by the inner product of G with dy, a double sum over the places of y "
            "and those of x. Sum over the places of y first: beside each dx stands e to the x "
            "times a running sum in the other direction, of G over e to the y.",
            f"sum(G * dout) == sum(exp(x) * {gathered} * dx)",
        ),
    )


OPS = (
    Op(
        name="cumulative_logsumexp",
        tf="tf.math.cumulative_logsumexp",
        family="reduce",
        summary="y = the logarithm of the running sum of eˣ along an axis",
        inputs=(Parameter("x", Domain(sample=Sample("uniform", (-2.0, 2.0)))),),
        formula=_logsum_formula,
        forward=_logsum_forward,
        tangent=_logsum_tangent,
        shape=_logsum_shape,
        real_only=True,
        args={"axis": 0, "reverse": False},
        example=Example({"x": (4,)}),
        related=("cumsum", "reduce_logsumexp", "softmax"),
        derivation=_running_logarithm,
        batches=_OTHER_AXES_ARE_APART,
        pitfalls=(
            "The gradient runs in the other direction, and e to the y stands inside of its sum.",
            Seen(
                "Computed by hand, as the logarithm of a running sum, it overflows from x = 710 "
                "on; this op does not.",
                {"x": [710.0, 0.0]},
                {"x": [2.0, 0.0]},
            ),
        ),
    ),
    Op(
        name="cumprod",
        tf="tf.math.cumprod",
        family="reduce",
        summary="y = the running product of x along an axis",
        inputs=(Parameter("x", Domain(sample=Sample("nonzero"))),),
        formula=_cumprod_formula,
        forward=_cumprod_forward,
        tangent=_cumprod_tangent,
        shape=_same_shape,
        args={"axis": 0, "exclusive": False, "reverse": False},
        example=Example({"x": (4,)}),
        related=("cumsum", "reduce_prod"),
        derivation=_running_product,
        batches=_OTHER_AXES_ARE_APART,
        undefined=(
            "Where an element is 0 the formula divides by 0, though the derivative exists.",
        ),
        pitfalls=(
            "Each element moves every product from its place on, not only its own.",
            Seen(
                "Where an element is 0 TensorFlow silently gives 0, to it and to all behind it, "
                "though the slope of the zero itself is the product of the others.",
                {"x": [1.0, 0.0, 2.0, 3.0]},
                {"x": [1.0, 0.0, 0.0, 0.0]},
            ),
        ),
    ),
    Op(
        name="cumsum",
        tf="tf.cumsum",
        family="reduce",
        summary="y = the running sum of x along an axis",
        inputs=(Parameter("x"),),
        formula=_cumsum_formula,
        forward=_cumsum_forward,
        example=Example({"x": (4,)}),
        shape=_same_shape,
        args={"axis": 0, "exclusive": False, "reverse": False},
        aliases=("tf.math.cumsum",),
        batches=_OTHER_AXES_ARE_APART,
        related=("cumprod", "reduce_sum"),
        pitfalls=(
            "The gradient runs in the other direction: from the end to the beginning.",
            "An `exclusive` sum has an exclusive gradient.",
        ),
    ),
)
