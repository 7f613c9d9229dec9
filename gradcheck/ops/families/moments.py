"""Variance, deviation and norms along axes."""

from __future__ import annotations

from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.families.reductions import BACK, OUT_BACK, PUT_BACK, reduced_shape, reduction

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
    Step(
        "The loss changes by the inner product of G with dy; a mean divides by n, how many were "
        "averaged. So an element gets 2·d/n times G.",
        f"sum(G * dout) == sum(2 * {BACK} * d * dinput_tensor) * size(out) / size(input_tensor)",
    ),
)

_DEVIATION = (
    Step(
        "The square of y is the variance, the mean of the squared deviations from the mean.",
        f"d := {CENTRED}",
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
        f"sum(G * dout) == sum({BACK} * d / {OUT_BACK} * dinput_tensor) * size(out) / "
        "size(input_tensor)",
    ),
)

OPS = (
    reduction(
        "reduce_variance",
        "y = the variance of x along axes",
        f"mean(square({CENTRED}), axis, keepdims)",
        f"2 * {BACK} * {CENTRED} / COUNT",
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
        f"{BACK} * {CENTRED} / (COUNT * {OUT_BACK})",
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
        shape=reduced_shape,
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
)
