"""Ops that cut a tensor into parts, pad it with zeros, or repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import counts, one_axis, only, whole

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _split_shapes(call: Call) -> list[Shape]:
    shape = only(call)
    axis = one_axis(call.args["axis"], len(shape))
    parts = call.args["num_or_size_splits"]
    if isinstance(parts, int) and not isinstance(parts, bool):
        if parts < 1 or shape[axis] % parts:
            raise ShapeError(
                f"axis {axis} has size {shape[axis]}, which {parts} parts do not share evenly"
            )
        parts = [shape[axis] // parts] * parts
    sizes = counts(parts, "num_or_size_splits")
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


def _paddings(call: Call) -> list[list[int]]:
    shape, paddings = only(call), call.args["paddings"]
    if not isinstance(paddings, list) or len(paddings) != len(shape):
        raise ShapeError(f"paddings need [before, after] for each of the {len(shape)} axes")
    return [counts(pair, "paddings") for pair in paddings]


def _pad_shape(call: Call) -> Shape:
    return tuple(
        n + before + after for n, (before, after) in zip(only(call), _paddings(call), strict=True)
    )


def _inside(call: Call) -> str:
    """The index at which the input lies in the padded output."""
    pairs = zip(only(call), _paddings(call), strict=True)
    return ", ".join(f"{before}:{before + n}" for n, (before, _) in pairs) or "..."


def _tile_shape(call: Call) -> Shape:
    shape, times = only(call), counts(call.args["multiples"], "multiples")
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
    if times < 0:
        raise ShapeError(f"repeats is a number that is not negative, not {times}")
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


_SPLIT = (
    Step("The parts, put end to end again, are x.", "concatenate(out, axis) == value"),
    Step("So are their changes: this is linear.", "concatenate(dout, axis) == dvalue"),
    Step(
        "The loss changes by the inner product of each part's upstream gradient with its change; "
        "together that is one inner product, of the upstream gradients end to end with dx.",
        "sum(concatenate(G, axis) * concatenate(dout, axis)) == sum(concatenate(G, axis) * dvalue)",
    ),
    Step("What stands beside dx is the gradient: the op run backwards is a concatenation."),
)

_UNSTACK = (
    Step("The slices, stacked again, are x.", "stack(out, axis) == value"),
    Step("So are their changes: this is linear.", "stack(dout, axis) == dvalue"),
    Step(
        "The loss changes by the inner product of each slice's upstream gradient with its change; "
        "together that is one inner product, of the stacked upstream gradients with dx.",
        "sum(stack(G, axis) * stack(dout, axis)) == sum(stack(G, axis) * dvalue)",
    ),
    Step("What stands beside dx is the gradient: the op run backwards is a stack."),
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
        derivation=_SPLIT,
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
        derivation=_UNSTACK,
        pitfalls=("The slices lose the axis; the gradient has it again.",),
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
