"""Matrices turned, and their parts: traces, diagonals, bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter
from gradcheck.ops.rules import matrix, only, whole

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _trace_shape(call: Call) -> Shape:
    shape = only(call)
    if len(shape) < 2:
        raise ShapeError(f"x has shape {list(shape)}: a trace needs rank 2 or more")
    return shape[:-2]


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


def _transposed_shape(call: Call) -> Shape:
    shape = matrix(call)
    return (*shape[:-2], shape[-1], shape[-2])


def _diag_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    return tf.linalg.diag(tensors[0])


OPS = (
    Op(
        name="trace",
        tf="tf.linalg.trace",
        family="linalg",
        summary="y = Σ xᵢᵢ of each matrix",
        inputs=(Parameter("x"),),
        forward="trace(x)",
        symbols={"x": "X", "out": "y"},
        formula={"x": "expand_dims(G, [-2, -1]) * eye(shape(x)[-2], shape(x)[-1])"},
        shape=_trace_shape,
        example=Example({"x": (3, 3)}),
        related=("diag_part", "det", "eigvalsh"),
        pitfalls=("Only the diagonal gets a gradient, also of a matrix that is not square.",),
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
        shape=_transposed_shape,
        symbols={"a": "X", "out": "Y"},
        example=Example({"a": (2, 3)}),
        related=("transpose", "matmul"),
        pitfalls=("Only the last two axes are swapped: `transpose` reverses all of them.",),
    ),
)
