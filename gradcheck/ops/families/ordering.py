"""Ops that put elements in order: sorting, and the largest few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import one_axis, only, whole
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation

_NO_TIES = Domain(sample=Sample("distinct"))
_TIES = ("Where two elements are equal there is a kink: they change places.",)
_OTHER_AXES = "Every axis but the one that is sorted along is a batch axis."


def _sort_shape(call: Call) -> Shape:
    shape = only(call)
    one_axis(call.args["axis"], len(shape))
    if call.args["direction"] not in ("ASCENDING", "DESCENDING"):
        raise ShapeError(
            f"direction is 'ASCENDING' or 'DESCENDING', not {call.args['direction']!r}"
        )
    return shape


def _falling(call: Call) -> str:
    """A sign before what is sorted from the largest down."""
    return "-" if call.args["direction"] == "DESCENDING" else ""


def _sort_derivation(call: Call) -> Derivation:
    sign = _falling(call)
    return (
        Step(
            "Let o hold, for each place of y, the place of x that its element came from.",
            f"o := order({sign}values, axis)",
        ),
        Step("", "out == take_along(values, o, axis)"),
        Step(
            "A small change moves the elements, but not past each other: o stays, and dy is dx in "
            "the same order.",
            "dout == take_along(dvalues, o, axis)",
        ),
        Step(
            "Let r hold the opposite: for each place of x, the place in y that its element went "
            "to. The loss changes by the inner product of G with dy, so beside each dx stands the "
            "G of where it went.",
            f"r := ranks({sign}values, axis)",
        ),
        Step("", "sum(G * dout) == sum(take_along(G, r, axis) * dvalues)"),
    )


def _sort_code(call: Call) -> dict[str, str]:
    axis, direction = call.args["axis"], call.args["direction"]
    order = f"tf.argsort(values, axis={axis}, direction={direction!r}, stable=True)"
    ranks = f"tf.argsort({order}, axis={axis})"
    rank = len(only(call))
    along = one_axis(axis, rank)
    if along == rank - 1:
        return {"values": f"tf.gather(G, {ranks}, batch_dims={along})"}
    perm = [i for i in range(rank) if i != along] + [along]
    back = [perm.index(i) for i in range(rank)]
    moved = f"tf.gather(tf.transpose(G, {perm}), tf.transpose({ranks}, {perm}), "
    return {"values": f"tf.transpose({moved}batch_dims={rank - 1}), {back})"}


def _top_shape(call: Call) -> Shape:
    shape, k = only(call), whole(call.args["k"], "k")
    if not shape or not 0 <= k <= shape[-1]:
        raise ShapeError(f"k is {k}, but the last axis of {list(shape)} does not have so many")
    return (*shape[:-1], k)


def _top_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    return tf.math.top_k(tensors[0], k=args["k"])[0]


def _filled(call: Call, upstream: str) -> str:
    """The upstream, with zeros for the elements that were left out."""
    shape = only(call)
    missing = shape[-1] - whole(call.args["k"], "k")
    return f"concatenate([{upstream}, zeros({[*shape[:-1], missing]})], -1)"


def _top_derivation(call: Call) -> Derivation:
    k = whole(call.args["k"], "k")
    return (
        Step(
            "Let o hold the places of the elements of x from the largest down; y has the first k "
            "of them.",
            "o := order(-input, -1)",
        ),
        Step("", f"out == part(take_along(input, o, -1), -1, 0, {k})"),
        Step(
            "A small change does not change the order, so dy is taken out of dx at the same "
            "places.",
            f"dout == part(take_along(dinput, o, -1), -1, 0, {k})",
        ),
        Step(
            "Let H be G with zeros behind it, for the elements that were left out, and r the place "
            "that each x has in the order. The loss changes by the inner product of G with dy: "
            "beside each dx stands the element of H at its place.",
            f"H := {_filled(call, 'G')}",
        ),
        Step("", "r := ranks(-input, -1)"),
        Step("", "sum(G * dout) == sum(take_along(H, r, -1) * dinput)"),
    )


def _top_code(call: Call) -> dict[str, str]:
    shape, k = only(call), whole(call.args["k"], "k")
    around = [[0, 0]] * (len(shape) - 1) + [[0, shape[-1] - k]]
    ranks = "tf.argsort(tf.argsort(input, direction='DESCENDING', stable=True))"
    return {"input": f"tf.gather(tf.pad(G, {around}), {ranks}, batch_dims={len(shape) - 1})"}


OPS = (
    Op(
        name="sort",
        tf="tf.sort",
        family="ordering",
        summary="y = x in order along an axis",
        inputs=(Parameter("values", _NO_TIES),),
        formula=lambda call: {
            "values": f"take_along(G, ranks({_falling(call)}values, axis), axis)"
        },
        forward=lambda call: "-sort(-values, axis)" if _falling(call) else "sort(values, axis)",
        tangent=lambda call: f"take_along(dvalues, order({_falling(call)}values, axis), axis)",
        code=_sort_code,
        shape=_sort_shape,
        real_only=True,
        args={"axis": -1, "direction": "ASCENDING"},
        derivation=_sort_derivation,
        undefined=_TIES,
        batches=_OTHER_AXES,
        example=Example({"values": (4,)}),
        related=("top_k", "gather", "reduce_max"),
        pitfalls=(
            "G is put in the order of x again, not sorted itself.",
            Seen(
                "Equal elements keep their order: TensorFlow gives the first of them the first G.",
                {"values": [1.0, 1.0]},
                {"values": [1.0, 0.0]},
                expr="tf.sort(values)[0]",
            ),
        ),
    ),
    Op(
        name="top_k",
        tf="tf.math.top_k",
        is_part=True,
        part_of=("tf.math.top_k", 0),
        family="ordering",
        summary="y = the k largest x along the last axis, from the largest down",
        inputs=(Parameter("input", _NO_TIES),),
        formula=lambda call: {"input": f"take_along({_filled(call, 'G')}, ranks(-input, -1), -1)"},
        forward=lambda call: f"part(-sort(-input, -1), -1, 0, {whole(call.args['k'], 'k')})",
        tangent=lambda call: (
            f"part(take_along(dinput, order(-input, -1), -1), -1, 0, {whole(call.args['k'], 'k')})"
        ),
        code=_top_code,
        shape=_top_shape,
        real_only=True,
        args={"k": 1},
        build=_top_build,
        derivation=_top_derivation,
        undefined=_TIES,
        batches="Every axis but the last is a batch axis.",
        example=Example({"input": (2, 4)}, {"k": 2}),
        related=("sort", "reduce_max", "max_pool2d"),
        pitfalls=(
            "Whatever is not among the k largest gets 0, however close it is.",
            "The places of the largest are whole numbers, without a gradient.",
        ),
    ),
)
