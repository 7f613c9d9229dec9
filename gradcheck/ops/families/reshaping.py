"""Ops that move elements without computing: shapes and orders."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter
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
        related=("matrix_transpose", "reshape"),
        symbols={"a": "x"},
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
        related=("transpose", "expand_dims", "squeeze"),
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
        related=("squeeze", "reshape", "broadcast_to"),
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
        related=("expand_dims", "reshape"),
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
        related=("tile", "reduce_sum", "expand_dims"),
        batches="This op is broadcasting itself: what was repeated is summed.",
        pitfalls=("The gradient is a sum over the repeated axes, not a mean or the first slice.",),
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
        related=("roll", "cumsum"),
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
        related=("reverse", "pad"),
        pitfalls=("The gradient rolls back: by minus the shift.",),
    ),
)
