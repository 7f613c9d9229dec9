"""Ops that write updates into a tensor at indices: added, subtracted, put, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation

_INDICES = Parameter("indices", Domain(sample=Sample("integers")), Kind.INTEGER)
_NO_TIES = Domain(sample=Sample("distinct"))
_EXAMPLE = Example({"tensor": (4, 2), "indices": (3, 1), "updates": (3, 2)})
_SYMBOLS = {"tensor": "x", "updates": "u"}
_BATCHES = "Axes behind those that an index names are carried along, slice by slice."
_RELATED = ("scatter_nd", "gather_nd", "tensor_scatter_nd_add")


def _fits(tensor: Shape, indices: Shape, updates: Shape) -> Shape:
    depth = indices[-1] if indices else 0
    if not indices or depth > len(tensor):
        raise ShapeError(f"indices {list(indices)} do not name places in tensor {list(tensor)}")
    wanted = (*indices[:-1], *tensor[depth:])
    if updates != wanted:
        raise ShapeError(
            f"updates have shape {list(updates)}, but these indices and this tensor need "
            f"{list(wanted)}"
        )
    return tensor


def _letters(call: Call) -> dict[str, str]:
    """A letter for each axis: those that an index names, those behind, those of the updates."""
    rank, updates = len(call.shapes["tensor"]), len(call.shapes["updates"])
    if "indices" in call.shapes:
        depth = call.shapes["indices"][-1]
    else:
        depth = np.asarray(call.args["indices"]).shape[-1]
    rest = "jmn"[: rank - depth]
    outer = "pqr"[: updates - len(rest)]
    tensor = "iklh"[:depth] + rest
    found = {"tensor": tensor, "updates": outer + rest, "out": tensor}
    return found | ({"indices": f"{outer}d"} if "indices" in call.shapes else {})


def _shape(call: Call) -> Shape:
    return _fits(call.shapes["tensor"], call.shapes["indices"], call.shapes["updates"])


def _update_shape(call: Call) -> Shape:
    given = call.args["indices"]
    try:
        indices = np.asarray(given)
    except ValueError:
        indices = np.asarray(0.5)
    if indices.dtype.kind not in "iu" or indices.ndim < 1:
        raise ShapeError(f"indices is a list of lists of whole numbers, not {given!r}")
    tensor = _fits(call.shapes["tensor"], indices.shape, call.shapes["updates"])
    limits = np.asarray(tensor[: indices.shape[-1]])
    if (indices < 0).any() or (indices >= limits).any():
        raise ShapeError(f"indices {given!r} leave the tensor of shape {list(tensor)}")
    return tensor


def _added(name: str, sign: str, verb: str, mistakes: tuple[str, ...]) -> Op:
    return Op(
        name=name,
        tf=f"tf.{name}",
        family="scatter",
        summary=f"y = x with the updates {verb} at the indices",
        inputs=(Parameter("tensor"), _INDICES, Parameter("updates")),
        forward=f"tensor {sign} scatter_nd(indices, updates, shape(tensor))",
        formula={"tensor": "G", "updates": f"{sign}gather_nd(G, indices)".removeprefix("+")},
        tangent=f"dtensor {sign} scatter_nd(indices, dupdates, shape(tensor))",
        shape=_shape,
        symbols=_SYMBOLS,
        batches=_BATCHES,
        example=_EXAMPLE,
        related=("scatter_nd", "gather_nd", "tensor_scatter_nd_update"),
        pitfalls=mistakes,
    )


_KEPT = "scatter_update(ones_like(tensor), indices, zeros_like(updates))"

_UPDATE = (
    Step(
        "Let k be 1 at the elements of x that are kept, and 0 where an update is put in their "
        "place. (The text holds for indices of which none occurs twice.)",
        f"k := {_KEPT}",
    ),
    Step(
        "y is x where it is kept, and the updates at the indices; so it moves with dx where it is "
        "kept, and with du at the indices.",
        "dout == k * dtensor + scatter_nd(indices, dupdates, shape(tensor))",
    ),
    Step(
        "The loss changes by the inner product of G with dy. Beside each element of du stands the "
        "G of the place where it was put: that is what gather_nd takes out of G.",
        "sum(G * dout) == sum(k * G * dtensor) + sum(gather_nd(G, indices) * dupdates)",
    ),
)

_FROM_X = "where(equal(tensor, out), 1, 0)"
_FROM_U = "where(equal(updates, gather_nd(out, indices)), 1, 0)"
_WINNERS = f"({_FROM_X} + scatter_nd(indices, {_FROM_U}, shape(tensor)))"


def _extreme(name: str, word: str) -> Op:
    function = f"scatter_{name}"
    steps: Derivation = (
        Step(
            f"At each place of y the {word} of x and of the updates there stands. Let p be 1 where "
            "that is x, q 1 at the updates that it is, and n how many they are at each place: 1, "
            "but where some are equal.",
            f"p := {_FROM_X}",
        ),
        Step("", f"q := {_FROM_U}"),
        Step("", "n := p + scatter_nd(indices, q, shape(tensor))"),
        Step(
            "A small change does not change which is the one, so y moves with it alone.",
            "dout == (p * dtensor + scatter_nd(indices, q * dupdates, shape(tensor))) / n",
        ),
        Step(
            "The loss changes by the inner product of G with dy. Beside dx stands G where x won, "
            "beside du the G of its place where it won.",
            "sum(G * dout) == sum(p * G / n * dtensor) + "
            "sum(q * gather_nd(G / n, indices) * dupdates)",
        ),
    )
    return Op(
        name=f"tensor_scatter_nd_{name}",
        tf=f"tf.tensor_scatter_nd_{name}",
        family="scatter",
        summary=f"y = the {word} of x and of the updates at the indices",
        inputs=(Parameter("tensor", _NO_TIES), _INDICES, Parameter("updates", _NO_TIES)),
        forward=f"{function}(tensor, indices, updates)",
        formula={
            "tensor": f"{_FROM_X} * (G / {_WINNERS})",
            "updates": f"{_FROM_U} * gather_nd(G / {_WINNERS}, indices)",
        },
        code={
            "tensor": _winner_code("tensor", "G / ({})"),
            "updates": _winner_code("updates", "tf.gather_nd(G / ({}), indices)"),
        },
        tangent=f"({_FROM_X} * dtensor + scatter_nd(indices, {_FROM_U} * dupdates, "
        f"shape(tensor))) / {_WINNERS}",
        shape=_shape,
        real_only=True,
        symbols=_SYMBOLS,
        derivation=steps,
        axes=_letters,
        batches=_BATCHES,
        undefined=("Where the two that are compared are equal there is a kink.",),
        example=_EXAMPLE,
        related=(*_RELATED, "maximum" if name == "max" else "minimum"),
        pitfalls=(
            f"Whoever is not the {word} gets 0: an update that lost changes nothing.",
            Seen(
                "Where they tie TensorFlow shares G equally.",
                {"tensor": [1.0, 2.0], "indices": [[0]], "updates": [1.0]},
                {"tensor": [0.5, 1.0], "updates": [0.5]},
            ),
        ),
    )


def _winner_code(name: str, rest: str) -> str:
    at = "tf.gather_nd(out, indices)"
    from_x = "tf.cast(tf.equal(tensor, out), G.dtype)"
    from_u = f"tf.cast(tf.equal(updates, {at}), G.dtype)"
    winners = f"tf.tensor_scatter_nd_add({from_x}, indices, {from_u})"
    return f"{from_x if name == 'tensor' else from_u} * {rest.format(winners)}"


OPS = (
    _added(
        "tensor_scatter_nd_add",
        "+",
        "added",
        (
            "x gets all of G, also where updates were added: nothing is overwritten.",
            "Updates with the same index are added up, and each gets the whole gradient.",
        ),
    ),
    _added(
        "tensor_scatter_nd_sub",
        "-",
        "subtracted",
        (
            "The updates get −G: the sign is what tells it from tensor_scatter_nd_add.",
            "Updates with the same index are added up, and each gets the whole gradient.",
        ),
    ),
    Op(
        name="tensor_scatter_nd_update",
        tf="tf.tensor_scatter_nd_update",
        family="scatter",
        summary="y = x with the updates in place of what stood at the indices",
        inputs=(Parameter("tensor"), Parameter("updates")),
        forward="scatter_update(tensor, indices, updates)",
        formula={"tensor": f"{_KEPT} * G", "updates": "gather_nd(G, indices)"},
        code=lambda call: {
            "tensor": "tf.tensor_scatter_nd_update(G, "
            f"{call.args['indices']}, tf.zeros_like(updates))",
            "updates": f"tf.gather_nd(G, {call.args['indices']})",
        },
        tangent=f"{_KEPT} * dtensor + scatter_nd(indices, dupdates, shape(tensor))",
        shape=_update_shape,
        required=("indices",),
        positions=("tensor", "indices", "updates"),
        symbols=_SYMBOLS,
        derivation=_UPDATE,
        axes=_letters,
        batches=_BATCHES,
        undefined=("Where an index occurs twice it is not said which update is kept.",),
        example=Example({"tensor": (4, 2), "updates": (2, 2)}, {"indices": [[0], [3]]}),
        related=_RELATED,
        pitfalls=(
            "x gets 0 where it was overwritten: what stood there has no way to the loss.",
            Seen(
                "Where an index occurs twice one update is lost, but TensorFlow gives both a "
                "gradient.",
                {"tensor": [1.0, 2.0], "updates": [3.0, 4.0]},
                {"updates": [1.0, 1.0]},
                args={"indices": [[0], [0]]},
            ),
        ),
    ),
    _extreme("max", "largest"),
    _extreme("min", "smallest"),
)
