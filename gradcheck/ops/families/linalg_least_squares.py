"""Matrices that solve in the least squares, or by a factor that is given.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import matrix
from gradcheck.ops.sentences import MOVE

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


_LOWER = Domain(sample=Sample("lower"))


_PINV_BACK = (
    "matmul(matmul(eye(ROWS) - matmul(a, out), mT(G)), matmul(out, mT(out))) + "
    "matmul(matmul(mT(out), out), matmul(mT(G), eye(COLUMNS) - matmul(out, a))) - "
    "matmul(matmul(mT(out), G), mT(out))"
)


_PINV_MOVED = (
    "matmul(matmul(out, mT(out)), matmul(mT(da), eye(ROWS) - matmul(a, out))) + "
    "matmul(matmul(eye(COLUMNS) - matmul(out, a), mT(da)), matmul(mT(out), out)) - "
    "matmul(matmul(out, da), out)"
)


def _sized(text: str, call: Call) -> str:
    rows, columns = matrix(call)[-2:]
    return text.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))


def _pinv_derivation(call: Call) -> Derivation:
    def step(text: str, claim: str) -> Step:
        return Step(text, _sized(claim, call))

    return (
        step("P is the matrix for which P A P = P,", "matmul(matmul(out, a), out) == out"),
        step("and for which A P and P A are symmetric.", "matmul(a, out) == mT(matmul(a, out))"),
        step("", "matmul(out, a) == mT(matmul(out, a))"),
        step(
            "Change A by dA, so little that its rank stays. Then P A P = P gives dP = dP A P + "
            "P dA P + P A dP. A P stays symmetric, and so does P A; put in what that says of dP A "
            "and A dP, and three terms are left: this is forward mode.",
            f"dout == {_PINV_MOVED}",
        ),
        step(
            f"The loss changes by the inner product of G with dP. {MOVE} A term with dAᵀ gives "
            "what stands beside dA after transposing it. (A P, P A, P Pᵀ and Pᵀ P are symmetric.)",
            f"sum(G * dout) == sum(({_PINV_BACK}) * da)",
        ),
    )


_NORMAL = "(matmul(mT(matrix), matrix) + l2_regularizer * eye(COLUMNS))"


_SOLVED = f"solve({_NORMAL}, G)"


_LSTSQ = (
    Step(
        "X solves the normal equations. Name their matrix, with the penalty on its diagonal:",
        f"C := {_NORMAL}",
    ),
    Step("", "matmul(C, out) == matmul(mT(matrix), rhs)"),
    Step(
        "Change A by dA and B by dB; by the product rule, with what is left over, B - A X,",
        "R := rhs - matmul(matrix, out)",
    ),
    Step(
        "",
        "matmul(C, dout) == matmul(mT(dmatrix), R) + matmul(mT(matrix), drhs) - "
        "matmul(mT(matrix), matmul(dmatrix, out))",
    ),
    Step(
        "Let Z solve C Z = G. C is symmetric, so the inner product of G with dX is that of Z with "
        "C dX.",
        "Z := solve(C, G)",
    ),
    Step("", "sum(G * dout) == sum(Z * matmul(C, dout))"),
    Step(
        f"{MOVE} The first of the three terms has dAᵀ: transposed, R Zᵀ stands beside dA. From the "
        "third comes -A Z Xᵀ, from the second A Z beside dB.",
        "sum(G * dout) == sum((matmul(R, mT(Z)) - matmul(matmul(matrix, Z), mT(out))) * dmatrix) "
        "+ sum(matmul(matrix, Z) * drhs)",
    ),
)


def _lstsq_shape(call: Call) -> Shape:
    a, b = call.shapes["matrix"], call.shapes["rhs"]
    if len(a) < 2 or len(a) != len(b) or a[:-1] != b[:-1]:
        raise ShapeError(f"matrix {list(a)} and rhs {list(b)} must agree in all sizes but the last")
    if a[-2] < a[-1]:
        raise ShapeError(
            f"matrix {list(a)} is wider than tall: this gradient is for rows ≥ columns"
        )
    return (*a[:-2], a[-1], b[-1])


def _with_columns(text: str, call: Call) -> str:
    return text.replace("COLUMNS", str(call.shapes["matrix"][-1]))


_LSTSQ_FORMULA = {
    "matrix": f"matmul(rhs - matmul(matrix, out), mT({_SOLVED})) - "
    f"matmul(matmul(matrix, {_SOLVED}), mT(out))",
    "rhs": f"matmul(matrix, {_SOLVED})",
}


_CHOLESKY_Z = "solve(matmul(chol, mT(chol)), G)"


_CHOLESKY_SOLVE = (
    Step("L is given, and X is the solution of", "matmul(matmul(chol, mT(chol)), out) == rhs"),
    Step(
        "Change L by a lower triangular dL and B by dB; A = L Lᵀ changes by the product rule.",
        "dA := matmul(dchol, mT(chol)) + matmul(chol, mT(dchol))",
    ),
    Step("", "matmul(matmul(chol, mT(chol)), dout) == drhs - matmul(dA, out)"),
    Step(
        "Let Z solve A Z = G. A is symmetric, so the inner product of G with dX is that of Z with "
        "A dX.",
        f"Z := {_CHOLESKY_Z}",
    ),
    Step("", "sum(G * dout) == sum(Z * drhs) - sum(matmul(Z, mT(out)) * dA)"),
    Step(
        f"{MOVE} The two terms of dA give (Z Xᵀ + X Zᵀ) L beside dL; and as dL is lower "
        "triangular, only the lower triangle of that counts.",
        "sum(G * dout) == sum(Z * drhs) - "
        "sum(tril(matmul(matmul(Z, mT(out)) + matmul(out, mT(Z)), chol)) * dchol)",
    ),
)


def _cholesky_solve_shape(call: Call) -> Shape:
    chol, rhs = call.shapes["chol"], call.shapes["rhs"]
    if len(chol) < 2 or chol[-1] != chol[-2] or rhs[:-1] != chol[:-1]:
        raise ShapeError(
            f"chol {list(chol)} holds square matrices, and rhs {list(rhs)} must agree with it in "
            "all sizes but the last"
        )
    return rhs


OPS = (
    Op(
        name="pinv",
        tf="tf.linalg.pinv",
        family="linalg",
        summary="P = the pseudo-inverse of A",
        inputs=(Parameter("a"),),
        formula=lambda call: {"a": _sized(_PINV_BACK, call)},
        forward="pinv(a)",
        tangent=lambda call: _sized(_PINV_MOVED, call),
        shape=lambda call: (*matrix(call)[:-2], *matrix(call)[:-3:-1]),
        real_only=True,
        axes={"a": "mn", "out": "nm"},
        symbols={"a": "A", "out": "P"},
        derivation=_pinv_derivation,
        undefined=("Where the rank of A changes the pseudo-inverse jumps.",),
        example=Example({"a": (3, 2)}),
        related=("inv", "lstsq", "svdvals"),
        pitfalls=(
            "-Pᵀ·G·Pᵀ, as of the inverse, is only one of three terms; of a square matrix that has "
            "an inverse the others are 0.",
            "A matrix whose rank is not full makes a small change jump.",
        ),
    ),
    Op(
        name="lstsq",
        tf="tf.linalg.lstsq",
        family="linalg",
        summary="X with the smallest ‖A·X - B‖² + l2·‖X‖²",
        inputs=(Parameter("matrix"), Parameter("rhs")),
        formula=lambda call: {n: _with_columns(t, call) for n, t in _LSTSQ_FORMULA.items()},
        forward=lambda call: _with_columns(f"solve({_NORMAL}, matmul(mT(matrix), rhs))", call),
        tangent=lambda call: _with_columns(
            f"solve({_NORMAL}, matmul(mT(dmatrix), rhs - matmul(matrix, out)) + "
            "matmul(mT(matrix), drhs) - matmul(mT(matrix), matmul(dmatrix, out)))",
            call,
        ),
        shape=_lstsq_shape,
        real_only=True,
        args={"l2_regularizer": 0.0},
        axes={"matrix": "mn", "rhs": "mk", "out": "nk"},
        symbols={"matrix": "A", "rhs": "B", "out": "X"},
        derivation=lambda call: tuple(
            Step(step.text, _with_columns(step.claim, call)) for step in _LSTSQ
        ),
        undefined=("Where the columns of A are linearly dependent and nothing is added.",),
        example=Example({"matrix": (4, 2), "rhs": (4, 2)}),
        related=("solve", "pinv", "qr"),
        pitfalls=(
            "A stands in the equations twice: the residual B - A·X brings a term that solve lacks.",
            "The normal equations square the condition of A.",
        ),
    ),
    Op(
        name="cholesky_solve",
        tf="tf.linalg.cholesky_solve",
        family="linalg",
        summary="X with L·Lᵀ·X = B",
        inputs=(Parameter("chol", _LOWER), Parameter("rhs")),
        formula={
            "chol": f"-tril(matmul(matmul({_CHOLESKY_Z}, mT(out)) + "
            f"matmul(out, mT({_CHOLESKY_Z})), chol))",
            "rhs": _CHOLESKY_Z,
        },
        forward="solve(matmul(chol, mT(chol)), rhs)",
        tangent="solve(matmul(chol, mT(chol)), drhs - matmul(matmul(dchol, mT(chol)) + "
        "matmul(chol, mT(dchol)), out))",
        shape=_cholesky_solve_shape,
        real_only=True,
        axes={"chol": "nn", "rhs": "nk", "out": "nk"},
        symbols={"chol": "L", "rhs": "B", "out": "X"},
        derivation=_CHOLESKY_SOLVE,
        undefined=("Where an element of the diagonal of L is 0.",),
        example=Example({"chol": (3, 3), "rhs": (3, 2)}),
        related=("cholesky", "triangular_solve", "solve"),
        pitfalls=(
            "L is the input, not A: the gradient by A is another one.",
            "Only the lower triangle of L is read, and only it has a gradient.",
        ),
    ),
)
