"""Products of vectors and tensors, and the parts of matrices: diagonals, bands, transposes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import broadcast, flag, matrix, only, whole

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _matvec_shape(call: Call) -> Shape:
    a, b = call.shapes["a"], call.shapes["b"]
    if len(a) < 2 or not b:
        raise ShapeError(
            f"a {list(a)} must be a matrix and b {list(b)} a vector, or batches of them"
        )
    rows, columns = (a[-1], a[-2]) if flag(call, "transpose_a") else (a[-2], a[-1])
    if columns != b[-1]:
        raise ShapeError(f"a has {columns} columns, but b has {b[-1]} elements")
    return (*broadcast([a[:-2], b[:-1]]), rows)


def _matvec_forward(call: Call) -> str:
    return (
        "squeeze(matmul(mT(a), expand_dims(b, -1)), -1)"
        if flag(call, "transpose_a")
        else "squeeze(matmul(a, expand_dims(b, -1)), -1)"
    )


def _matvec_formula(call: Call) -> dict[str, str]:
    column, upstream = "expand_dims(conj(b), -2)", "expand_dims(G, -1)"
    if flag(call, "transpose_a"):
        return {
            "a": "mT(matmul(expand_dims(G, -1), expand_dims(conj(b), -2)))",
            "b": "squeeze(matmul(conj(a), expand_dims(G, -1)), -1)",
        }
    return {
        "a": f"matmul({upstream}, {column})",
        "b": f"squeeze(matmul(adjoint(a), {upstream}), -1)",
    }


def _contracted(call: Call) -> tuple[str, str, str]:
    """The subscripts of both inputs and of the output of a tensordot."""
    a, b, axes = call.shapes["a"], call.shapes["b"], call.args["axes"]
    if isinstance(axes, int) and not isinstance(axes, bool):
        pairs = [(len(a) - axes + i, i) for i in range(axes)]
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
        pairs = [(i % len(a), j % len(b)) for i, j in zip(first, second, strict=True)]
    letters = iter("ijklmnpqrstuvwxyzabcdefgh")
    left = [next(letters) for _ in a]
    right = [next(letters) for _ in b]
    for i, j in pairs:
        if not (0 <= i < len(a) and 0 <= j < len(b)) or a[i] != b[j]:
            raise ShapeError(
                f"axes {axes}: axis {i} of a {list(a)} and axis {j} of b {list(b)} do not match"
            )
        right[j] = left[i]
    gone = {left[i] for i, _ in pairs}
    output = [x for x in [*left, *right] if x not in gone]
    return "".join(left), "".join(right), "".join(output)


def _tensordot_shape(call: Call) -> Shape:
    left, right, output = _contracted(call)
    sizes = dict(zip(left + right, call.shapes["a"] + call.shapes["b"], strict=True))
    return tuple(sizes[letter] for letter in output)


def _tensordot_formula(call: Call) -> dict[str, str]:
    left, right, output = _contracted(call)
    return {
        "a": f"einsum('{output},{right}->{left}', G, conj(b))",
        "b": f"einsum('{output},{left}->{right}', G, conj(a))",
    }


def _tensordot_forward(call: Call) -> str:
    left, right, output = _contracted(call)
    return f"einsum('{left},{right}->{output}', a, b)"


def _cross_shape(call: Call) -> Shape:
    a, b = call.shapes["a"], call.shapes["b"]
    if a != b or not a or a[-1] != 3:
        raise ShapeError(
            f"a {list(a)} and b {list(b)} must have the same shape, with 3 along the last axis"
        )
    return a


def _diag_shape(call: Call) -> Shape:
    shape = only(call)
    if not shape:
        raise ShapeError("a diagonal needs an axis")
    return (*shape, shape[-1])


def _diag_part_shape(call: Call) -> Shape:
    shape = matrix(call)
    return (*shape[:-2], min(shape[-2:]))


def _diag_part_formula(call: Call) -> dict[str, str]:
    shape = matrix(call)
    rows, columns = shape[-2:]
    if rows == columns:
        return {"input": "diag_matrix(G)"}
    least, batch = min(rows, columns), "bcdefgh"[: len(shape) - 2]
    ones = f"eye({rows}, {least}), eye({columns}, {least})"
    return {"input": f"einsum('{batch}k,ik,jk->{batch}ij', G, {ones})"}


def _band_shape(call: Call) -> Shape:
    whole(call.args["num_lower"], "num_lower")
    whole(call.args["num_upper"], "num_upper")
    return matrix(call)


def _turned(call: Call) -> Shape:
    shape = matrix(call)
    return (*shape[:-2], shape[-1], shape[-2])


def _diag_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    return tf.linalg.diag(tensors[0])


_CROSS = (
    Step(
        "Each element of y is a sum of products of an element of a with one of b, so y is linear "
        "in both: by the product rule",
        "dout == cross(da, b) + cross(a, db)",
    ),
    Step(
        "The loss changes by the inner product of G with dy. An inner product with a cross product "
        "is the volume that three vectors span, which stays when they go round: G·(da × b) = "
        "da·(b × G) and G·(a × db) = db·(G × a).",
        "sum(G * dout) == sum(cross(b, G) * da) + sum(cross(G, a) * db)",
    ),
    Step("What stands beside da and beside db are the gradients."),
)

OPS = (
    Op(
        name="matvec",
        tf="tf.linalg.matvec",
        family="linalg",
        summary="y = A·x",
        inputs=(Parameter("a"), Parameter("b")),
        formula=_matvec_formula,
        forward=_matvec_forward,
        shape=_matvec_shape,
        args={"transpose_a": False},
        symbols={"a": "A", "b": "x", "out": "y"},
        example=Example({"a": (3, 4), "b": (4,)}),
        related=("matmul", "einsum"),
        pitfalls=(
            "The gradient of A is the outer product G·xᵀ, of rank one.",
            "A matmul with a vector would broadcast it as a matrix: this op does not.",
        ),
    ),
    Op(
        name="tensordot",
        tf="tf.tensordot",
        family="linalg",
        summary="y = Σ of products over chosen axes of both",
        inputs=(Parameter("a"), Parameter("b")),
        formula=_tensordot_formula,
        forward=_tensordot_forward,
        shape=_tensordot_shape,
        required=("axes",),
        aliases=("tf.linalg.tensordot",),
        example=Example({"a": (2, 3), "b": (3, 4)}, {"axes": 1}),
        related=("einsum", "matmul"),
        batches="Nothing is broadcast: every axis is either summed over or an axis of the output.",
        pitfalls=(
            "The gradient contracts G with the other factor over the axes that G got from it.",
            "axes=2 means the last two of a with the first two of b, in that order.",
        ),
    ),
    Op(
        name="cross",
        tf="tf.linalg.cross",
        family="linalg",
        summary="y = a × b",
        inputs=(Parameter("a"), Parameter("b")),
        formula={"a": "cross(b, G)", "b": "cross(G, a)"},
        forward="cross(a, b)",
        shape=_cross_shape,
        example=Example({"a": (3,), "b": (3,)}),
        related=("matvec", "einsum"),
        derivation=_CROSS,
        axes={"a": "i", "b": "i", "out": "i"},
        batches="Axes before the last are batch axes: each pair of vectors is by itself.",
        pitfalls=("The order is cyclic: b × G and G × a; the other way round flips the sign.",),
    ),
    Op(
        name="diag",
        tf="tf.linalg.diag",
        family="linalg",
        summary="Y = the matrix with x on its diagonal",
        inputs=(Parameter("diagonal"),),
        formula={"diagonal": "diagonal(G)"},
        forward="expand_dims(diagonal, -1) * eye(shape(diagonal)[-1])",
        shape=_diag_shape,
        build=_diag_build,
        example=Example({"diagonal": (3,)}),
        related=("diag_part", "trace"),
        batches="Axes before the last are batch axes: each vector makes a matrix of its own.",
        pitfalls=("What G holds off the diagonal is lost: those zeros are constants.",),
    ),
    Op(
        name="diag_part",
        tf="tf.linalg.diag_part",
        family="linalg",
        summary="y = the diagonal of X",
        inputs=(Parameter("input"),),
        formula=_diag_part_formula,
        forward="diagonal(input)",
        shape=_diag_part_shape,
        symbols={"input": "X", "out": "y"},
        example=Example({"input": (3, 3)}),
        related=("diag", "trace"),
        pitfalls=("A matrix that is not square has zeros in the rows or columns that are left.",),
    ),
    Op(
        name="band_part",
        tf="tf.linalg.band_part",
        family="linalg",
        summary="Y = X with zeros outside of a band",
        inputs=(Parameter("input"),),
        formula={"input": "band_part(G, num_lower, num_upper)"},
        forward="band_part(input, num_lower, num_upper)",
        shape=_band_shape,
        required=("num_lower", "num_upper"),
        symbols={"input": "X", "out": "Y"},
        example=Example({"input": (3, 3)}, {"num_lower": -1, "num_upper": 0}),
        related=("diag_part", "triangular_solve", "cholesky"),
        pitfalls=("It is its own transpose: the same band of G.", "-1 keeps the whole triangle."),
    ),
    Op(
        name="matrix_transpose",
        tf="tf.linalg.matrix_transpose",
        family="linalg",
        summary="Y = Xᵀ",
        inputs=(Parameter("a"),),
        formula={"a": "mT(G)"},
        forward="mT(a)",
        shape=_turned,
        symbols={"a": "X", "out": "Y"},
        example=Example({"a": (2, 3)}),
        related=("transpose", "matmul"),
        pitfalls=("Only the last two axes are swapped; tf.transpose reverses all of them.",),
    ),
)
