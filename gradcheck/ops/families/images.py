"""Convolutions and pooling: sums and extremes over windows that slide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.language.windows import output_sizes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

_WINDOWS = "windows({x}, {size}, {strides}, padding)"


def _per_axis(value: Any, rank: int, name: str) -> Shape:
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * rank
    if isinstance(value, list) and len(value) == rank:
        return tuple(value)
    raise ShapeError(f"{name} is a whole number or a list of {rank}, not {value!r}")


def _places(call: Call, name: str, window: Shape, strides: Any, strides_name: str) -> Shape:
    space = call.shapes[name][1:-1]
    steps = _per_axis(strides, len(space), strides_name)
    if call.args["padding"] not in ("SAME", "VALID"):
        raise ShapeError(f"padding is 'SAME' or 'VALID', not {call.args['padding']!r}")
    places = output_sizes(space, window, steps, call.args["padding"])[0]
    if any(n < 1 for n in places):
        raise ShapeError(f"a window of {list(window)} does not fit into {list(space)}")
    return places


def _conv(rank: int) -> Any:
    """Shape, forward and formulas of a convolution over so many axes."""
    stride = "stride" if rank == 1 else "strides"
    place, inner = ("w", "a") if rank == 1 else ("hw", "ab")

    def shape(call: Call) -> Shape:
        x, filters = call.shapes["input"], call.shapes["filters"]
        if len(x) != rank + 2 or len(filters) != rank + 2:
            raise ShapeError(f"input {list(x)} and filters {list(filters)} need rank {rank + 2}")
        if x[-1] != filters[-2]:
            raise ShapeError(f"input has {x[-1]} channels, but filters take {filters[-2]}")
        return (
            x[0],
            *_places(call, "input", filters[:rank], call.args[stride], stride),
            filters[-1],
        )

    def seen(call: Call) -> tuple[str, str]:
        size = list(call.shapes["filters"][:rank])
        return f"windows(input, {size}, {stride}, padding)", f"{size}, {stride}, padding"

    def forward(call: Call) -> str:
        return f"einsum('n{place}{inner}c,{inner}cd->n{place}d', {seen(call)[0]}, filters)"

    def formula(call: Call) -> dict[str, str]:
        windows, how = seen(call)
        back = f"einsum('n{place}d,{inner}cd->n{place}{inner}c', G, filters)"
        return {
            "input": f"unwindows({back}, input, {how})",
            "filters": f"einsum('n{place}{inner}c,n{place}d->{inner}cd', {windows}, G)",
        }

    def code(call: Call) -> dict[str, str]:
        padding, wide = call.args["padding"], call.args[stride]
        steps = [1, *_per_axis(wide, rank, stride), 1]
        x, g, f = ("input", "G", "filters")
        sizes = "tf.shape(filters)"
        if rank == 1:
            # TensorFlow itself takes a signal for an image of height one.
            x, g, f = ("input[:, None]", "G[:, None]", "filters[None]")
            sizes, steps = f"tf.shape({f})", [1, 1, wide, 1]
        tail = f"strides={steps}, padding={padding!r})"
        back = (
            f"tf.raw_ops.Conv2DBackpropInput(input_sizes=tf.shape({x}), filter={f}, "
            f"out_backprop={g}, {tail}"
        )
        kernel = (
            f"tf.raw_ops.Conv2DBackpropFilter(input={x}, filter_sizes={sizes}, "
            f"out_backprop={g}, {tail}"
        )
        if rank == 1:
            back, kernel = f"{back}[:, 0]", f"{kernel}[0]"
        return {"input": back, "filters": kernel}

    return shape, forward, formula, code


def _pool_code(call: Call, op: str) -> dict[str, str]:
    size, steps = ([1, *_per_axis(call.args[name], 2, name), 1] for name in ("ksize", "strides"))
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
    window = _per_axis(call.args["ksize"], 2, "ksize")
    return (x[0], *_places(call, "input", window, call.args["strides"], "strides"), x[3])


_SEEN = "windows(input, ksize, strides, padding, -inf)"
_COUNTS = "windows(ones_like(input), ksize, strides, padding)"
_CONV1D, _CONV2D = _conv(1), _conv(2)

_BATCHES = (
    "The first axis is the batch: examples do not mix. What they share, the filters, gets the sum "
    "over all of them."
)
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
    *(
        Op(
            name=f"conv{rank}d",
            tf=f"tf.nn.conv{rank}d",
            family="nn",
            summary="y = the filters' answer at each place of x",
            inputs=(Parameter("input"), Parameter("filters")),
            formula=formula,
            forward=forward,
            code=code,
            shape=shape,
            required=("stride" if rank == 1 else "strides", "padding"),
            symbols={"input": "x", "filters": "K"},
            batches=_BATCHES,
            example=example,
            related=(f"conv{3 - rank}d", "matmul", "avg_pool2d", "bias_add"),
            pitfalls=(
                "The gradient of x is a convolution with the filters flipped, since it "
                "adds up overlaps.",
                "TensorFlow does not flip the filters on the way forward: strictly it is "
                "a correlation.",
                "With a stride, places that no window meets get 0; with SAME the padding "
                "differs at the two ends.",
            ),
        )
        for rank, (shape, forward, formula, code), example in (
            (
                1,
                _CONV1D,
                Example(
                    {"input": (2, 4, 2), "filters": (2, 2, 3)}, {"stride": 1, "padding": "VALID"}
                ),
            ),
            (
                2,
                _CONV2D,
                Example(
                    {"input": (2, 4, 4, 2), "filters": (2, 2, 2, 3)},
                    {"strides": 1, "padding": "VALID"},
                ),
            ),
        )
    ),
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
            "At ties TensorFlow chooses one; a check there sees a kink.",
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
