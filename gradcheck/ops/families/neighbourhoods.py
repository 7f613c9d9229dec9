"""Neighbours in an image: patches cut out of it, channels that damp each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import only, whole, wholes, window_places
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas


def _four(call: Call, name: str) -> list[int]:
    """The two numbers for space, of four with ones around them."""
    given = wholes(call.args[name], name)
    if len(given) != 4 or given[0] != 1 or given[3] != 1 or min(given) < 1:
        raise ShapeError(f"{name} is [1, rows, columns, 1], not {call.args[name]!r}")
    return given[1:3]


def _wide(call: Call) -> list[int]:
    """How far a window reaches, with what is left out between its elements."""
    pairs = zip(_four(call, "sizes"), _four(call, "rates"), strict=True)
    return [(size - 1) * rate + 1 for size, rate in pairs]


def _patch_shape(call: Call) -> Shape:
    shape = only(call)
    if len(shape) != 4:
        raise ShapeError(f"images {list(shape)} need rank 4: batch, height, width, channels")
    rows, columns = _four(call, "sizes")
    reach = _wide(call)
    places = window_places(call, "images", (reach[0], reach[1]), _four(call, "strides"), "strides")
    return (shape[0], *places, rows * columns * shape[3])


def _seen(call: Call, x: str) -> str:
    return f"windows({x}, {_wide(call)}, {_four(call, 'strides')}, padding)"


def _taken(call: Call) -> str:
    """Which elements of a window are in the patch; empty where all are."""
    rows, columns = _four(call, "rates")
    return "" if rows == columns == 1 else f"':, :, :, ::{rows}, ::{columns}'"


def _windows(call: Call, x: str) -> str:
    taken = _taken(call)
    found = f"pick({_seen(call, x)}, {taken})" if taken else _seen(call, x)
    return f"reshape({found}, {list(_patch_shape(call))})"


def _patched(call: Call, upstream: str) -> str:
    shape, out, taken = only(call), _patch_shape(call), _taken(call)
    parts = f"reshape({upstream}, {[*out[:3], *_four(call, 'sizes'), shape[3]]})"
    parts = f"put_slice({_seen(call, 'images')}, {taken}, {parts})" if taken else parts
    return f"unwindows({parts}, images, {_wide(call)}, {_four(call, 'strides')}, padding)"


def _patch_derivation(call: Call) -> Derivation:
    return (
        Step(
            "Each place of y holds the window of x that it sees, written out as channels. So dy "
            "holds the windows of dx.",
            f"dout == {_windows(call, 'dimages')}",
        ),
        Step(
            "The loss changes by the inner product of G with dy. An element of x may stand in "
            "several windows: beside its change stands the sum of all their G, each added at its "
            "place.",
            f"sum(G * dout) == sum({_patched(call, 'G')} * dimages)",
        ),
    )


def _near(call: Call) -> str:
    """1 where two channels damp each other."""
    radius = whole(call.args["depth_radius"], "depth_radius")
    if radius < 0:
        raise ShapeError(f"depth_radius is not negative, not {radius}")
    count = only(call)[-1]
    return f"band_part(ones([{count}, {count}]), {radius}, {radius})"


def _damped_shape(call: Call) -> Shape:
    shape = only(call)
    if len(shape) != 4:
        raise ShapeError(f"input {list(shape)} needs rank 4: batch, height, width, channels")
    _near(call)
    return shape


def _scale(call: Call) -> str:
    return f"(bias + alpha * matmul(square(input), {_near(call)}))"


def _damped_formula(call: Call) -> Formulas:
    scale = _scale(call)
    return {
        "input": f"G / power({scale}, beta) - 2 * alpha * beta * input * "
        f"matmul(G * input / power({scale}, beta + 1), {_near(call)})"
    }


def _damped_tangent(call: Call) -> str:
    scale = _scale(call)
    return (
        f"dinput / power({scale}, beta) - 2 * alpha * beta * input / power({scale}, beta + 1) * "
        f"matmul(input * dinput, {_near(call)})"
    )


def _damped_derivation(call: Call) -> Derivation:
    return (
        Step(
            "Let N be 1 where two channels are at most depth_radius apart, and s what the channels "
            "are divided by, but for its power.",
            f"N := {_near(call)}",
        ),
        Step("", "s := bias + alpha * matmul(square(input), N)"),
        Step("", "out == input / power(s, beta)"),
        Step(
            "By the product rule, where the power -beta of s has the slope -beta times the next "
            "lower power, and each square the slope 2x:",
            "ds := 2 * alpha * matmul(input * dinput, N)",
        ),
        Step("", "dout == dinput / power(s, beta) - beta * input / power(s, beta + 1) * ds"),
        Step(
            "The loss changes by the inner product of G with dy. N moves over to the other side; "
            "it is its own transpose, as nearness goes both ways.",
            "sum(G * dout) == sum((G / power(s, beta) - 2 * alpha * beta * input * "
            "matmul(G * input / power(s, beta + 1), N)) * dinput)",
        ),
    )


OPS = (
    Op(
        name="extract_patches",
        tf="tf.image.extract_patches",
        family="image",
        summary="y = the window of x at each place, written out as channels",
        inputs=(Parameter("images"),),
        formula=lambda call: {"images": _patched(call, "G")},
        forward=lambda call: _windows(call, "images"),
        tangent=lambda call: _windows(call, "dimages"),
        derivation=_patch_derivation,
        shape=_patch_shape,
        required=("sizes", "strides", "rates", "padding"),
        axes={"images": "npqc", "out": "nhwk"},
        batches="The first of four axes is the batch: images do not mix.",
        example=Example(
            {"images": (1, 3, 3, 1)},
            {
                "sizes": [1, 2, 2, 1],
                "strides": [1, 1, 1, 1],
                "rates": [1, 1, 1, 1],
                "padding": "VALID",
            },
        ),
        related=("conv2d", "frame", "space_to_depth"),
        pitfalls=(
            "Where windows overlap, an element gets the gradients of all of them.",
            "With padding 'SAME' the zeros around the image are in the patches; their gradient "
            "goes nowhere.",
        ),
    ),
    Op(
        name="local_response_normalization",
        tf="tf.nn.local_response_normalization",
        aliases=("tf.nn.lrn",),
        family="nn",
        summary="y = x/(bias + alpha·Σ x² of the channels around it)^beta",
        inputs=(Parameter("input"),),
        formula=_damped_formula,
        forward=lambda call: f"input / power({_scale(call)}, beta)",
        tangent=_damped_tangent,
        derivation=_damped_derivation,
        shape=_damped_shape,
        real_only=True,
        float32_only=True,
        args={"depth_radius": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5},
        axes={"input": "nhwc", "out": "nhwc"},
        batches="Every axis but the last, that of the channels, is a batch axis.",
        example=Example({"input": (1, 1, 2, 3)}, {"depth_radius": 1}),
        related=("l2_normalize", "rms_norm", "batch_normalization"),
        pitfalls=(
            "A channel gets a gradient through its neighbours too: it stands in what they are "
            "divided by.",
            Seen(
                "The sum of squares is not divided by how many there are, and near the first and "
                "the last channel there are fewer.",
                {"input": [[[[1.0, 1.0, 1.0]]]]},
                out=[[[[1 / 3, 0.25, 1 / 3]]]],
                args={"depth_radius": 1, "beta": 1.0},
            ),
        ),
    ),
)
