"""Convolutions of each channel alone, by filters of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.language.windows import output_sizes
from gradcheck.ops.rules import per_axis

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


_BATCHES = (
    "The first axis is the batch: examples do not mix. What they share, the filters, gets the sum "
    "over all of them."
)


_SYMBOLS = {"input": "x", "filters": "K", "filter": "K"}


def _padded(call: Call) -> str:
    padding = call.args["padding"]
    if padding not in ("SAME", "VALID"):
        raise ShapeError(f"padding is 'SAME' or 'VALID', not {padding!r}")
    return str(padding)


def _depthwise_places(call: Call) -> tuple[Shape, Shape]:
    """The places of the output, and the strides."""
    x, kernel = call.shapes["input"], call.shapes["filter"]
    if len(x) != 4 or len(kernel) != 4 or x[-1] != kernel[2]:
        raise ShapeError(
            f"input {list(x)} and filter {list(kernel)} need rank 4, and the filter the channels "
            "of the input at its third axis"
        )
    full = per_axis(call.args["strides"], 4, "strides")
    if full[0] != 1 or full[-1] != 1 or full[1] != full[2]:
        raise ShapeError(f"strides are 1, then two equal numbers, then 1, not {list(full)}")
    places = output_sizes(x[1:3], kernel[:2], full[1:3], _padded(call))[0]
    if any(n < 1 for n in places):
        raise ShapeError(f"a filter of {list(kernel[:2])} does not fit into {list(x[1:3])}")
    return places, full[1:3]


def _depthwise_shape(call: Call) -> Shape:
    (height, width), _ = _depthwise_places(call)
    kernel = call.shapes["filter"]
    return (call.shapes["input"][0], height, width, kernel[2] * kernel[3])


def _depthwise_window(call: Call) -> str:
    return f"{list(call.shapes['filter'][:2])}, {list(_depthwise_places(call)[1])}, padding"


def _depthwise_forward(call: Call, x: str = "input", kernel: str = "filter") -> str:
    seen = f"windows({x}, {_depthwise_window(call)})"
    found = f"einsum('nhwabc,abcm->nhwcm', {seen}, {kernel})"
    return f"reshape({found}, {list(_depthwise_shape(call))})"


def _upstream(call: Call) -> str:
    kernel = call.shapes["filter"]
    return f"reshape(G, {[*_depthwise_shape(call)[:3], *kernel[2:]]})"


def _depthwise_formula(call: Call) -> dict[str, str]:
    window, upstream = _depthwise_window(call), _upstream(call)
    back = f"einsum('nhwcm,abcm->nhwabc', {upstream}, filter)"
    return {
        "input": f"unwindows({back}, input, {window})",
        "filter": f"einsum('nhwabc,nhwcm->abcm', windows(input, {window}), {upstream})",
    }


def _depthwise_derivation(call: Call) -> Derivation:
    window = _depthwise_window(call)
    return (
        Step(
            "W holds, at each place of the output, the window of x that is seen there.",
            f"W := windows(input, {window})",
        ),
        Step(
            "Each channel c is multiplied by the filters of its own alone, m of them, and the "
            "windows are summed; the channels of y are all pairs of c and m.",
            f"out == {_depthwise_forward(call)}",
        ),
        Step(
            "It is linear in x and in K: by the product rule",
            f"dout == {_depthwise_forward(call, 'dinput')} + "
            f"{_depthwise_forward(call, 'input', 'dfilter')}",
        ),
        Step("Take the channels of G apart into pairs again.", f"H := {_upstream(call)}"),
        Step(
            "The loss changes by the inner product of G with dy. Beside dK stands what its "
            "elements were multiplied by: W and H, summed over the batch and all places. Beside "
            "the windows of dx stands K times H, and an element of x gets the sum over all the "
            "windows that saw it.",
            "sum(G * dout) == sum(einsum('nhwabc,nhwcm->abcm', W, H) * dfilter) + "
            f"sum(unwindows(einsum('nhwcm,abcm->nhwabc', H, filter), input, {window}) * dinput)",
        ),
    )


def _depthwise_code(call: Call) -> dict[str, str]:
    tail = f"G, strides={list(call.args['strides'])}, padding={_padded(call)!r})"
    op = "tf.nn.depthwise_conv2d_backprop_"
    return {
        "input": f"{op}input(tf.shape(input), filter, {tail}",
        "filter": f"{op}filter(input, tf.shape(filter), {tail}",
    }


OPS = (
    Op(
        name="depthwise_conv2d",
        tf="tf.nn.depthwise_conv2d",
        family="nn",
        summary="y = the answer of each channel to its own filters, at each place",
        inputs=(Parameter("input"), Parameter("filter")),
        formula=_depthwise_formula,
        forward=_depthwise_forward,
        tangent=lambda call: (
            f"{_depthwise_forward(call, 'dinput')} + {_depthwise_forward(call, 'input', 'dfilter')}"
        ),
        code=_depthwise_code,
        derivation=_depthwise_derivation,
        shape=_depthwise_shape,
        required=("strides", "padding"),
        symbols=_SYMBOLS,
        axes={"input": "npqc", "filter": "abcm", "out": "nhwk"},
        batches=_BATCHES,
        example=Example(
            {"input": (1, 3, 3, 2), "filter": (2, 2, 2, 2)},
            {"strides": [1, 1, 1, 1], "padding": "VALID"},
        ),
        related=("conv2d", "avg_pool2d", "einsum"),
        pitfalls=(
            "Channels do not mix: the gradient of a filter sees one channel of x alone.",
            "The channels of the output are ordered by the channel of the input first.",
        ),
    ),
)
