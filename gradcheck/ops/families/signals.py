"""Signals: frames that overlap, cosine transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import only, whole

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


_LAST = "Every axis but the last is a batch axis."


def _frame_places(call: Call) -> list[list[int]]:
    """By frame: the places of the signal that it holds."""
    length = whole(call.args["frame_length"], "frame_length")
    step, shape = whole(call.args["frame_step"], "frame_step"), only(call)
    if not shape or length < 1 or step < 1:
        raise ShapeError("a signal needs an axis, frame_length and frame_step are above 0")
    count = max(0, 1 + (shape[-1] - length) // step)
    return [[step * i + k for k in range(length)] for i in range(count)]


def _frame_shape(call: Call) -> Shape:
    frames = _frame_places(call)
    return (*only(call)[:-1], len(frames), whole(call.args["frame_length"], "frame_length"))


def _frame_derivation(call: Call) -> Derivation:
    places = _frame_places(call)
    return (
        Step(
            "Row by row, y holds the elements of x at these places: each frame begins frame_step "
            "further on. So dy holds those of dx.",
            f"dout == take(dsignal, {places}, -1)",
        ),
        Step(
            "The loss changes by the inner product of G with dy. An element of x may stand in "
            "several frames: beside its change stands the sum of all their G, each added at its "
            "place.",
            f"sum(G * dout) == sum(scatter_add(signal, {places}, G, -1) * dsignal)",
        ),
    )


def _added_shape(call: Call) -> Shape:
    shape, step = only(call), whole(call.args["frame_step"], "frame_step")
    if len(shape) < 2 or not 1 <= step <= shape[-1]:
        raise ShapeError(f"signal {list(shape)} holds frames, which frame_step must not pass")
    return (*shape[:-2], (shape[-2] - 1) * step + shape[-1])


def _added_places(call: Call) -> list[list[int]]:
    frames, length = only(call)[-2:]
    step = whole(call.args["frame_step"], "frame_step")
    return [[step * i + k for k in range(length)] for i in range(frames)]


def _added(call: Call, name: str) -> str:
    return f"scatter_add(zeros({list(_added_shape(call))}), {_added_places(call)}, {name}, -1)"


def _overlap_derivation(call: Call) -> Derivation:
    return (
        Step(
            "y begins as zeros, and each frame of x is added at its places, frame_step further on "
            "than the one before. dy is made of dx in the same way.",
            f"dout == {_added(call, 'dsignal')}",
        ),
        Step(
            "The loss changes by the inner product of G with dy. Each element of x was added at "
            "one place alone: beside its change stands the G of that place.",
            f"sum(G * dout) == sum(take(G, {_added_places(call)}, -1) * dsignal)",
        ),
    )


def _signal(call: Call) -> Shape:
    if call.args["norm"] not in (None, "ortho"):
        raise ShapeError(f"norm is 'ortho' or none, not {call.args['norm']!r}")
    if not only(call):
        raise ShapeError("a signal needs an axis")
    return only(call)


def _matrix(call: Call, name: str, x: str) -> str:
    """The matrix by which each row is multiplied, of the size of the last axis of x."""
    return f"{name}_matrix({x}, {call.args['norm'] == 'ortho'})"


def _rows(call: Call, matrix: str, x: str, *, back: bool = False) -> str:
    """Each row of x times the matrix, or times its transpose."""
    batch = "abcdef"[: len(only(call)) - 1]
    equation = f"{batch}k,nk->{batch}n" if back else f"{batch}n,nk->{batch}k"
    return f"einsum('{equation}', {x}, {matrix})"


def _transform(name: str, summary: str, mistakes: tuple[str, ...], other: str) -> Op:
    def derivation(call: Call) -> Derivation:
        return (
            Step(
                "Let C hold the cosines: each row of x is multiplied by it.",
                f"C := {_matrix(call, name, 'input')}",
            ),
            Step("", f"out == {_rows(call, 'C', 'input')}"),
            Step("C is a constant, so", f"dout == {_rows(call, 'C', 'dinput')}"),
            Step(
                "The loss changes by the inner product of G with dy. A factor on the right moves "
                "over to the other side transposed.",
                f"sum(G * dout) == sum({_rows(call, 'C', 'G', back=True)} * dinput)",
            ),
        )

    def code(call: Call) -> dict[str, str]:
        ortho = call.args["norm"] == "ortho"
        n = only(call)[-1]
        if ortho:
            inverse = "tf.signal.idct" if name == "dct" else "tf.signal.dct"
            return {"input": f"{inverse}(G, norm='ortho')"}
        pad = f"tf.signal.{name}(tf.eye({n}, dtype=G.dtype))"
        return {"input": f"tf.linalg.matvec({pad}, G)"}

    return Op(
        name=name,
        tf=f"tf.signal.{name}",
        family="signal",
        summary=summary,
        inputs=(Parameter("input"),),
        formula=lambda call: {"input": _rows(call, _matrix(call, name, "input"), "G", back=True)},
        forward=lambda call: _rows(call, _matrix(call, name, "input"), "input"),
        tangent=lambda call: _rows(call, _matrix(call, name, "input"), "dinput"),
        code=code,
        derivation=derivation,
        shape=_signal,
        real_only=True,
        args={"norm": None},
        axes={"input": "n", "out": "k"},
        batches=_LAST,
        example=Example({"input": (2, 4)}, {"norm": "ortho"}),
        related=(other, "matmul", "frame"),
        pitfalls=mistakes,
    )


def _take_code(call: Call) -> dict[str, str]:
    return {"signal": f"tf.gather(G, {_added_places(call)}, axis=-1)"}


def _frame_code(call: Call) -> dict[str, Any]:
    """Frames with the signal's axis first can be scattered."""
    shape, places = only(call), _frame_places(call)
    batch = len(shape) - 1
    perm = [batch, batch + 1, *range(batch)]
    back = [*range(1, batch + 1), 0]
    indices = [[[k] for k in row] for row in places]
    size = [shape[-1], *shape[:-1]]
    found = f"tf.scatter_nd({indices}, tf.transpose(G, {perm}), {size})"
    return {"signal": f"tf.transpose({found}, {back})"}


OPS = (
    Op(
        name="frame",
        tf="tf.signal.frame",
        family="signal",
        summary="y = pieces of x of one length, each a step further on",
        inputs=(Parameter("signal"),),
        formula=lambda call: {"signal": f"scatter_add(signal, {_frame_places(call)}, G, -1)"},
        forward=lambda call: f"take(signal, {_frame_places(call)}, -1)",
        tangent=lambda call: f"take(dsignal, {_frame_places(call)}, -1)",
        code=_frame_code,
        derivation=_frame_derivation,
        shape=_frame_shape,
        required=("frame_length", "frame_step"),
        axes={"signal": "t", "out": "fk"},
        batches=_LAST,
        example=Example({"signal": (5,)}, {"frame_length": 3, "frame_step": 1}),
        related=("overlap_and_add", "gather", "conv1d"),
        pitfalls=(
            "Where frames overlap, an element gets the gradients of all of them.",
            "What is left over at the end belongs to no frame, and gets 0.",
        ),
    ),
    Op(
        name="overlap_and_add",
        tf="tf.signal.overlap_and_add",
        family="signal",
        summary="y = the frames of x, added up a step apart",
        inputs=(Parameter("signal"),),
        formula=lambda call: {"signal": f"take(G, {_added_places(call)}, -1)"},
        forward=lambda call: _added(call, "signal"),
        tangent=lambda call: _added(call, "dsignal"),
        code=_take_code,
        derivation=_overlap_derivation,
        shape=_added_shape,
        required=("frame_step",),
        axes={"signal": "fk", "out": "t"},
        batches="Axes before the last two are batch axes.",
        example=Example({"signal": (3, 2)}, {"frame_step": 1}),
        related=("frame", "scatter_nd", "conv1d_transpose"),
        pitfalls=("Where frames overlap, each gets the whole gradient of the sum.",),
    ),
    _transform(
        "dct",
        "y = x in cosines: the transform of type 2",
        (
            "With norm='ortho' the matrix is orthogonal and the gradient is the inverse transform; "
            "without it the gradient is the transpose, which differs by factors.",
        ),
        "idct",
    ),
    _transform(
        "idct",
        "y = cosines added up to a signal: the inverse of dct, but for a factor",
        (
            "Without norm='ortho' it undoes dct only up to a factor of 2n.",
            "With norm='ortho' its gradient is the dct of G.",
        ),
        "dct",
    ),
)
