"""Ops that move elements without computing: shapes, orders, parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter
from gradcheck.ops.index import parse_index
from gradcheck.ops.rules import broadcast, flag, one_axis, only, several_axes, whole, wholes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _permutation(call: Call) -> list[int]:
    rank = len(call.shapes["a"])
    if call.args["perm"] is None:
        return list(range(rank))[::-1]
    perm = wholes(call.args["perm"], "perm")
    if sorted(perm) != list(range(rank)):
        raise ShapeError(f"perm {perm} does not name each of the axes 0 to {rank - 1} once")
    return perm


def _transpose_shape(call: Call) -> Shape:
    flag(call, "conjugate")
    return tuple(call.shapes["a"][axis] for axis in _permutation(call))


def _transpose_formula(call: Call) -> dict[str, str]:
    perm = _permutation(call)
    back = [perm.index(axis) for axis in range(len(perm))]
    text = "transpose(G)" if call.args["perm"] is None else f"transpose(G, {back})"
    return {"a": f"conj({text})" if flag(call, "conjugate") else text}


def _transpose_forward(call: Call) -> str:
    text = "transpose(a)" if call.args["perm"] is None else "transpose(a, perm)"
    return f"conj({text})" if flag(call, "conjugate") else text


def _reshape_shape(call: Call) -> Shape:
    old, new = call.shapes["tensor"], wholes(call.args["shape"], "shape")
    if new.count(-1) > 1 or any(size < -1 for size in new):
        raise ShapeError(f"shape {new}: sizes are not negative, and at most one is -1")
    have, rest = math.prod(old), math.prod(size for size in new if size != -1)
    if -1 in new and rest and have % rest == 0:
        new[new.index(-1)] = have // rest
    if -1 in new or math.prod(new) != have:
        raise ShapeError(f"{list(old)} has {have} elements, which do not fit into shape {new}")
    return tuple(new)


def _expand_shape(call: Call) -> Shape:
    shape = list(call.shapes["input"])
    shape.insert(one_axis(call.args["axis"], len(shape) + 1), 1)
    return tuple(shape)


def _squeeze_shape(call: Call) -> Shape:
    shape = call.shapes["input"]
    if call.args["axis"] in (None, []):
        return tuple(size for size in shape if size != 1)
    gone = several_axes(call.args["axis"], len(shape))
    for axis in gone:
        if shape[axis] != 1:
            raise ShapeError(f"axis {axis} of {list(shape)} has size {shape[axis]}, not 1")
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def _broadcast_to_shape(call: Call) -> Shape:
    old, new = call.shapes["input"], tuple(wholes(call.args["shape"], "shape"))
    if len(old) > len(new) or broadcast([old, new]) != new:
        raise ShapeError(f"shape {list(old)} does not broadcast to {list(new)}")
    return new


def _getitem_shape(call: Call) -> Shape:
    try:
        index: Any = parse_index(call.args["index"])
        # One element seen through the shape: indexing it allocates nothing.
        return np.asarray(np.broadcast_to(np.int8(0), call.shapes["x"])[index]).shape
    except (ValueError, IndexError) as error:
        raise ShapeError(f"index {call.args['index']!r}: {error}") from error


def _getitem_build(_: Any, tensors: list[Any], args: Any) -> Any:
    return tensors[0][parse_index(args["index"])]


def _slices(call: Call) -> list[tuple[int, int]]:
    shape = call.shapes["input_"]
    begin, size = wholes(call.args["begin"], "begin"), wholes(call.args["size"], "size")
    if not len(begin) == len(size) == len(shape):
        raise ShapeError(f"begin {begin} and size {size} need {len(shape)} numbers, one per axis")
    slices = []
    for axis, (start, count, extent) in enumerate(zip(begin, size, shape, strict=True)):
        stop = extent if count == -1 else start + count
        if start < 0 or count < -1 or start > extent or stop > extent:
            raise ShapeError(
                f"axis {axis} has size {extent}: begin {start} and size {count} leave it"
            )
        slices.append((start, stop))
    return slices


def _slice_shape(call: Call) -> Shape:
    return tuple(stop - start for start, stop in _slices(call))


def _slice_formula(call: Call) -> dict[str, str]:
    index = ", ".join(f"{start}:{stop}" for start, stop in _slices(call)) or "..."
    return {"input_": f"put_slice(input_, '{index}', G)"}


def _slice_forward(call: Call) -> str:
    index = ", ".join(f"{start}:{stop}" for start, stop in _slices(call)) or "..."
    return f"pick(input_, '{index}')"


def _gather_shape(call: Call) -> Shape:
    params, indices = call.shapes["params"], call.shapes["indices"]
    axis = one_axis(call.args["axis"], len(params))
    return (*params[:axis], *indices, *params[axis + 1 :])


def _reverse_shape(call: Call) -> Shape:
    shape = only(call)
    wholes(call.args["axis"], "axis")
    several_axes(call.args["axis"], len(shape))
    return shape


def _roll_shape(call: Call) -> Shape:
    shape, shift, axis = only(call), call.args["shift"], call.args["axis"]
    shifts = shift if isinstance(shift, list) else [shift]
    axes = axis if isinstance(axis, list) else [axis]
    if len(shifts) != len(axes):
        raise ShapeError(f"shift {shift} and axis {axis} must have the same length")
    for one_shift, one in zip(shifts, axes, strict=True):
        whole(one_shift, "shift")
        one_axis(one, len(shape))
    return shape


def _roll_formula(call: Call) -> dict[str, str]:
    shift = call.args["shift"]
    back = [-item for item in shift] if isinstance(shift, list) else -shift
    return {"input": f"roll(G, {back}, axis)"}


OPS = (
    Op(
        name="transpose",
        tf="tf.transpose",
        family="array",
        summary="y = x with its axes in another order",
        inputs=(Parameter("a"),),
        forward=_transpose_forward,
        example=Example({"a": (2, 3)}),
        formula=_transpose_formula,
        shape=_transpose_shape,
        args={"perm": None, "conjugate": False},
        pitfalls=(
            "The gradient takes the inverse permutation, which differs from perm from rank 3 on.",
            "Without perm all axes are reversed, not just the last two.",
        ),
    ),
    Op(
        name="reshape",
        tf="tf.reshape",
        family="array",
        summary="y = the elements of x in another shape",
        inputs=(Parameter("tensor"),),
        forward="reshape(tensor, shape)",
        example=Example({"tensor": (2, 3)}, {"shape": [3, 2]}),
        formula={"tensor": "reshape(G, shape(tensor))"},
        shape=_reshape_shape,
        required=("shape",),
        pitfalls=("A reshape is not a transpose: it keeps the order in memory.",),
    ),
    Op(
        name="expand_dims",
        tf="tf.expand_dims",
        family="array",
        summary="y = x with a new axis of size 1",
        inputs=(Parameter("input"),),
        forward="expand_dims(input, axis)",
        example=Example({"input": (2, 3)}, {"axis": 1}),
        formula={"input": "squeeze(G, axis)"},
        shape=_expand_shape,
        required=("axis",),
        pitfalls=("A negative axis counts in the output, which has one axis more.",),
    ),
    Op(
        name="squeeze",
        tf="tf.squeeze",
        family="array",
        summary="y = x without its axes of size 1",
        inputs=(Parameter("input"),),
        forward="squeeze(input, axis)",
        example=Example({"input": (2, 1, 3)}),
        formula={"input": "reshape(G, shape(input))"},
        shape=_squeeze_shape,
        args={"axis": None},
        pitfalls=("Without axis every axis of size 1 goes, a batch of one example included.",),
    ),
    Op(
        name="broadcast_to",
        tf="tf.broadcast_to",
        family="array",
        summary="y = x repeated up to a shape",
        inputs=(Parameter("input"),),
        forward="broadcast_to(input, shape)",
        example=Example({"input": (2, 1)}, {"shape": [2, 3]}),
        formula={"input": "unbroadcast(G, shape(input))"},
        shape=_broadcast_to_shape,
        required=("shape",),
        pitfalls=("The gradient is a sum over the repeated axes, not a mean or the first slice.",),
    ),
    Op(
        name="getitem",
        tf="tf.Tensor.__getitem__",
        family="array",
        summary="y = x[index]",
        inputs=(Parameter("x"),),
        forward="pick(x, index)",
        example=Example({"x": (4, 3)}, {"index": "1:3"}),
        formula={"x": "put_slice(x, index, G)"},
        shape=_getitem_shape,
        required=("index",),
        build=_getitem_build,
        pitfalls=(
            "The gradient has the shape of the whole x, with zeros outside of the index.",
            "A whole number removes its axis, a slice of length one keeps it.",
        ),
    ),
    Op(
        name="slice",
        tf="tf.slice",
        family="array",
        summary="y = the block of x at begin, of size",
        inputs=(Parameter("input_"),),
        forward=_slice_forward,
        example=Example({"input_": (4, 3)}, {"begin": [1, 0], "size": [2, 3]}),
        formula=_slice_formula,
        shape=_slice_shape,
        required=("begin", "size"),
        pitfalls=("The second argument is a size, not an end; -1 means all that is left.",),
    ),
    Op(
        name="gather",
        tf="tf.gather",
        family="array",
        summary="y = the slices of params at the indices",
        inputs=(
            Parameter("params"),
            Parameter("indices", Domain(sample=Sample("integers")), Kind.INTEGER),
        ),
        forward="take(params, indices, axis)",
        example=Example({"params": (4, 3), "indices": (5,)}),
        formula={"params": "scatter_add(params, indices, G, axis)"},
        shape=_gather_shape,
        args={"axis": 0},
        pitfalls=(
            "An index that occurs twice gets both gradients: they are added, not overwritten.",
            "Along axis 0 the tape returns IndexedSlices, which must be made dense to be compared.",
            "The default sample of indices is 0 or 1; `integers(0, n)` reaches all n slices.",
        ),
    ),
    Op(
        name="reverse",
        tf="tf.reverse",
        family="array",
        summary="y = x in reverse order along axes",
        inputs=(Parameter("tensor"),),
        forward="flip(tensor, axis)",
        example=Example({"tensor": (4,)}, {"axis": [0]}),
        formula={"tensor": "flip(G, axis)"},
        shape=_reverse_shape,
        required=("axis",),
        pitfalls=("It is its own inverse: the gradient is reversed along the same axes.",),
    ),
    Op(
        name="roll",
        tf="tf.roll",
        family="array",
        summary="y = x moved along axes, around the end",
        inputs=(Parameter("input"),),
        forward="roll(input, shift, axis)",
        example=Example({"input": (5,)}, {"shift": 2, "axis": 0}),
        formula=_roll_formula,
        shape=_roll_shape,
        required=("shift", "axis"),
        pitfalls=("The gradient rolls back: by minus the shift.",),
    ),
)
