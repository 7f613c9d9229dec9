"""Ops that combine the elements along axes: sums, means, extremes, products, variances, norms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Step
from gradcheck.ops.factories.reduction import reduction
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Derivation

_G_ALONG = "unreduce(G, shape(input_tensor), axis, keepdims)"
"""The upstream gradient, repeated along the axes that the reduction took away."""

_OUT_ALONG = _G_ALONG.replace("G", "out")
"""The output, repeated in the same way."""

_AXIS_RETURNS = "Without `keepdims` the lost axis must be put back before G is repeated along it."

# Ties have no derivative.
_NO_TIES = Domain(sample=Sample("distinct"))

_CENTRED = "(input_tensor - mean(input_tensor, axis, True))"

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
        f"dout == sum(exp(input_tensor - {_OUT_ALONG}) * dinput_tensor, axis, keepdims)",
    ),
    Step(
        "The loss changes by the inner product of G with dy: an element gets G times its share.",
        f"sum(G * dout) == sum({_G_ALONG} * exp(input_tensor - {_OUT_ALONG}) * dinput_tensor)",
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
            "The output is the sum of the elements with these weights.",
            "out == sum(w * input_tensor, axis, keepdims)",
        ),
        Step(
            "A small change of x moves the elements, but it does not change which of them is the "
            f"{extreme}: w stays, and is the slope.",
            "dout == sum(w * dinput_tensor, axis, keepdims)",
        ),
        Step(
            "The loss changes by the sum of G ⊙ dy. With dy inserted, what stands beside an "
            "element of dx is its gradient: G, repeated along what was reduced, times w.",
            f"sum(G * dout) == sum({_G_ALONG} * w * dinput_tensor)",
        ),
    )


_PRODUCT = (
    Step(
        "Let p be, at each element, the product of all the others along the axis.",
        "p := prod_others(input_tensor, axis)",
    ),
    Step(
        "Each element times its p is the output, and its p does not contain the element: p is the "
        "slope, also where elements are 0.",
        f"{_OUT_ALONG} == input_tensor * p",
    ),
    Step(
        "All changes together move the output by their sum.",
        "dout == sum(p * dinput_tensor, axis, keepdims)",
    ),
    Step(
        "The loss changes by the sum of G ⊙ dy; what stands beside an element of dx is its "
        "gradient.",
        f"sum(G * dout) == sum({_G_ALONG} * p * dinput_tensor)",
    ),
)

_VARIANCE = (
    Step("Name the deviations from the mean.", f"d := {_CENTRED}"),
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
    Step(
        "The loss changes by the inner product of G with dy; a mean divides by n, how many were "
        "averaged. So an element gets 2·d/n times G.",
        f"sum(G * dout) == sum(2 * {_G_ALONG} * d * dinput_tensor) * size(out) / "
        "size(input_tensor)",
    ),
)

_STANDARD_DEVIATION = (
    Step(
        "The square of y is the variance, the mean of the squared deviations from the mean.",
        f"d := {_CENTRED}",
    ),
    Step("", "square(out) == mean(square(d), axis, keepdims)"),
    Step(
        "Differentiate both sides; the mean's own move drops out, as the deviations sum to zero.",
        "2 * out * dout == 2 * mean(d * dinput_tensor, axis, keepdims)",
    ),
    Step("Divide by 2y.", "dout == mean(d * dinput_tensor, axis, keepdims) / out"),
    Step(
        "The loss changes by the inner product of G with dy; a mean divides by n, how many were "
        "averaged. So an element gets its deviation over n·y, times G.",
        f"sum(G * dout) == sum({_G_ALONG} * d / {_OUT_ALONG} * dinput_tensor) * size(out) / "
        "size(input_tensor)",
    ),
)

OPS = (
    reduction(
        "reduce_sum",
        "y = Σ x along axes",
        "sum(input_tensor, axis, keepdims)",
        _G_ALONG,
        "Every summed element gets the same G: nothing is divided.",
        _AXIS_RETURNS,
        related=("reduce_mean", "cumsum", "broadcast_to"),
    ),
    reduction(
        "reduce_mean",
        "y = the mean of x along axes",
        "mean(input_tensor, axis, keepdims)",
        f"{_G_ALONG} / COUNT",
        "The divisor is the number of elements that were averaged, not the size of the input.",
        _AXIS_RETURNS,
        related=("reduce_sum", "reduce_variance", "avg_pool2d"),
    ),
    reduction(
        "reduce_max",
        "y = the largest x along axes",
        "max(input_tensor, axis, keepdims)",
        f"{_G_ALONG} * one_hot_max(input_tensor, axis)",
        Seen(
            "Ties share G equally in TensorFlow.",
            {"input_tensor": [1.0, 1.0]},
            {"input_tensor": [0.5, 0.5]},
        ),
        "A check at tied values sees a kink, not a derivative.",
        _AXIS_RETURNS,
        domain=_NO_TIES,
        tangent="sum(one_hot_max(input_tensor, axis) * dinput_tensor, axis, keepdims)",
        derivation=_weighted("", "largest"),
        related=("reduce_min", "maximum", "max_pool2d"),
        undefined=("At ties the maximum has a kink.",),
    ),
    reduction(
        "reduce_min",
        "y = the smallest x along axes",
        "min(input_tensor, axis, keepdims)",
        f"{_G_ALONG} * one_hot_max(-input_tensor, axis)",
        Seen(
            "Ties share G equally in TensorFlow.",
            {"input_tensor": [1.0, 1.0]},
            {"input_tensor": [0.5, 0.5]},
        ),
        _AXIS_RETURNS,
        domain=_NO_TIES,
        tangent="sum(one_hot_max(-input_tensor, axis) * dinput_tensor, axis, keepdims)",
        derivation=_weighted("-", "smallest"),
        related=("reduce_max", "minimum"),
        undefined=("At ties the minimum has a kink.",),
    ),
    reduction(
        "reduce_prod",
        "y = Π x along axes",
        "prod(input_tensor, axis, keepdims)",
        f"{_G_ALONG} * conj(prod_others(input_tensor, axis))",
        "G·y/x breaks where an element is 0: the product of the others is still defined.",
        "Complex factors are conjugated.",
        _AXIS_RETURNS,
        domain=Domain(sample=Sample("nonzero")),
        tangent="sum(prod_others(input_tensor, axis) * dinput_tensor, axis, keepdims)",
        derivation=_PRODUCT,
        related=("cumprod", "reduce_sum", "reduce_logsumexp"),
    ),
    reduction(
        "reduce_logsumexp",
        "y = log Σ eˣ along axes",
        "log(sum(exp(input_tensor), axis, keepdims))",
        f"{_G_ALONG} * exp(input_tensor - {_OUT_ALONG})",
        "The derivative is the softmax, so the elements of the gradient sum to G.",
        Seen(
            "Computed by hand without subtracting the maximum it overflows from x = 710 on.",
            {"x": [710.0, 0.0]},
            {"x": ["nan", 0.0]},
            out="inf",
            expr="tf.math.log(tf.reduce_sum(tf.exp(x)))",
        ),
        tangent=f"sum(exp(input_tensor - {_OUT_ALONG}) * dinput_tensor, axis, keepdims)",
        derivation=_LOGSUMEXP,
        related=("softmax", "log_softmax", "reduce_max"),
    ),
    reduction(
        "reduce_variance",
        "y = the variance of x along axes",
        f"mean(square({_CENTRED}), axis, keepdims)",
        f"2 * {_G_ALONG} * {_CENTRED} / COUNT",
        "The divisor is n, not n - 1: this is not the sample variance.",
        "The mean depends on x too, but its share cancels: the deviations sum to zero.",
        _AXIS_RETURNS,
        tangent=f"2 * mean({_CENTRED} * dinput_tensor, axis, keepdims)",
        derivation=_VARIANCE,
        related=("reduce_std", "reduce_mean", "layer_norm"),
        tf="tf.math.reduce_variance",
    ),
    reduction(
        "reduce_std",
        "y = the standard deviation of x along axes",
        f"sqrt(mean(square({_CENTRED}), axis, keepdims))",
        f"{_G_ALONG} * {_CENTRED} / (COUNT * {_OUT_ALONG})",
        Seen(
            "Where all elements are equal it is 0/0: NaN.",
            {"input_tensor": [1.0, 1.0]},
            {"input_tensor": ["nan", "nan"]},
        ),
        "The divisor is n, not n - 1.",
        _AXIS_RETURNS,
        tangent=f"mean({_CENTRED} * dinput_tensor, axis, keepdims) / out",
        derivation=_STANDARD_DEVIATION,
        undefined=("Where all elements along the axis are equal.",),
        related=("reduce_variance", "reduce_euclidean_norm"),
        tf="tf.math.reduce_std",
    ),
    reduction(
        "reduce_euclidean_norm",
        "y = √Σ x² along axes",
        "sqrt(sum(square(input_tensor), axis, keepdims))",
        f"{_G_ALONG} * input_tensor / {_OUT_ALONG}",
        Seen(
            "At the zero vector it is 0/0: NaN.",
            {"input_tensor": [0.0, 0.0]},
            {"input_tensor": ["nan", "nan"]},
        ),
        _AXIS_RETURNS,
        tangent="sum(input_tensor * dinput_tensor, axis, keepdims) / out",
        undefined=("At the zero vector: the norm has a kink there.",),
        related=("norm", "l2_normalize", "reduce_std"),
        tf="tf.math.reduce_euclidean_norm",
    ),
)
