"""Ops that read or write parts of a tensor: slices, gathers, scatters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.language.index_text import parse_index
from gradcheck.ops.rules import counts, one_axis, only, whole, wholes
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation

_INDICES = Domain(sample=Sample("integers"))


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
    axis, batch = _gathered_axis(call), whole(call.args["batch_dims"], "batch_dims")
    if not 0 <= batch <= min(axis, len(indices)):
        raise ShapeError(
            f"batch_dims is {batch}, but not above the axis, {axis}, and the rank of indices, "
            f"{len(indices)}"
        )
    if params[:batch] != indices[:batch]:
        raise ShapeError(
            f"params {list(params)} and indices {list(indices)} differ in the first {batch} axes"
        )
    return (*params[:axis], *indices[batch:], *params[axis + 1 :])


def _gathered_axis(call: Call) -> int:
    """The axis of a gather: that behind the batch axes where none is given."""
    name = "batch_dims" if call.args["axis"] is None else "axis"
    return one_axis(call.args[name], len(call.shapes["params"]), name)


def _gather_forward(call: Call, name: str = "params") -> str:
    axis, batch = _gathered_axis(call), call.args["batch_dims"]
    if batch:
        return f"take_in_batches({name}, indices, {axis}, {batch})"
    return f"take({name}, indices, {'axis' if call.args['axis'] is not None else axis})"


def _gather_formula(call: Call) -> dict[str, str]:
    axis, batch = _gathered_axis(call), call.args["batch_dims"]
    if batch:
        return {"params": f"scatter_in_batches(params, indices, G, {axis}, {batch})"}
    shown = "axis" if call.args["axis"] is not None else axis
    return {"params": f"scatter_add(params, indices, G, {shown})"}


def _gather_derivation(call: Call) -> Derivation:
    if not call.args["batch_dims"]:
        return ()
    return (
        Step(
            "Within each batch, y holds the slices of x at the indices of that batch; dy holds "
            "those of dx.",
            f"dout == {_gather_forward(call, 'dparams')}",
        ),
        Step(
            "The loss changes by the inner product of G with dy. Beside each slice of dx stands "
            "the sum of the G of all the places where it was taken to.",
            f"sum(G * dout) == sum({_gather_formula(call)['params']} * dparams)",
        ),
    )


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
    shape = tuple(counts(call.args["shape"], "shape"))
    if _depth(call) > len(shape):
        raise ShapeError(f"indices have {_depth(call)} numbers each, but shape only {len(shape)}")
    wanted = (*call.shapes["indices"][:-1], *shape[_depth(call) :])
    if call.shapes["updates"] != wanted:
        raise ShapeError(
            f"updates have shape {list(call.shapes['updates'])}, but these indices and "
            f"shape need {list(wanted)}"
        )
    return shape


OPS = (
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
        related=("slice", "strided_slice", "gather"),
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
        related=("getitem", "pad", "split"),
        pitfalls=("The second argument is a size, not an end; -1 means all that is left.",),
    ),
    Op(
        name="gather",
        tf="tf.gather",
        family="array",
        summary="y = the slices of params at the indices",
        inputs=(
            Parameter("params"),
            Parameter("indices", _INDICES, Kind.INTEGER),
        ),
        forward=_gather_forward,
        derivation=_gather_derivation,
        example=Example({"params": (4, 3), "indices": (5,)}),
        formula=_gather_formula,
        shape=_gather_shape,
        args={"axis": None, "batch_dims": 0},
        related=("gather_nd", "embedding_lookup", "scatter_nd"),
        pitfalls=(
            "An index that occurs twice gets both gradients: they are added, not overwritten.",
            Seen(
                "Along axis 0 the tape returns IndexedSlices, which must be made dense to be "
                "compared.",
                {"params": [1.0, 2.0], "indices": [0, 0]},
                {"params": [2.0, 0.0]},
                sparse=True,
            ),
            "The default sample of indices is 0 or 1; `integers(0, n)` reaches all n slices.",
        ),
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
        inputs=(Parameter("params"), Parameter("indices", _INDICES, Kind.INTEGER)),
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
        inputs=(Parameter("indices", _INDICES, Kind.INTEGER), Parameter("updates")),
        formula={"updates": "gather_nd(G, indices)"},
        forward="scatter_nd(indices, updates, shape)",
        shape=_scatter_nd_shape,
        required=("shape",),
        example=Example({"indices": (3, 1), "updates": (3,)}, {"shape": [4]}),
        symbols={"updates": "x"},
        related=("gather_nd", "gather"),
        pitfalls=("Updates with the same index are added up, and each gets the whole gradient.",),
    ),
)
