"""Small ops that stand between others: sums of many, even spacing, masks, clipped norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.rules import only, several_axes, whole
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


def _add_n_shape(call: Call) -> Shape:
    first, *others = call.shapes.items()
    for name, shape in others:
        if shape != first[1]:
            raise ShapeError(
                f"{first[0]} has shape {list(first[1])}, but {name} has {list(shape)}: add_n does "
                "not broadcast"
            )
    return first[1]


def _add_n_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    return tf.add_n(tensors)


def _linspace_shape(call: Call) -> Shape:
    start, stop = call.shapes["start"], call.shapes["stop"]
    count = whole(call.args["num"], "num")
    if start != stop:
        raise ShapeError(f"start {list(start)} and stop {list(stop)} must have the same shape")
    if count < 2:
        raise ShapeError(f"num is at least 2 here, not {count}: with 1 the stop is not used")
    return (count, *start)


_RAMP = "ramp(start, num)"


_LINSPACE = (
    Step(
        "Let w rise evenly from 0 to 1 along the new axis: y is start and stop, weighted with it.",
        f"w := {_RAMP}",
    ),
    Step("", "out == expand_dims(start, 0) * (1 - w) + expand_dims(stop, 0) * w"),
    Step(
        "It is linear in both:",
        "dout == expand_dims(dstart, 0) * (1 - w) + expand_dims(dstop, 0) * w",
    ),
    Step(
        "The loss changes by the inner product of G with dy. start is in every element of y: what "
        "stands beside its change is summed along the new axis, and so for stop.",
        "sum(G * dout) == sum(sum(G * (1 - w), 0) * dstart) + sum(sum(G * w, 0) * dstop)",
    ),
)


def _mask(call: Call) -> tuple[list[int], list[int]]:
    """The places that are kept when the masked axes are laid out in one, and that layout."""
    shape = call.shapes["tensor"]
    mask = np.asarray(call.args["mask"])
    if mask.dtype != np.bool_ or not mask.ndim:
        raise ShapeError(f"mask is a list of true and false, not {call.args['mask']!r}")
    if shape[: mask.ndim] != mask.shape:
        raise ShapeError(
            f"mask has shape {list(mask.shape)}, but the first axes of tensor are {list(shape)}"
        )
    return np.flatnonzero(mask).tolist(), [mask.size, *shape[mask.ndim :]]


def _mask_shape(call: Call) -> Shape:
    places, layout = _mask(call)
    return (len(places), *layout[1:])


def _masked(call: Call, name: str) -> str:
    places, layout = _mask(call)
    return f"take(reshape({name}, {layout}), {places}, 0)"


def _unmasked(call: Call) -> str:
    places, layout = _mask(call)
    added = f"scatter_add(zeros({layout}), {places}, G, 0)"
    return f"reshape({added}, {list(call.shapes['tensor'])})"


def _mask_derivation(call: Call) -> Derivation:
    return (
        Step(
            "The mask is a constant: it says which elements or slices of x are kept, and dy keeps "
            "the same of dx.",
            f"dout == {_masked(call, 'dtensor')}",
        ),
        Step(
            "The loss changes by the inner product of G with dy. Each slice of dx that was kept "
            "stands beside its own slice of G; the others stand beside nothing.",
            f"sum(G * dout) == sum({_unmasked(call)} * dtensor)",
        ),
    )


def _mask_code(call: Call) -> dict[str, str]:
    places, layout = _mask(call)
    found = f"tf.scatter_nd({[[place] for place in places]}, G, {layout})"
    return {"tensor": f"tf.reshape({found}, {list(call.shapes['tensor'])})"}


_SIZE = "sqrt(sum(square(t), axes, True))"


def _clipped(upstream: str) -> str:
    """What is left of a vector where the norm is clipped: its share along t taken out, scaled."""
    inside = f"({upstream} - t * sum({upstream} * t, axes, True) / square({_SIZE}))"
    return f"where({_SIZE} > clip_norm, clip_norm / {_SIZE} * {inside}, {upstream})"


def _clip_shape(call: Call) -> Shape:
    several_axes(call.args["axes"], len(only(call)))
    return only(call)


_CLIP = (
    Step("Let n be the length of x.", f"n := {_SIZE}"),
    Step(
        "It changes by the share of dx along x, over n.",
        "dn := sum(t * dt, axes, True) / n",
    ),
    Step(
        "Where n is above c = clip_norm, y = c·x/n: by the quotient rule the share along x drops "
        "out, as the length of y stays c. Where it is not, y is x.",
        "dout == where(n > clip_norm, clip_norm / n * (dt - t * dn / n), dt)",
    ),
    Step(
        "Taking out the share along x is its own transpose, and scaling is as well: on the way "
        "back they act on G in the same way.",
        "sum(G * dout) == sum(where(n > clip_norm, clip_norm / n * "
        "(G - t * sum(G * t, axes, True) / square(n)), G) * dt)",
    ),
)


def _linspace_code(call: Call) -> dict[str, str]:
    count, rank = call.args["num"], len(call.shapes["start"])
    shape = [count, *[1] * rank]
    w = f"tf.reshape(tf.range({count}, dtype=G.dtype) / {count - 1}, {shape})"
    return {
        "start": f"tf.reduce_sum(G * (1 - {w}), 0)",
        "stop": f"tf.reduce_sum(G * {w}, 0)",
    }


OPS = (
    elementwise(
        "identity",
        "tf.identity",
        "y = x",
        forward="input",
        input="G",
        related=("add_n", "reshape"),
        slope=(Step("y is x itself, and moves as x does.", "dout == dinput"),),
        pitfalls=("Nothing is held fixed by it: that is stop_gradient.",),
    ),
    elementwise(
        "cast",
        "tf.cast",
        "y = x in another precision",
        forward="x",
        x="G",
        required=("dtype",),
        float32_only=True,
        related=("identity", "real", "complex"),
        example=Example({"x": (3,)}, {"dtype": "float32"}),
        code=lambda _: {"x": "tf.cast(G, x.dtype)"},
        slope=(Step("But for rounding y is x itself, and moves as x does.", "dout == dx"),),
        undefined=("Whole numbers do not move with x: a cast to them ends the way back.",),
        pitfalls=(
            "G comes back in the precision of x: what was rounded away on the way forward is not "
            "in it.",
            "Rounding has steps; they are overlooked: the gradient would be 0 almost everywhere.",
        ),
    ),
    Op(
        name="add_n",
        tf="tf.add_n",
        aliases=("tf.math.add_n",),
        family="joining",
        summary="y = the sum of all the inputs",
        inputs=(Parameter("inputs"),),
        forward=lambda call: " + ".join(call.shapes),
        formula=lambda call: dict.fromkeys(call.shapes, "G"),
        shape=_add_n_shape,
        variadic=True,
        build=_add_n_build,
        batches="Nothing is broadcast: all shapes must be the same.",
        example=Example({"a": (2, 3), "b": (2, 3), "c": (2, 3)}),
        related=("add", "reduce_sum", "stack"),
        pitfalls=("Every input gets the whole of G: nothing is shared out.",),
    ),
    Op(
        name="linspace",
        tf="tf.linspace",
        family="array",
        summary="y = num numbers, evenly from start to stop",
        inputs=(Parameter("start"), Parameter("stop")),
        formula={
            "start": f"sum(G * (1 - {_RAMP}), 0)",
            "stop": f"sum(G * {_RAMP}, 0)",
        },
        forward=f"expand_dims(start, 0) * (1 - {_RAMP}) + expand_dims(stop, 0) * {_RAMP}",
        tangent=f"expand_dims(dstart, 0) * (1 - {_RAMP}) + expand_dims(dstop, 0) * {_RAMP}",
        code=_linspace_code,
        derivation=_LINSPACE,
        shape=_linspace_shape,
        real_only=True,
        required=("num",),
        axes={"start": "i", "stop": "i", "out": "ki"},
        batches="Every place of start and stop has numbers of its own, along the new axis.",
        example=Example({"start": (2,), "stop": (2,)}, {"num": 4}),
        related=("stack", "reduce_sum", "broadcast_to"),
        pitfalls=(
            "The weights of start and stop add up to 1 at every number.",
            "num is a whole number, without a gradient.",
        ),
    ),
    Op(
        name="boolean_mask",
        tf="tf.boolean_mask",
        family="array",
        summary="y = the elements or slices of x where the mask is true",
        inputs=(Parameter("tensor"),),
        formula=lambda call: {"tensor": _unmasked(call)},
        forward=lambda call: _masked(call, "tensor"),
        tangent=lambda call: _masked(call, "dtensor"),
        code=_mask_code,
        derivation=_mask_derivation,
        shape=_mask_shape,
        required=("mask",),
        batches="Axes behind those of the mask are carried along, slice by slice.",
        example=Example({"tensor": (4, 2)}, {"mask": [True, False, True, True]}),
        related=("gather", "where", "scatter_nd"),
        pitfalls=(
            "The gradient has the shape of x, with zeros where the mask is false.",
            "The mask has no gradient, also where it was computed from x.",
        ),
    ),
    Op(
        name="clip_by_norm",
        tf="tf.clip_by_norm",
        family="elementwise",
        summary="y = x, shortened to the length clip_norm where it is longer",
        inputs=(Parameter("t"),),
        formula={"t": _clipped("G")},
        forward=f"where({_SIZE} > clip_norm, t * clip_norm / {_SIZE}, t)",
        tangent=_clipped("dt"),
        derivation=_CLIP,
        shape=_clip_shape,
        real_only=True,
        required=("clip_norm",),
        args={"axes": None},
        symbols={"t": "x", "out": "y"},
        batches="Axes that are not among `axes` are batch axes: each vector has its own length.",
        undefined=("Where the length is clip_norm there is a kink.",),
        example=Example({"t": (3,)}, {"clip_norm": 1.0}),
        related=("l2_normalize", "clip_by_value", "norm"),
        pitfalls=(
            "Beyond the bound the gradient is no longer G: it is perpendicular to x, and scaled.",
            Seen(
                "At the zero vector TensorFlow gives G: nothing is clipped there.",
                {"t": [0.0, 0.0]},
                {"t": [1.0, 1.0]},
                args={"clip_norm": 1.0},
            ),
        ),
    ),
)
