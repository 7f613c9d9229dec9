"""Ops that combine the elements along axes: sums, means, extremes, products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Derivation, Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import flag, only, several_axes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

BACK = "unreduce(G, shape(input_tensor), axis, keepdims)"
"""The upstream gradient, repeated along the axes that the reduction took away."""

OUT_BACK = BACK.replace("G", "out")

SEPARATE = Domain(sample=Sample("distinct"))

PUT_BACK = "Without `keepdims` the lost axis must be put back before G is repeated along it."


def reduced_shape(call: Call) -> Shape:
    """What the named axes leave; with `keepdims` they stay, with size 1."""
    shape = only(call)
    gone = several_axes(call.args["axis"], len(shape))
    if flag(call, "keepdims"):
        return tuple(1 if axis in gone else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def count(call: Call) -> int:
    """How many elements come together in one of the output."""
    shape = only(call)
    return math.prod(shape[axis] for axis in several_axes(call.args["axis"], len(shape)))


def reduction(
    name: str,
    summary: str,
    forward: str,
    formula: str,
    *pitfalls: str,
    related: tuple[str, ...],
    domain: Domain = ANYWHERE,
    tangent: str = "",
    derivation: Derivation = (),
    undefined: tuple[str, ...] = (),
    tf: str = "",
) -> Op:
    """A reduction over `axis` (one, several, or None for all), named `tf.<name>`.

    COUNT in the formula stands for how many elements come together in one of the output.
    """
    return Op(
        name=name,
        tf=tf or f"tf.{name}",
        family="reduce",
        summary=summary,
        inputs=(Parameter("input_tensor", domain),),
        formula=(
            (lambda call: {"input_tensor": formula.replace("COUNT", str(count(call)))})
            if "COUNT" in formula
            else {"input_tensor": formula}
        ),
        shape=reduced_shape,
        args={"axis": None, "keepdims": False},
        aliases=() if tf else (f"tf.math.{name}",),
        pitfalls=pitfalls,
        forward=forward,
        tangent=tangent,
        derivation=derivation,
        related=related,
        undefined=undefined,
        example=Example({"input_tensor": (2, 3)}, {"axis": 1}),
    )


_LOGSUMEXP = (
    Step(
        "eʸ is the sum of the exponentials.", "exp(out) == sum(exp(input_tensor), axis, keepdims)"
    ),
    Step(
        "Differentiate both sides.",
        "exp(out) * dout == sum(exp(input_tensor) * dinput_tensor, axis, keepdims)",
    ),
    Step(
        "Divide by eʸ: each element counts with its share of the sum, which is the softmax.",
        f"dout == sum(exp(input_tensor - {OUT_BACK}) * dinput_tensor, axis, keepdims)",
    ),
    Step(
        "The loss changes by the inner product of G with dy: an element gets G times its share.",
        f"sum(G * dout) == sum({BACK} * exp(input_tensor - {OUT_BACK}) * dinput_tensor)",
    ),
)


def _weighted(sign: str, extreme: str) -> Derivation:
    weights = f"one_hot_max({sign}input_tensor, axis)"
    return (
        Step(
            f"Let w be 1 at the {extreme} element along the axis and 0 elsewhere; k elements that "
            "tie get 1/k each.",
            f"w := {weights}",
        ),
        Step(
            "The output is the sum of the elements with these weights, y[i] = Σⱼ w[i,j]·x[i,j].",
            "out == sum(w * input_tensor, axis, keepdims)",
        ),
        Step(
            "A small change of x moves the elements, but it does not change which of them is the "
            f"{extreme}: w stays, so ∂y[i]/∂x[m,n] = w[i,n]·δ[i,m].",
            "dout == sum(w * dinput_tensor, axis, keepdims)",
        ),
        Step(
            "The loss changes by Σᵢ G[i]·dy[i] = Σᵢⱼ G[i]·w[i,j]·dx[i,j]; what stands beside "
            "dx[i,j] is its gradient: G, repeated along the axis, times w.",
            f"sum(G * dout) == sum({BACK} * w * dinput_tensor)",
        ),
    )


_PRODUCT = (
    Step(
        "Let p be, at each element, the product of all the others along the axis.",
        "p := prod_others(input_tensor, axis)",
    ),
    Step(
        "For every element y[i] = x[i,j]·p[i,j], and p[i,j] does not contain x[i,j]: the slope is "
        "∂y[i]/∂x[i,j] = p[i,j], also where elements are 0.",
        f"{OUT_BACK} == input_tensor * p",
    ),
    Step(
        "All changes together move the output by their sum.",
        "dout == sum(p * dinput_tensor, axis, keepdims)",
    ),
    Step(
        "The loss changes by Σᵢ G[i]·dy[i]; what stands beside dx[i,j] is its gradient.",
        f"sum(G * dout) == sum({BACK} * p * dinput_tensor)",
    ),
)

OPS = (
    reduction(
        "reduce_sum",
        "y = Σ x along axes",
        "sum(input_tensor, axis, keepdims)",
        BACK,
        "Every summed element gets the same G: nothing is divided.",
        PUT_BACK,
        related=("reduce_mean", "cumsum", "broadcast_to"),
    ),
    reduction(
        "reduce_mean",
        "y = the mean of x along axes",
        "mean(input_tensor, axis, keepdims)",
        f"{BACK} / COUNT",
        "The divisor is the number of elements that were averaged, not the size of the input.",
        PUT_BACK,
        related=("reduce_sum", "reduce_variance", "avg_pool2d"),
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
        derivation=_weighted("", "largest"),
        related=("reduce_min", "maximum", "max_pool2d"),
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
        derivation=_weighted("-", "smallest"),
        related=("reduce_max", "minimum"),
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
        related=("cumprod", "reduce_sum", "reduce_logsumexp"),
    ),
    reduction(
        "reduce_logsumexp",
        "y = log Σ eˣ along axes",
        "log(sum(exp(input_tensor), axis, keepdims))",
        f"{BACK} * exp(input_tensor - {OUT_BACK})",
        "The derivative is the softmax, so the elements of the gradient sum to G.",
        "Computed by hand without subtracting the maximum it overflows from x = 710 on.",
        tangent=f"sum(exp(input_tensor - {OUT_BACK}) * dinput_tensor, axis, keepdims)",
        derivation=_LOGSUMEXP,
        related=("softmax", "log_softmax", "reduce_max"),
    ),
)
