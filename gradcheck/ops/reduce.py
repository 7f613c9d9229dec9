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
    tf: str = "",
) -> Op:
    """A reduction over `axis` (one, several, or None for all), named `tf.<name>`."""
    return Op(
        name=name,
        tf=tf or f"tf.{name}",
        family="reduce",
        summary=summary,
        inputs=(Parameter("input_tensor", domain),),
        formula={"input_tensor": formula},
        shape=_reduced,
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


CENTRED = "(input_tensor - mean(input_tensor, axis, True))"

_VARIANCE = (
    Step("Name the deviations from the mean.", f"d := {CENTRED}"),
    Step(
        "The change of a square is twice its root times the change of the root; "
        "the mean moves too, "
        "by the mean of the changes.",
        "dout == 2 * mean(d * (dinput_tensor - mean(dinput_tensor, axis, True)), axis, keepdims)",
    ),
    Step(
        "But the deviations sum to zero, so the move of the mean drops out.",
        "dout == 2 * mean(d * dinput_tensor, axis, keepdims)",
    ),
    Step("An element therefore gets 2·d/n times G, n being how many were averaged."),
)

_DEVIATION = (
    Step(
        "The square of y is the variance.",
        f"square(out) == mean(square({CENTRED}), axis, keepdims)",
    ),
    Step(
        "Differentiate both sides; the mean's own move drops out, as the deviations sum to zero.",
        f"2 * out * dout == 2 * mean({CENTRED} * dinput_tensor, axis, keepdims)",
    ),
    Step("Divide by 2y: an element gets its deviation over n·y, times G."),
)

_RUNNING_PRODUCT = (
    Step(
        "Each output is a product of elements; with respect to one of them, its "
        "slope is the product of the others: y/x."
    ),
    Step(
        "So an element gets the sum of G·y over all the products that it takes "
        "part in, divided by itself."
    ),
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
    Step("So an element gets G times its share."),
)

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
        derivation=_LOGSUMEXP,
        related=("softmax", "log_softmax", "reduce_max"),
    ),
    reduction(
        "reduce_variance",
        "y = the variance of x along axes",
        f"mean(square({CENTRED}), axis, keepdims)",
        f"2 * {BACK} * {CENTRED} * size(out) / size(input_tensor)",
        "The divisor is n, not n - 1: this is not the sample variance.",
        "The mean depends on x too, but its share cancels: the deviations sum to zero.",
        PUT_BACK,
        tangent=f"2 * mean({CENTRED} * dinput_tensor, axis, keepdims)",
        derivation=_VARIANCE,
        related=("reduce_std", "reduce_mean", "layer_norm"),
        tf="tf.math.reduce_variance",
    ),
    reduction(
        "reduce_std",
        "y = the standard deviation of x along axes",
        f"sqrt(mean(square({CENTRED}), axis, keepdims))",
        f"{BACK} * {CENTRED} * size(out) / (size(input_tensor) * {OUT_BACK})",
        "Where all elements are equal it is 0/0: NaN.",
        "The divisor is n, not n - 1.",
        PUT_BACK,
        tangent=f"mean({CENTRED} * dinput_tensor, axis, keepdims) / out",
        derivation=_DEVIATION,
        undefined=("Where all elements along the axis are equal.",),
        related=("reduce_variance", "reduce_euclidean_norm"),
        tf="tf.math.reduce_std",
    ),
    reduction(
        "reduce_euclidean_norm",
        "y = √Σ x² along axes",
        "sqrt(sum(square(input_tensor), axis, keepdims))",
        f"{BACK} * input_tensor / {OUT_BACK}",
        "At the zero vector it is 0/0: NaN.",
        PUT_BACK,
        tangent="sum(input_tensor * dinput_tensor, axis, keepdims) / out",
        undefined=("At the zero vector: the norm has a kink there.",),
        related=("norm", "l2_normalize", "reduce_std"),
        tf="tf.math.reduce_euclidean_norm",
    ),
    Op(
        name="norm",
        tf="tf.norm",
        family="reduce",
        summary="y = ‖x‖ along axes",
        inputs=(Parameter("tensor"),),
        formula={
            "tensor": "unreduce(G, shape(tensor), axis, keepdims) * tensor / "
            "unreduce(out, shape(tensor), axis, keepdims)"
        },
        forward="sqrt(sum(square(tensor), axis, keepdims))",
        tangent="sum(tensor * dtensor, axis, keepdims) / out",
        shape=_reduced,
        real_only=True,
        args={"axis": None, "keepdims": False},
        aliases=("tf.linalg.norm",),
        undefined=("At the zero vector: the norm has a kink there.",),
        related=("reduce_euclidean_norm", "l2_normalize"),
        example=Example({"tensor": (2, 3)}, {"axis": 1}),
        pitfalls=(
            "At the zero vector it is 0/0: NaN; add a small number under the root by hand.",
            "Over two axes this is the norm of all elements, not the largest singular value.",
            PUT_BACK,
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
        derivation=_RUNNING_PRODUCT,
        undefined=(
            "Where an element is 0 the formula divides by 0, though the derivative exists.",
        ),
        pitfalls=(
            "Each element moves every product from its place on, not only its own.",
            "The division by x gives NaN where an element is 0, in TensorFlow too.",
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
        pitfalls=(
            "The gradient runs in the other direction: from the end to the beginning.",
            "An `exclusive` sum has an exclusive gradient.",
        ),
    ),
)
