"""Mean and variance together, direction and length together: two outputs of one op."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import flag, only, several_axes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Formulas


def _moments_shape(call: Call) -> Shape:
    shape = only(call)
    gone = several_axes(call.args["axes"], len(shape))
    if flag(call, "keepdims"):
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def _letters(call: Call) -> dict[str, str]:
    """A letter for each axis of x, and for those that are left."""
    rank, kept = len(only(call)), flag(call, "keepdims")
    gone = several_axes(call.args["axes"], rank)
    letters = "ijklpqrs"[:rank]
    left = "".join("1" * kept if i in gone else a for i, a in enumerate(letters))
    return {"x": letters, "out[0]": left, "out[1]": left}


def _count(call: Call) -> int:
    shape = only(call)
    return math.prod(shape[i] for i in several_axes(call.args["axes"], len(shape)))


_CENTRED = "(x - mean(x, axes, True))"


def _along(upstream: str) -> str:
    return f"unreduce({upstream}, shape(x), axes, keepdims)"


def _moments_formula(call: Call) -> Formulas:
    spread = f"{_along('G[0]')} + 2 * {_along('G[1]')} * {_CENTRED}"
    return {"x": f"({spread}) / {_count(call)}"}


_MOMENTS = (
    Step("Let d be the deviations from the mean.", f"d := {_CENTRED}"),
    Step("The mean moves with the mean of dx.", "dout[0] == mean(dx, axes, keepdims)"),
    Step(
        "The variance is the mean of d². Each d moves with dx less the move of the mean; that part "
        "drops out, as the deviations sum to zero.",
        "dout[1] == 2 * mean(d * dx, axes, keepdims)",
    ),
    Step(
        "The loss changes by the inner products of both upstream gradients with both changes. A "
        "mean divides by n, how many were averaged.",
        f"sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum(({_along('G[0]')} + "
        f"2 * {_along('G[1]')} * d) * dx) * size(out[0]) / size(x)",
    ),
)


_NORM = "sqrt(sum(square(tensor), axis, True))"


def _normalize_shape(call: Call) -> Shape:
    shape = only(call)
    gone = several_axes(call.args["axis"], len(shape))
    return tuple(1 if i in gone else n for i, n in enumerate(shape))


OPS = (
    Op(
        name="moments",
        tf="tf.nn.moments",
        family="nn",
        batches="The axes that are not named are batch axes: each of their places has moments of "
        "its own.",
        summary="m, v = the mean and the variance of x along axes",
        inputs=(Parameter("x"),),
        formula=_moments_formula,
        forward=f"[mean(x, axes, keepdims), mean(square({_CENTRED}), axes, keepdims)]",
        tangent=f"[mean(dx, axes, keepdims), 2 * mean({_CENTRED} * dx, axes, keepdims)]",
        derivation=_MOMENTS,
        axes=_letters,
        shape=_moments_shape,
        shapes=lambda call: [_moments_shape(call)] * 2,
        outputs=("m", "v"),
        real_only=True,
        required=("axes",),
        args={"keepdims": False},
        example=Example({"x": (2, 3)}, {"axes": [0]}),
        related=("reduce_mean", "reduce_variance", "batch_norm_training"),
        pitfalls=(
            "The divisor is n, not n - 1: this is not the sample variance.",
            "Both outputs depend on x: who holds the mean fixed loses nothing in the variance, but "
            "all of the mean's own gradient.",
        ),
    ),
    Op(
        name="normalize",
        tf="tf.linalg.normalize",
        family="reduce",
        summary="u, n = x/‖x‖ and ‖x‖ along axes",
        inputs=(Parameter("tensor"),),
        formula={
            "tensor": f"(G[0] - out[0] * sum(G[0] * out[0], axis, True)) / {_NORM} + G[1] * out[0]"
        },
        forward=f"[tensor / {_NORM}, {_NORM}]",
        tangent=f"[(dtensor - out[0] * sum(dtensor * out[0], axis, True)) / {_NORM}, "
        "sum(out[0] * dtensor, axis, True)]",
        derivation=(
            Step("n is the length of x, and u is x over it.", "out[1] * out[0] == tensor"),
            Step(
                "The length changes by the share of dx along u.",
                "dout[1] == sum(out[0] * dtensor, axis, True)",
            ),
            Step("By the quotient rule", "dout[0] == (dtensor - out[0] * dout[1]) / out[1]"),
            Step(
                "That takes the share along u out of dx: a projection, which is its own transpose. "
                "So the upstream of u is projected in the same way, and that of n stands beside u.",
                "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum(((G[0] - out[0] * sum(G[0] * "
                "out[0], axis, True)) / out[1] + G[1] * out[0]) * dtensor)",
            ),
        ),
        shape=only,
        shapes=lambda call: [only(call), _normalize_shape(call)],
        outputs=("u", "n"),
        real_only=True,
        args={"axis": None},
        undefined=("At the zero vector.",),
        example=Example({"tensor": (2, 3)}, {"axis": 1}),
        related=("l2_normalize", "norm", "reduce_euclidean_norm"),
        pitfalls=("Through u alone no length can be learned; through n nothing else.",),
    ),
)
