"""Ops that combine the elements along axes: sums, means, extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Derivation, Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import flag, one_axis, only, several_axes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

BACK = "unreduce(G, shape(input_tensor), axis, keepdims)"
"""The upstream gradient, repeated along the axes that the reduction took away."""

OUT_BACK = BACK.replace("G", "out")

SEPARATE = Domain(sample=Sample("distinct"))

PUT_BACK = "Without `keepdims` the lost axis must be put back before G is repeated along it."


def _reduced(call: Call) -> Shape:
    shape = only(call)
    gone = several_axes(call.args["axis"], len(shape))
    if flag(call, "keepdims"):
        return tuple(1 if axis in gone else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def reduction(
    name: str,
    summary: str,
    forward: str,
    formula: str,
    *pitfalls: str,
    domain: Domain = ANYWHERE,
    tangent: str = "",
    derivation: Derivation = (),
    related: tuple[str, ...] = (),
    undefined: tuple[str, ...] = (),
) -> Op:
    """A reduction over `axis` (one, several, or None for all), named `tf.<name>`."""
    return Op(
        name=name,
        tf=f"tf.{name}",
        family="reduce",
        summary=summary,
        inputs=(Parameter("input_tensor", domain),),
        formula={"input_tensor": formula},
        shape=_reduced,
        args={"axis": None, "keepdims": False},
        aliases=(f"tf.math.{name}",),
        pitfalls=pitfalls,
        forward=forward,
        tangent=tangent,
        derivation=derivation,
        related=related,
        undefined=undefined,
        example=Example({"input_tensor": (2, 3)}, {"axis": 1}),
    )


def _same_shape(call: Call) -> Shape:
    shape = only(call)
    one_axis(call.args["axis"], len(shape))
    flag(call, "exclusive")
    flag(call, "reverse")
    return shape


def _cumsum_forward(call: Call) -> str:
    total = "flip(cumsum(flip(x, axis), axis), axis)" if call.args["reverse"] else "cumsum(x, axis)"
    return f"{total} - x" if call.args["exclusive"] else total


def _cumsum_formula(call: Call) -> dict[str, str]:
    # The gradient is the running sum of G in the other direction.
    total = "cumsum(G, axis)" if call.args["reverse"] else "flip(cumsum(flip(G, axis), axis), axis)"
    return {"x": f"{total} - G" if call.args["exclusive"] else total}


_EXTREME = (
    Step(
        "Of all elements along the axis the output follows one: w is 1 there and 0 elsewhere (k "
        "elements that tie get 1/k each). A small change of another element changes nothing.",
    ),
    Step("So G goes to that element alone: G is repeated along the axis and multiplied by w."),
)

_PRODUCT = (
    Step(
        "The product is linear in each element; its slope there is the product of the others.",
        "dout == sum(prod_others(input_tensor, axis) * dinput_tensor, axis, keepdims)",
    ),
    Step("Each element gets G times its slope."),
)

OPS = (
    reduction(
        "reduce_sum",
        "y = Σ x along axes",
        "sum(input_tensor, axis, keepdims)",
        BACK,
        "Every summed element gets the same G: nothing is divided.",
        PUT_BACK,
    ),
    reduction(
        "reduce_mean",
        "y = the mean of x along axes",
        "mean(input_tensor, axis, keepdims)",
        f"{BACK} * size(out) / size(input_tensor)",
        "The divisor is the number of elements that were averaged, not the size of the input.",
        PUT_BACK,
    ),
    reduction(
        "reduce_max",
        "y = the largest x along axes",
        "max(input_tensor, axis, keepdims)",
        f"{BACK} * one_hot_max(input_tensor, axis)",
        "Ties share G equally in TensorFlow; other frameworks choose the first.",
        "A check at tied values sees a kink, not a derivative.",
        PUT_BACK,
        domain=SEPARATE,
        tangent="sum(one_hot_max(input_tensor, axis) * dinput_tensor, axis, keepdims)",
        derivation=_EXTREME,
        undefined=("At ties the maximum has a kink.",),
    ),
    reduction(
        "reduce_min",
        "y = the smallest x along axes",
        "min(input_tensor, axis, keepdims)",
        f"{BACK} * one_hot_max(-input_tensor, axis)",
        "Ties share G equally in TensorFlow; other frameworks choose the first.",
        PUT_BACK,
        domain=SEPARATE,
        tangent="sum(one_hot_max(-input_tensor, axis) * dinput_tensor, axis, keepdims)",
        derivation=_EXTREME,
        undefined=("At ties the minimum has a kink.",),
    ),
    reduction(
        "reduce_prod",
        "y = Π x along axes",
        "prod(input_tensor, axis, keepdims)",
        f"{BACK} * conj(prod_others(input_tensor, axis))",
        "G·y/x breaks where an element is 0: the product of the others is still defined.",
        "Complex factors are conjugated.",
        PUT_BACK,
        domain=Domain(sample=Sample("nonzero")),
        tangent="sum(prod_others(input_tensor, axis) * dinput_tensor, axis, keepdims)",
        derivation=_PRODUCT,
    ),
    reduction(
        "reduce_logsumexp",
        "y = log Σ eˣ along axes",
        "log(sum(exp(input_tensor), axis, keepdims))",
        f"{BACK} * exp(input_tensor - {OUT_BACK})",
        "The derivative is the softmax, so the elements of the gradient sum to G.",
        "Computed by hand without subtracting the maximum it overflows from x = 710 on.",
        tangent=f"sum(exp(input_tensor - {OUT_BACK}) * dinput_tensor, axis, keepdims)",
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
        pitfalls=(
            "The gradient runs in the other direction: from the end to the beginning.",
            "An `exclusive` sum has an exclusive gradient.",
        ),
    ),
)
