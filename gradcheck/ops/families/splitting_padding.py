"""Ops that cut a tensor into parts, or repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import counts, one_axis, only, whole

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


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


def _repeated(call: Call) -> list[int] | None:
    """Which slice each one of the output is, where the slices are not all repeated alike."""
    times = call.args["repeats"]
    if not isinstance(times, list | tuple):
        return None
    shape = only(call)
    size = shape[one_axis(call.args["axis"], len(shape))]
    listed = counts(times, "repeats")
    if len(listed) != size:
        raise ShapeError(f"repeats {listed} need {size} numbers, one for each slice")
    return [place for place, count in enumerate(listed) for _ in range(count)]


def _repeat_shape(call: Call) -> Shape:
    shape = only(call)
    axis, places = one_axis(call.args["axis"], len(shape)), _repeated(call)
    if places is not None:
        return (*shape[:axis], len(places), *shape[axis + 1 :])
    times = whole(call.args["repeats"], "repeats")
    if times < 0:
        raise ShapeError(f"repeats is a number that is not negative, not {times}")
    return (*shape[:axis], shape[axis] * times, *shape[axis + 1 :])


def _repeat_formula(call: Call) -> dict[str, str]:
    shape, places = only(call), _repeated(call)
    if places is not None:
        return {"input": f"scatter_add(input, {places}, G, axis)"}
    axis = one_axis(call.args["axis"], len(shape))
    apart = [*shape[: axis + 1], call.args["repeats"], *shape[axis + 1 :]]
    return {"input": f"sum(reshape(G, {list(apart)}), {axis + 1})"}


def _repeat_forward(call: Call) -> str:
    shape, places = only(call), _repeated(call)
    if places is not None:
        return f"take(input, {places}, axis)"
    axis = one_axis(call.args["axis"], len(shape))
    apart = [*shape[: axis + 1], call.args["repeats"], *shape[axis + 1 :]]
    return (
        f"reshape(broadcast_to(expand_dims(input, {axis + 1}), {list(apart)}), "
        f"{list(_repeat_shape(call))})"
    )


def _repeat_derivation(call: Call) -> Derivation:
    places = _repeated(call)
    if places is None:
        return ()
    return (
        Step(
            "Slice by slice, y holds those of x at these places, each as often as it is repeated; "
            "dy holds those of dx.",
            f"dout == take(dinput, {places}, axis)",
        ),
        Step(
            "The loss changes by the inner product of G with dy. Beside each slice of dx stands "
            "the sum of the G of all its copies.",
            f"sum(G * dout) == sum(scatter_add(input, {places}, G, axis) * dinput)",
        ),
    )


def _repeat_code(call: Call) -> dict[str, str]:
    places, shape = _repeated(call), only(call)
    if places is None:
        return {}
    axis = one_axis(call.args["axis"], len(shape))
    perm = [axis, *(i for i in range(len(shape)) if i != axis)]
    back = [perm.index(i) for i in range(len(shape))]
    moved = f"tf.transpose(G, {perm})"
    return {
        "input": f"tf.transpose(tf.math.unsorted_segment_sum({moved}, {places}, {shape[axis]}), "
        f"{back})"
    }


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
        derivation=_repeat_derivation,
        code=_repeat_code,
        shape=_repeat_shape,
        required=("repeats", "axis"),
        example=Example({"input": (3,)}, {"repeats": 2, "axis": 0}),
        related=("tile", "broadcast_to"),
        pitfalls=("Copies lie side by side, unlike those of tile: neighbours are summed.",),
    ),
)
