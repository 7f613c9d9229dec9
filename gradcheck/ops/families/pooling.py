"""Pooling: the largest element or the mean of windows that slide over images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import per_axis, window_places
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _pool_code(call: Call, op: str) -> dict[str, str]:
    size, steps = ([1, *per_axis(call.args[name], 2, name), 1] for name in ("ksize", "strides"))
    tail = f"grad=G, ksize={size}, strides={steps}, padding={call.args['padding']!r})"
    given = (
        "orig_input=input, orig_output=out"
        if op == "MaxPoolGrad"
        else "orig_input_shape=tf.shape(input)"
    )
    return {"input": f"tf.raw_ops.{op}({given}, {tail}"}


def _pool_shape(call: Call) -> Shape:
    x = call.shapes["input"]
    if len(x) != 4:
        raise ShapeError(f"input {list(x)} needs rank 4: batch, height, width, channels")
    window = per_axis(call.args["ksize"], 2, "ksize")
    return (x[0], *window_places(call, "input", window, call.args["strides"], "strides"), x[3])


_SEEN = "windows(input, ksize, strides, padding, -inf)"

_COUNTS = "windows(ones_like(input), ksize, strides, padding)"

_MAX_POOL = (
    Step(
        "Let w be 1 at the largest element of each window and 0 elsewhere; axes 3 and 4 run over "
        "the window.",
        f"w := one_hot_max({_SEEN}, [3, 4])",
    ),
    Step(
        "A small change of x moves the elements of a window, but it does not change which of them "
        "is the largest: w stays. With dx seen through the same windows",
        "V := windows(dinput, ksize, strides, padding)",
    ),
    Step("", "dout == sum(w * V, [3, 4])"),
    Step(
        "The loss changes by the inner product of G with dy: G, repeated over its window, times w "
        "stands beside the windows of dx.",
        "U := w * expand_dims(G, [3, 4])",
    ),
    Step("", "sum(G * dout) == sum(U * V)"),
    Step(
        "An element of x may lie in several windows, so what stands beside it is the sum over all "
        "the places where it was seen.",
        "sum(G * dout) == sum(unwindows(U, input, ksize, strides, padding) * dinput)",
    ),
)

OPS = (
    Op(
        name="max_pool2d",
        tf="tf.nn.max_pool2d",
        family="nn",
        summary="y = the largest x of each window",
        inputs=(Parameter("input", Domain(sample=Sample("distinct"))),),
        formula={
            "input": f"unwindows(one_hot_max({_SEEN}, [3, 4]) * expand_dims(G, [3, 4]), input, "
            "ksize, strides, padding)"
        },
        forward=f"max({_SEEN}, [3, 4])",
        code=lambda call: _pool_code(call, "MaxPoolGrad"),
        tangent=f"sum(one_hot_max({_SEEN}, [3, 4]) * windows(dinput, ksize, strides, "
        "padding), [3, 4])",
        shape=_pool_shape,
        required=("ksize", "strides", "padding"),
        undefined=("Where two elements of a window tie for the largest.",),
        derivation=_MAX_POOL,
        axes={"input": "npqc", "out": "nhwc"},
        batches="The first axis is the batch, the last the channels: neither mixes.",
        example=Example({"input": (2, 4, 4, 3)}, {"ksize": 2, "strides": 2, "padding": "VALID"}),
        related=("avg_pool2d", "reduce_max", "conv2d"),
        pitfalls=(
            "Only the winner of each window gets a gradient, so most of the input gets 0.",
            Seen(
                "At ties TensorFlow chooses the first.",
                {"input": [[[[1.0], [1.0]], [[0.0], [1.0]]]]},
                {"input": [[[[1.0], [0.0]], [[0.0], [0.0]]]]},
                args={"ksize": 2, "strides": 2, "padding": "VALID"},
            ),
        ),
    ),
    Op(
        name="avg_pool2d",
        tf="tf.nn.avg_pool2d",
        family="nn",
        summary="y = the mean of each window of x",
        inputs=(Parameter("input"),),
        formula={
            "input": f"unwindows({_COUNTS} * expand_dims(G / sum({_COUNTS}, [3, 4]), [3, 4]), "
            "input, ksize, strides, padding)"
        },
        code=lambda call: _pool_code(call, "AvgPoolGrad"),
        forward=f"sum(windows(input, ksize, strides, padding), [3, 4]) / sum({_COUNTS}, [3, 4])",
        tangent=f"sum(windows(dinput, ksize, strides, padding), [3, 4]) / sum({_COUNTS}, [3, 4])",
        shape=_pool_shape,
        required=("ksize", "strides", "padding"),
        axes={"input": "npqc", "out": "nhwc"},
        batches="The first axis is the batch, the last the channels: neither mixes.",
        example=Example({"input": (2, 4, 4, 3)}, {"ksize": 2, "strides": 2, "padding": "VALID"}),
        related=("max_pool2d", "reduce_mean", "conv2d"),
        pitfalls=(
            "At a padded edge the divisor is the number of real elements, not the window's size.",
        ),
    ),
)
