"""Matrices with another diagonal, or turned and conjugated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import matrix

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


def _set_diag_shape(call: Call) -> Shape:
    shape, diagonal = matrix(call), call.shapes["diagonal"]
    if diagonal != (*shape[:-2], min(shape[-2:])):
        raise ShapeError(
            f"diagonal {list(diagonal)} does not fit: the matrices of {list(shape)} have diagonals "
            f"of {[*shape[:-2], min(shape[-2:])]}"
        )
    return shape


def _put_diagonal(call: Call) -> str:
    rows, columns = matrix(call)[-2:]
    k = min(rows, columns)
    batch = "abcd"[: len(matrix(call)) - 2]
    equation = f"{batch}k,kr,kc->{batch}rc"
    return f"einsum('{equation}', diagonal, eye({k}, {rows}), eye({k}, {columns}))"


def _outside(call: Call) -> str:
    rows, columns = matrix(call)[-2:]
    return f"(1 - eye({rows}, {columns}))"


def _diag_derivation(call: Call) -> Derivation:
    put = _put_diagonal(call).replace("diagonal", "ddiagonal")
    return (
        Step(
            "Let M be 1 outside of the diagonal and 0 on it. Y is X outside, d on the diagonal, "
            "so it moves with dX outside, and with dd on the diagonal.",
            f"M := {_outside(call)}",
        ),
        Step("", f"dout == dinput * M + {put}"),
        Step(
            "The loss changes by the inner product of G with dY. Beside dX stands G outside of the "
            "diagonal, beside dd what G has on it.",
            "sum(G * dout) == sum(G * M * dinput) + sum(diagonal(G) * ddiagonal)",
        ),
    )


OPS = (
    Op(
        name="set_diag",
        tf="tf.linalg.set_diag",
        family="linalg",
        summary="Y = X with another diagonal",
        inputs=(Parameter("input"), Parameter("diagonal")),
        formula=lambda call: {"input": f"G * {_outside(call)}", "diagonal": "diagonal(G)"},
        forward=lambda call: f"input * {_outside(call)} + {_put_diagonal(call)}",
        tangent=lambda call: (
            f"dinput * {_outside(call)} + {_put_diagonal(call).replace('diagonal', 'ddiagonal')}"
        ),
        derivation=_diag_derivation,
        shape=_set_diag_shape,
        symbols={"input": "X", "diagonal": "d", "out": "Y"},
        example=Example({"input": (3, 3), "diagonal": (3,)}),
        related=("diag", "diag_part", "band_part"),
        pitfalls=("X gets 0 on its diagonal, which was overwritten.",),
    ),
    Op(
        name="adjoint",
        tf="tf.linalg.adjoint",
        family="linalg",
        summary="Y = the conjugate transpose of X",
        inputs=(Parameter("matrix"),),
        formula={"matrix": "adjoint(G)"},
        forward="adjoint(matrix)",
        shape=lambda call: (*matrix(call)[:-2], *matrix(call)[:-3:-1]),
        symbols={"matrix": "X", "out": "Y"},
        example=Example({"matrix": (2, 3)}),
        related=("matrix_transpose", "transpose", "matmul"),
        pitfalls=("Of complex matrices the gradient is conjugated too, of real ones transposed.",),
    ),
)
