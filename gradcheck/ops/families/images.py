"""Images: blocks, depth and flips, elements that only change places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter
from gradcheck.ops.rules import only, whole

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


_IMAGES = "The first of four axes is the batch, the last the channels: neither mixes."
_BLOCKS = "The first of four axes is the batch: images do not mix."


def _image(call: Call) -> Shape:
    shape = only(call)
    if len(shape) not in (3, 4):
        raise ShapeError(f"shape {list(shape)} is no image: rank 3 or 4 is needed")
    return shape


def _block(call: Call) -> int:
    size = whole(call.args["block_size"], "block_size")
    if size < 2:
        raise ShapeError(f"block_size is at least 2, not {size}")
    return size


def _deep_shape(call: Call) -> Shape:
    """What `space_to_depth` gives."""
    shape, b = only(call), _block(call)
    if len(shape) != 4 or shape[1] % b or shape[2] % b:
        raise ShapeError(f"input {list(shape)} needs rank 4 and space that blocks of {b} fill")
    return (shape[0], shape[1] // b, shape[2] // b, shape[3] * b * b)


def _wide_shape(call: Call) -> Shape:
    """What `depth_to_space` gives."""
    shape, b = only(call), _block(call)
    if len(shape) != 4 or shape[3] % (b * b):
        raise ShapeError(f"input {list(shape)} needs rank 4 and channels that {b}·{b} divides")
    return (shape[0], shape[1] * b, shape[2] * b, shape[3] // (b * b))


def _to_depth(text: str, wide: Shape, deep: Shape) -> str:
    n, h, w, _ = deep
    b = wide[1] // h
    parts = f"reshape({text}, {[n, h, b, w, b, wide[3]]})"
    return f"reshape(transpose({parts}, [0, 1, 3, 2, 4, 5]), {list(deep)})"


def _to_space(text: str, deep: Shape, wide: Shape) -> str:
    n, h, w, _ = deep
    b = wide[1] // h
    parts = f"reshape({text}, {[n, h, w, b, b, wide[3]]})"
    return f"reshape(transpose({parts}, [0, 1, 3, 2, 4, 5]), {list(wide)})"


def _flipped(name: str, axis: int, summary: str) -> Op:
    return Op(
        name=name,
        tf=f"tf.image.{name}",
        family="image",
        summary=summary,
        inputs=(Parameter("image"),),
        formula={"image": f"flip(G, {axis})"},
        forward=f"flip(image, {axis})",
        shape=_image,
        batches=_IMAGES,
        example=Example({"image": (1, 2, 3, 1)}),
        related=("reverse", "transpose", "roll"),
        pitfalls=("The gradient is turned back by the same flip.",),
    )


OPS = (
    Op(
        name="space_to_depth",
        tf="tf.nn.space_to_depth",
        family="image",
        summary="y = x with each block of space put into the channels",
        inputs=(Parameter("input"),),
        formula=lambda call: {"input": _to_space("G", _deep_shape(call), only(call))},
        forward=lambda call: _to_depth("input", only(call), _deep_shape(call)),
        shape=_deep_shape,
        required=("block_size",),
        batches=_BLOCKS,
        example=Example({"input": (1, 2, 4, 1)}, {"block_size": 2}),
        related=("depth_to_space", "reshape", "transpose"),
        pitfalls=("Nothing is added up: the gradient is depth_to_space of G.",),
    ),
    Op(
        name="depth_to_space",
        tf="tf.nn.depth_to_space",
        family="image",
        summary="y = x with groups of channels laid out as blocks of space",
        inputs=(Parameter("input"),),
        formula=lambda call: {"input": _to_depth("G", _wide_shape(call), only(call))},
        forward=lambda call: _to_space("input", only(call), _wide_shape(call)),
        shape=_wide_shape,
        required=("block_size",),
        batches=_BLOCKS,
        example=Example({"input": (1, 1, 2, 4)}, {"block_size": 2}),
        related=("space_to_depth", "reshape", "transpose"),
        pitfalls=("Nothing is added up: the gradient is space_to_depth of G.",),
    ),
    _flipped("flip_left_right", -2, "y = x with its columns in reverse order"),
    _flipped("flip_up_down", -3, "y = x with its rows in reverse order"),
)
