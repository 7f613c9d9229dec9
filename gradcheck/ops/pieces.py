"""Ops that cut, scatter, pad and repeat: elements go to several places, or come from some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter
from gradcheck.ops.rules import one_axis, only, whole, wholes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

INDICES = Domain(sample=Sample("integers"))


def _split_shapes(call: Call) -> list[Shape]:
    shape = only(call)
    axis = one_axis(call.args["axis"], len(shape))
    parts = call.args["num_or_size_splits"]
    if isinstance(parts, int):
        if parts < 1 or shape[axis] % parts:
            raise ShapeError(
                f"axis {axis} has size {shape[axis]}, which {parts} parts do not share evenly"
            )
        parts = [shape[axis] // parts] * parts
    sizes = wholes(parts, "num_or_size_splits")
    if sum(sizes) != shape[axis]:
        raise ShapeError(
            f"num_or_size_splits {sizes} adds up to {sum(sizes)}, but axis {axis} has "
            f"size {shape[axis]}"
        )
    return [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]


def _unstack_shapes(call: Call) -> list[Shape]:
    shape = only(call)
    axis = one_axis(call.args["axis"], len(shape))
    return [(*shape[:axis], *shape[axis + 1 :])] * shape[axis]


def _strided_index(call: Call) -> str:
    rank = len(only(call))
    begin, end = wholes(call.args["begin"], "begin"), wholes(call.args["end"], "end")
    strides = wholes(call.args["strides"], "strides") if call.args["strides"] else [1] * len(begin)
    if not len(begin) == len(end) == len(strides) <= rank:
        raise ShapeError(
            f"begin {begin}, end {end} and strides {strides} must have one number each "
            f"per axis, at most {rank}"
        )
    return ", ".join(f"{b}:{e}:{s}" for b, e, s in zip(begin, end, strides, strict=True))


def _strided_shape(call: Call) -> Shape:
    from gradcheck.ops.index import parse_index

    index: Any = parse_index(_strided_index(call))
    return np.shape(np.broadcast_to(np.int8(0), only(call))[index])


def _depth(call: Call) -> int:
    shape = call.shapes["indices"]
    if not shape:
        raise ShapeError("indices need an axis, along which each index lies")
    return shape[-1]


def _gather_nd_shape(call: Call) -> Shape:
    params, depth = call.shapes["params"], _depth(call)
    if depth > len(params):
        raise ShapeError(f"indices have {depth} numbers each, but params only {len(params)} axes")
    return (*call.shapes["indices"][:-1], *params[depth:])


def _scatter_nd_shape(call: Call) -> Shape:
    shape = tuple(wholes(call.args["shape"], "shape"))
    wanted = (*call.shapes["indices"][:-1], *shape[_depth(call) :])
    if call.shapes["updates"] != wanted:
        raise ShapeError(
            f"updates have shape {list(call.shapes['updates'])}, but these indices and "
            f"shape need {list(wanted)}"
        )
    return shape


def _paddings(call: Call) -> list[list[int]]:
    shape, paddings = only(call), call.args["paddings"]
    if not isinstance(paddings, list) or len(paddings) != len(shape):
        raise ShapeError(f"paddings need [before, after] for each of the {len(shape)} axes")
    return [wholes(pair, "paddings") for pair in paddings]


def _pad_shape(call: Call) -> Shape:
    return tuple(
        n + before + after for n, (before, after) in zip(only(call), _paddings(call), strict=True)
    )


def _inside(call: Call) -> str:
    """The index at which the input lies in the padded output."""
    pairs = zip(only(call), _paddings(call), strict=True)
    return ", ".join(f"{before}:{before + n}" for n, (before, _) in pairs) or "..."


def _tile_shape(call: Call) -> Shape:
    shape, times = only(call), wholes(call.args["multiples"], "multiples")
    if len(times) != len(shape):
        raise ShapeError(f"multiples {times} need {len(shape)} numbers, one per axis")
    return tuple(n * m for n, m in zip(shape, times, strict=True))


def _tile_formula(call: Call) -> dict[str, str]:
    # Each axis taken apart into the copies and what was copied; the copies are summed.
    pairs = [
        size for n, m in zip(only(call), call.args["multiples"], strict=True) for size in (m, n)
    ]
    return {"input": f"sum(reshape(G, {pairs}), {list(range(0, len(pairs), 2))})"}


def _repeat_shape(call: Call) -> Shape:
    shape = only(call)
    axis, times = one_axis(call.args["axis"], len(shape)), whole(call.args["repeats"], "repeats")
    return (*shape[:axis], shape[axis] * times, *shape[axis + 1 :])


def _repeat_formula(call: Call) -> dict[str, str]:
    shape = only(call)
    axis = one_axis(call.args["axis"], len(shape))
    apart = [*shape[: axis + 1], call.args["repeats"], *shape[axis + 1 :]]
    return {"input": f"sum(reshape(G, {list(apart)}), {axis + 1})"}


def _repeat_forward(call: Call) -> str:
    shape = only(call)
    axis = one_axis(call.args["axis"], len(shape))
    apart = [*shape[: axis + 1], call.args["repeats"], *shape[axis + 1 :]]
    return (
        f"reshape(broadcast_to(expand_dims(input, {axis + 1}), {list(apart)}), "
        f"{list(_repeat_shape(call))})"
    )


OPS = (
    Op(
        name="split",
        tf="tf.split",
        family="array",
        summary="y… = the parts of x along an axis",
        inputs=(Parameter("value"),),
        formula={"value": "concatenate(G, axis)"},
        forward="split(value, num_or_size_splits, axis)",
        shape=lambda call: _split_shapes(call)[0],
        shapes=_split_shapes,
        outputs=("y…",),
        required=("num_or_size_splits",),
        args={"axis": 0},
        example=Example({"value": (4, 3)}, {"num_or_size_splits": 2}),
        related=("concat", "unstack", "slice"),
        pitfalls=("A part that nobody uses still takes its place in the gradient, as zeros.",),
    ),
    Op(
        name="unstack",
        tf="tf.unstack",
        family="array",
        summary="y… = the slices of x along an axis",
        inputs=(Parameter("value"),),
        formula={"value": "stack(G, axis)"},
        forward="unstack(value, axis)",
        shape=lambda call: _unstack_shapes(call)[0],
        shapes=_unstack_shapes,
        outputs=("y…",),
        args={"axis": 0},
        example=Example({"value": (2, 3)}),
        related=("stack", "split"),
        pitfalls=("The slices lose the axis; the gradient has it again.",),
    ),
    Op(
        name="strided_slice",
        tf="tf.strided_slice",
        family="array",
        summary="y = x[begin:end:strides]",
        inputs=(Parameter("input_"),),
        formula=lambda call: {"input_": f"put_slice(input_, '{_strided_index(call)}', G)"},
        forward=lambda call: f"pick(input_, '{_strided_index(call)}')",
        shape=_strided_shape,
        required=("begin", "end"),
        args={"strides": None},
        example=Example({"input_": (6,)}, {"begin": [1], "end": [6], "strides": [2]}),
        related=("slice", "getitem"),
        pitfalls=("The elements that were stepped over get 0.", "The end is not included."),
    ),
    Op(
        name="gather_nd",
        tf="tf.gather_nd",
        family="array",
        summary="y = the elements of params at the indices",
        inputs=(Parameter("params"), Parameter("indices", INDICES, Kind.INTEGER)),
        formula={"params": "scatter_nd(indices, G, shape(params))"},
        forward="gather_nd(params, indices)",
        shape=_gather_nd_shape,
        example=Example({"params": (3, 4), "indices": (5, 2)}),
        related=("gather", "scatter_nd"),
        pitfalls=("An index that occurs twice gets both gradients: they are added.",),
    ),
    Op(
        name="scatter_nd",
        tf="tf.scatter_nd",
        family="array",
        summary="y = zeros with the updates added at the indices",
        inputs=(Parameter("indices", INDICES, Kind.INTEGER), Parameter("updates")),
        formula={"updates": "gather_nd(G, indices)"},
        forward="scatter_nd(indices, updates, shape)",
        shape=_scatter_nd_shape,
        required=("shape",),
        example=Example({"indices": (3, 1), "updates": (3,)}, {"shape": [4]}),
        symbols={"updates": "x"},
        related=("gather_nd", "gather"),
        pitfalls=("Updates with the same index are added up, and each gets the whole gradient.",),
    ),
    Op(
        name="pad",
        tf="tf.pad",
        family="array",
        summary="y = x with zeros around it",
        inputs=(Parameter("tensor"),),
        formula=lambda call: {"tensor": f"pick(G, '{_inside(call)}')"},
        forward=lambda call: (
            f"put_slice(zeros({list(_pad_shape(call))}), '{_inside(call)}', tensor)"
        ),
        shape=_pad_shape,
        required=("paddings",),
        example=Example({"tensor": (3,)}, {"paddings": [[1, 2]]}),
        related=("slice", "concat"),
        pitfalls=("The gradient is the inner part of G; what reaches the padding is lost.",),
    ),
    Op(
        name="tile",
        tf="tf.tile",
        family="array",
        summary="y = x repeated as a whole along axes",
        inputs=(Parameter("input"),),
        formula=_tile_formula,
        forward="tile(input, multiples)",
        shape=_tile_shape,
        required=("multiples",),
        example=Example({"input": (3,)}, {"multiples": [2]}),
        related=("repeat", "broadcast_to"),
        pitfalls=("The copies' gradients are summed, not averaged.",),
    ),
    Op(
        name="repeat",
        tf="tf.repeat",
        family="array",
        summary="y = x with each slice repeated along an axis",
        inputs=(Parameter("input"),),
        formula=_repeat_formula,
        forward=_repeat_forward,
        shape=_repeat_shape,
        required=("repeats", "axis"),
        example=Example({"input": (3,)}, {"repeats": 2, "axis": 0}),
        related=("tile", "broadcast_to"),
        pitfalls=("Copies lie side by side, unlike those of tile: neighbours are summed.",),
    ),
)
