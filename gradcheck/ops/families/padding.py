"""Padding: zeros, a constant or a mirror image around a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import counts, only

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


def _paddings(call: Call) -> list[list[int]]:
    shape, paddings = only(call), call.args["paddings"]
    if not isinstance(paddings, list) or len(paddings) != len(shape):
        raise ShapeError(f"paddings need [before, after] for each of the {len(shape)} axes")
    return [counts(pair, "paddings") for pair in paddings]


def _pad_shape(call: Call) -> Shape:
    if call.args["mode"] not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ShapeError(f"mode is 'CONSTANT', 'REFLECT' or 'SYMMETRIC', not {call.args['mode']!r}")
    if call.args["mode"] != "CONSTANT":
        _mirrored(call)
    return tuple(
        n + before + after for n, (before, after) in zip(only(call), _paddings(call), strict=True)
    )


def _mirrored(call: Call) -> list[list[int]]:
    """By axis: which slice of the input each one of the output is, where x is mirrored."""
    edge = 1 if call.args["mode"] == "REFLECT" else 0
    found = []
    for n, (before, after) in zip(only(call), _paddings(call), strict=True):
        if max(before, after) > n - edge:
            raise ShapeError(
                f"an axis of size {n} cannot be padded by {[before, after]} in mode "
                f"{call.args['mode']!r}"
            )
        head, tail = range(before - 1 + edge, edge - 1, -1), range(n - 1 - edge, -1, -1)
        found.append([*head, *range(n), *list(tail)[:after]])
    return found


def _pad_forward(call: Call, name: str = "tensor") -> str:
    if call.args["mode"] == "CONSTANT":
        zeros = f"zeros({list(_pad_shape(call))})"
        put = f"put_slice({zeros}, '{_inside(call)}', {name})"
        value = call.args["constant_values"]
        if not value or name != "tensor":
            return put
        return f"{put} + {value} * (1 - put_slice({zeros}, '{_inside(call)}', ones_like({name})))"
    text = name
    for axis, places in enumerate(_mirrored(call)):
        text = f"take({text}, {places}, {axis})"
    return text


def _pad_formula(call: Call) -> dict[str, str]:
    if call.args["mode"] == "CONSTANT":
        return {"tensor": f"pick(G, '{_inside(call)}')"}
    text, sizes = "G", list(_pad_shape(call))
    # The last axis was mirrored last: its copies are added up first.
    for axis, places in reversed(list(enumerate(_mirrored(call)))):
        sizes[axis] = only(call)[axis]
        text = f"scatter_add(zeros({sizes}), {places}, {text}, {axis})"
    return {"tensor": text}


def _pad_derivation(call: Call) -> Derivation:
    if call.args["mode"] == "CONSTANT" and not call.args["constant_values"]:
        return ()
    moved = (
        "The padding is a constant, so dy is dx with zeros around it."
        if call.args["mode"] == "CONSTANT"
        else "y holds elements of x, some of them more than once; dy holds those of dx."
    )
    gathered = (
        "What reaches the padding is lost: the part of G that lies over x stands beside dx."
        if call.args["mode"] == "CONSTANT"
        else "Beside each element of dx stands the sum of the G of all its copies."
    )
    return (
        Step(moved, f"dout == {_pad_forward(call, 'dtensor')}"),
        Step(
            f"The loss changes by the inner product of G with dy. {gathered}",
            f"sum(G * dout) == sum({_pad_formula(call)['tensor']} * dtensor)",
        ),
    )


def _pad_code(call: Call) -> dict[str, str]:
    if call.args["mode"] == "CONSTANT":
        return {}
    paddings = [list(pair) for pair in _paddings(call)]
    return {
        "tensor": f"tf.raw_ops.MirrorPadGrad(input=G, paddings={paddings}, "
        f"mode={call.args['mode']!r})"
    }


def _inside(call: Call) -> str:
    """The index at which the input lies in the padded output."""
    pairs = zip(only(call), _paddings(call), strict=True)
    return ", ".join(f"{before}:{before + n}" for n, (before, _) in pairs) or "..."


OPS = (
    Op(
        name="pad",
        tf="tf.pad",
        family="array",
        summary="y = x with zeros around it, or a constant, or its own mirror image",
        inputs=(Parameter("tensor"),),
        formula=_pad_formula,
        forward=_pad_forward,
        tangent=lambda call: _pad_forward(call, "dtensor"),
        derivation=_pad_derivation,
        code=_pad_code,
        shape=_pad_shape,
        required=("paddings",),
        args={"mode": "CONSTANT", "constant_values": 0},
        example=Example({"tensor": (3,)}, {"paddings": [[1, 2]]}),
        related=("slice", "concat"),
        pitfalls=(
            "Around zeros the gradient is the inner part of G; what reaches the padding is lost.",
            "A mirror image is not lost: its gradient is added to what was mirrored.",
        ),
    ),
)
