"""The norm of vectors: Euclidean, of any power, or the largest element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.factories.reduction import reduced_shape
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation

_G_ALONG = "unreduce(G, shape(tensor), axis, keepdims)"
_OUT_ALONG = "unreduce(out, shape(tensor), axis, keepdims)"
_LARGEST = "one_hot_max(abs(tensor), axis)"


def _power(call: Call) -> float | None:
    """The power of the norm; None for the Euclidean one, infinity for the largest element."""
    given = call.args["ord"]
    over_matrices = isinstance(call.args["axis"], list | tuple) and len(call.args["axis"]) == 2
    if given == "fro" and not over_matrices:
        raise ShapeError("ord 'fro' is a norm of matrices: name two axes, or take 'euclidean'")
    if given in ("euclidean", "fro"):
        return None
    if given == "inf":
        given = float("inf")
    if isinstance(given, bool) or not isinstance(given, int | float) or given < 1:
        raise ShapeError(f"ord is 'euclidean', 'fro', 'inf' or a number from 1 on, not {given!r}")
    if over_matrices:
        raise ShapeError(
            f"ord {given} over two axes is a norm of matrices: this formula is one of vectors"
        )
    return None if given == 2 else float(given)


def _shape(call: Call) -> Shape:
    _power(call)
    return reduced_shape(call)


def _weight(call: Call) -> str:
    """The slope of the norm by each element."""
    p = _power(call)
    if p is None:
        return f"tensor / {_OUT_ALONG}"
    if p == float("inf"):
        return f"{_LARGEST} * sign(tensor)"
    if p == 1:
        return "sign(tensor)"
    return f"sign(tensor) * (abs(tensor) / {_OUT_ALONG})**{p - 1:g}"


def _forward(call: Call) -> str:
    p = _power(call)
    if p is None:
        return "sqrt(sum(square(tensor), axis, keepdims))"
    if p == float("inf"):
        return "max(abs(tensor), axis, keepdims)"
    if p == 1:
        return "sum(abs(tensor), axis, keepdims)"
    return f"sum(abs(tensor)**{p:g}, axis, keepdims)**{1 / p!r}"


def _tangent(call: Call) -> str:
    if _power(call) is None:
        return "sum(tensor * dtensor, axis, keepdims) / out"
    return f"sum({_weight(call)} * dtensor, axis, keepdims)"


def _why(p: float) -> str:
    if p == float("inf"):
        return (
            "A small change does not change which element is the largest in size, so y moves as "
            "the size of that one does: with the sign of it."
        )
    if p == 1:
        return "Each size |x| moves with the sign of x; y is their sum."
    return (
        f"Raise both sides to the power {p:g}: y to it is the sum of |x| to it. Differentiate, and "
        "divide by what stands before dy."
    )


def _derivation(call: Call) -> Derivation:
    p = _power(call)
    if p is None:
        return ()
    return (
        Step(_why(p), f"dout == {_tangent(call)}"),
        Step(
            "The loss changes by the inner product of G with dy: beside each dx stands its weight, "
            "times the G of its place.",
            f"sum(G * dout) == sum({_G_ALONG} * {_weight(call)} * dtensor)",
        ),
    )


OPS = (
    Op(
        name="norm",
        tf="tf.norm",
        family="reduce",
        summary="y = ‖x‖ along axes",
        inputs=(Parameter("tensor"),),
        formula=lambda call: {"tensor": f"{_G_ALONG} * {_weight(call)}"},
        forward=_forward,
        tangent=_tangent,
        derivation=_derivation,
        shape=_shape,
        real_only=True,
        args={"ord": "euclidean", "axis": None, "keepdims": False},
        build=lambda tf, tensors, args: tf.norm(
            tensors[0], **{**args, "ord": float("inf") if args["ord"] == "inf" else args["ord"]}
        ),
        aliases=("tf.linalg.norm",),
        undefined=(
            "At the zero vector: the norm has a kink there.",
            "With ord 1 wherever an element is 0, with ord inf where two tie for the largest.",
        ),
        related=("reduce_euclidean_norm", "l2_normalize"),
        example=Example({"tensor": (2, 3)}, {"axis": 1}),
        pitfalls=(
            Seen(
                "At the zero vector it is 0/0, but with ord 1 and inf: NaN; add a small number "
                "under the root by hand.",
                {"tensor": [0.0, 0.0]},
                {"tensor": ["nan", "nan"]},
            ),
            "Over two axes this is the norm of all elements, not the largest singular value.",
            "Without `keepdims` the lost axis must be put back before G is repeated along it.",
        ),
    ),
)
