"""Ops that put tensors together: end to end, on top of each other, or element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter
from gradcheck.ops.rules import broadcast_call, one_axis, only
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import BROADCAST_IS_SUMMED

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _concat_shape(call: Call) -> Shape:
    first, *others = call.shapes.items()
    axis = one_axis(call.args["axis"], len(first[1]))
    for name, shape in others:
        if len(shape) != len(first[1]):
            raise ShapeError(
                f"{name} has rank {len(shape)}, but {first[0]} has {len(first[1])}: "
                "concat joins along an axis that all have; stack makes a new one"
            )
        for i, (a, b) in enumerate(zip(first[1], shape, strict=True)):
            if i != axis and a != b:
                raise ShapeError(
                    f"axis {i} is {a} in {first[0]}, but {b} in {name}: "
                    f"only axis {axis}, along which they are joined, may differ"
                )
    total = sum(shape[axis] for shape in call.shapes.values())
    return (*first[1][:axis], total, *first[1][axis + 1 :])


def _concat_formula(call: Call) -> dict[str, str]:
    axis = one_axis(call.args["axis"], len(only(call)))
    formula, start = {}, 0
    for name, shape in call.shapes.items():
        formula[name] = f"part(G, axis, {start}, {shape[axis]})"
        start += shape[axis]
    return formula


def _stack_shape(call: Call) -> Shape:
    first, *others = call.shapes.items()
    for name, shape in others:
        if shape != first[1]:
            raise ShapeError(
                f"{first[0]} has shape {list(first[1])}, but {name} has {list(shape)}: "
                "stack takes equal shapes"
            )
    axis = one_axis(call.args["axis"], len(first[1]) + 1)
    return (*first[1][:axis], len(call.shapes), *first[1][axis:])


def _stack_formula(call: Call) -> dict[str, str]:
    return {name: f"take(G, {i}, axis)" for i, name in enumerate(call.shapes)}


def _concat_forward(call: Call) -> str:
    return f"concatenate([{', '.join(call.shapes)}], axis)"


def _stack_forward(call: Call) -> str:
    return f"stack([{', '.join(call.shapes)}], axis)"


def _concat_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    return tf.concat(tensors, **args)


def _stack_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    return tf.stack(tensors, **args)


OPS = (
    Op(
        name="concat",
        tf="tf.concat",
        family="joining",
        summary="y = the inputs end to end along an axis",
        inputs=(Parameter("values"),),
        forward=_concat_forward,
        example=Example({"a": (2, 3), "b": (4, 3)}, {"axis": 0}),
        formula=_concat_formula,
        shape=_concat_shape,
        variadic=True,
        required=("axis",),
        build=_concat_build,
        related=("stack", "split", "pad"),
        pitfalls=(
            "Each input gets its own part of G, from where the ones before it end.",
            "An input of size 0 along the axis still has a gradient, an empty one.",
        ),
    ),
    Op(
        name="stack",
        tf="tf.stack",
        family="joining",
        summary="y = the inputs along a new axis",
        inputs=(Parameter("values"),),
        forward=_stack_forward,
        example=Example({"a": (2, 3), "b": (2, 3)}),
        formula=_stack_formula,
        shape=_stack_shape,
        variadic=True,
        args={"axis": 0},
        build=_stack_build,
        related=("unstack", "concat"),
        pitfalls=("A negative axis counts in the output, which has one axis more.",),
    ),
    Op(
        name="where",
        tf="tf.where",
        family="joining",
        summary="z = x where the condition holds, else y",
        inputs=(
            Parameter("condition", Domain(sample=Sample("boolean")), Kind.BOOLEAN),
            Parameter("x"),
            Parameter("y"),
        ),
        forward="where(condition, x, y)",
        formula={"x": "where(condition, G, 0)", "y": "where(condition, 0, G)"},
        shape=broadcast_call,
        related=("maximum", "clip_by_value"),
        pitfalls=(
            "The branch that is not taken gets 0.",
            Seen(
                "If the slope of the branch that is not taken is infinite, 0·inf is NaN: make "
                "the branch safe before, with a second where.",
                {"x": [0.0]},
                {"x": ["nan"]},
                expr="tf.where(x > 0.0, tf.math.log(x), 0.0)",
            ),
            BROADCAST_IS_SUMMED,
        ),
    ),
)
