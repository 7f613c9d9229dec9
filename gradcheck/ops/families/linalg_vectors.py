"""Eigenvectors and singular vectors, with their values.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import matrix, square
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import MOVE

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

_SYMMETRIC = Domain(sample=Sample("symmetric"))

_EIGEN_R = "(diag_matrix(G[0]) + inverse_gaps(out[0]) * matmul(mT(out[1]), G[1]))"
_EIGEN_S = f"matmul(matmul(out[1], {_EIGEN_R}), mT(out[1]))"
_EIGEN_P = "matmul(matmul(mT(out[1]), dtensor), out[1])"

_EIGEN = (
    Step(
        "V holds the eigenvectors as columns, λ the eigenvalues, from the smallest up. Let D be "
        "the matrix with λ on its diagonal.",
        "D := diag_matrix(out[0])",
    ),
    Step("", "matmul(tensor, out[1]) == matmul(out[1], D)"),
    Step(
        "V is orthogonal: each column has length 1, and any two are perpendicular.",
        "matmul(mT(out[1]), out[1]) == eye(shape(tensor)[-1])",
    ),
    Step(
        "Change A by a symmetric dA. By the product rule, on both sides of the first line,",
        "matmul(dtensor, out[1]) + matmul(tensor, dout[1]) == "
        "matmul(dout[1], D) + matmul(out[1], diag_matrix(dout[0]))",
    ),
    Step(
        "As V is orthogonal, dV is V times a matrix, and Vᵀ V stays I, so that matrix is "
        "antisymmetric. Name it",
        "K := matmul(mT(out[1]), dout[1])",
    ),
    Step("", "K == -mT(K)"),
    Step(
        "Multiply the line of dA by Vᵀ from the left, where Vᵀ A is D Vᵀ. What stands beside dA "
        "is known; name it",
        f"P := {_EIGEN_P}",
    ),
    Step("", "P == matmul(K, D) - matmul(D, K) + diag_matrix(dout[0])"),
    Step(
        "K has zeros on its diagonal, so the diagonal of P is dλ alone.",
        "dout[0] == diagonal(P)",
    ),
    Step(
        "In row i and column j, beside the diagonal, the line reads P = (λⱼ - λᵢ)·K. So K is P "
        "over these gaps: let F hold 1/(λⱼ - λᵢ), and 0 on the diagonal.",
        "F := inverse_gaps(out[0])",
    ),
    Step("Multiply by V to have dV: this is forward mode.", "dout[1] == matmul(out[1], F * P)"),
    Step(
        f"The loss changes by the inner products of G_λ with dλ and of G_V with dV. {MOVE} Move V "
        "over; F multiplies each element by a number of its own, so it may act on the other "
        "factor; and a diagonal times G_λ is the whole matrix times diag(G_λ). Beside P stands",
        "R := diag_matrix(G[0]) + F * matmul(mT(out[1]), G[1])",
    ),
    Step("", "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum(R * P)"),
    Step(
        "P is Vᵀ dA V. Move Vᵀ, on the left, and V, on the right; beside dA stands",
        "S := matmul(matmul(out[1], R), mT(out[1]))",
    ),
    Step("", "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum(S * dtensor)"),
    Step(
        "dA is symmetric, so S and Sᵀ give the same, and so does their mean: the one gradient that "
        "is symmetric as A is.",
        "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum((S + mT(S)) / 2 * dtensor)",
    ),
)

_ROW, _D = "expand_dims(out[0], -2)", "diag_matrix(out[0])"
_X, _Y = "matmul(mT(out[1]), G[1])", "matmul(mT(out[2]), G[2])"
_F = "inverse_gaps(square(out[0]))"
_R = (
    f"(diag_matrix(G[0]) + matmul({_F} * ({_X} - mT({_X})), {_D}) + "
    f"matmul({_D}, {_F} * ({_Y} - mT({_Y}))))"
)
_W, _Z = f"(G[1] / {_ROW})", f"(G[2] / {_ROW})"
_S = (
    f"matmul(matmul(out[1], {_R} - matmul(mT(out[1]), {_W}) - matmul(mT({_Z}), out[2])), "
    f"mT(out[2])) + matmul({_W}, mT(out[2])) + matmul(out[1], mT({_Z}))"
)
_P = "matmul(matmul(mT(out[1]), dtensor), out[2])"
_LOSS = "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) + sum(G[2] * dout[2])"

_SINGULAR = (
    Step(
        "U and V hold the singular vectors as columns, s the singular values, from the largest "
        "down. Let D be the matrix with s on its diagonal.",
        f"D := {_D}",
    ),
    Step("", "matmul(matmul(out[1], D), mT(out[2])) == tensor"),
    Step(
        "The columns have length 1 and are perpendicular to each other.",
        "matmul(mT(out[1]), out[1]) == eye(shape(out[0])[-1])",
    ),
    Step("", "matmul(mT(out[2]), out[2]) == eye(shape(out[0])[-1])"),
    Step(
        "Change A by dA. By the product rule",
        "dtensor == matmul(matmul(dout[1], D), mT(out[2])) + "
        "matmul(matmul(out[1], diag_matrix(dout[0])), mT(out[2])) + "
        "matmul(matmul(out[1], D), mT(dout[2]))",
    ),
    Step(
        "Uᵀ U and Vᵀ V stay I, so these two are antisymmetric:",
        "M := matmul(mT(out[1]), dout[1])",
    ),
    Step("", "N := matmul(mT(out[2]), dout[2])"),
    Step("", "M == -mT(M)"),
    Step("", "N == -mT(N)"),
    Step(
        "Multiply the line of dA by Uᵀ from the left and by V from the right. The left side is "
        "known; name it",
        f"P := {_P}",
    ),
    Step("", "P == matmul(M, D) + diag_matrix(dout[0]) - matmul(D, N)"),
    Step(
        "M and N have zeros on their diagonals, so the diagonal of P is ds alone.",
        "dout[0] == diagonal(P)",
    ),
    Step(
        "Beside the diagonal there are two unknowns for each place, and two equations: the line "
        "of P and its transpose. In row i and column j, P D + D Pᵀ is (sⱼ² - sᵢ²)·M, and "
        "D P + Pᵀ D is (sⱼ² - sᵢ²)·N. Let F hold 1/(sⱼ² - sᵢ²), and 0 on the diagonal.",
        f"F := {_F}",
    ),
    Step("", "M == F * (matmul(P, D) + matmul(D, mT(P)))"),
    Step("", "N == F * (matmul(D, P) + matmul(mT(P), D))"),
    Step(
        "dU is U M, and what it has outside of the columns of U; there the line of dA, times V, "
        "leaves dU with each column times its s. So it is for dV. This is forward mode.",
        f"dout[1] == matmul(out[1], M) + (matmul(dtensor, out[2]) - matmul(out[1], P)) / {_ROW}",
    ),
    Step(
        "",
        f"dout[2] == matmul(out[2], N) + (matmul(mT(dtensor), out[1]) - matmul(out[2], mT(P))) / "
        f"{_ROW}",
    ),
    Step(
        f"The loss changes by the inner products of the three G with ds, dU and dV. {MOVE} Beside "
        "M and N stand",
        f"X := {_X}",
    ),
    Step("", f"Y := {_Y}"),
    Step(
        "F multiplies each element by a number of its own, and Fᵀ = -F: the part with Pᵀ adds the "
        "transpose of what stands beside F. Beside P stands, from ds, M and N,",
        "R := diag_matrix(G[0]) + matmul(F * (X - mT(X)), D) + matmul(D, F * (Y - mT(Y)))",
    ),
    Step("", "sum(G[0] * dout[0]) + sum(X * M) + sum(Y * N) == sum(R * P)"),
    Step(
        "What lies outside of the columns has each column of G divided by its s:",
        f"W := G[1] / {_ROW}",
    ),
    Step("", f"Z := G[2] / {_ROW}"),
    Step(
        "Move everything that stands around dA over; what is left beside it is the gradient.",
        "S := matmul(matmul(out[1], R - matmul(mT(out[1]), W) - matmul(mT(Z), out[2])), "
        "mT(out[2])) + matmul(W, mT(out[2])) + matmul(out[1], mT(Z))",
    ),
    Step("", f"{_LOSS} == sum(S * dtensor)"),
)


def _eigen_shapes(call: Call) -> list[Shape]:
    shape = square(call)
    return [shape[:-1], shape]


def _singular_shapes(call: Call) -> list[Shape]:
    shape = matrix(call)
    rows, columns = shape[-2:]
    count = min(rows, columns)
    return [(*shape[:-2], count), (*shape[:-1], count), (*shape[:-2], columns, count)]


OPS = (
    Op(
        name="eigh",
        tf="tf.linalg.eigh",
        family="linalg",
        summary="λ, V = the eigenvalues and eigenvectors of a symmetric A",
        inputs=(Parameter("tensor", _SYMMETRIC),),
        formula={"tensor": f"({_EIGEN_S} + mT({_EIGEN_S})) / 2"},
        forward="eigh(tensor)",
        tangent=f"[diagonal({_EIGEN_P}), matmul(out[1], inverse_gaps(out[0]) * {_EIGEN_P})]",
        shape=lambda call: _eigen_shapes(call)[0],
        shapes=_eigen_shapes,
        outputs=("λ", "V"),
        real_only=True,
        axes={"tensor": "nn", "out[0]": "n", "out[1]": "nn"},
        symbols={"tensor": "A"},
        derivation=_EIGEN,
        undefined=(
            "Where two eigenvalues meet their eigenvectors may be turned into each other: they "
            "have no derivative there, and near there one without a bound.",
            "The sign of each eigenvector is free: a loss that depends on it has no gradient.",
        ),
        example=Example({"tensor": (3, 3)}),
        related=("eigvalsh", "svd", "qr", "sqrtm"),
        pitfalls=(
            "1/(λⱼ - λᵢ) grows without bound as two eigenvalues come close; through the "
            "eigenvalues alone the gradient has no such factor.",
            "Squares of the components, and v·vᵀ, do not depend on the sign of v. Of complex "
            "eigenvectors it is a whole phase that is free.",
            Seen(
                "Where eigenvalues are equal TensorFlow puts 0 in the place of 1/(λⱼ - λᵢ): the "
                "gradient is finite there, and means nothing.",
                {"tensor": [[1.0, 0.0], [0.0, 1.0]]},
                {"tensor": [[0.0, 0.0], [0.0, 0.0]]},
                expr="tf.linalg.eigh(tensor)[1]",
            ),
        ),
    ),
    Op(
        name="svd",
        tf="tf.linalg.svd",
        family="linalg",
        summary="s, U, V = A taken apart, with U·diag(s)·Vᵀ = A",
        inputs=(Parameter("tensor"),),
        formula={"tensor": _S},
        forward="svd(tensor)",
        tangent=f"[diagonal({_P}), "
        f"matmul(out[1], {_F} * (matmul({_P}, {_D}) + matmul({_D}, mT({_P})))) + "
        f"(matmul(dtensor, out[2]) - matmul(out[1], {_P})) / {_ROW}, "
        f"matmul(out[2], {_F} * (matmul({_D}, {_P}) + matmul(mT({_P}), {_D}))) + "
        f"(matmul(mT(dtensor), out[1]) - matmul(out[2], mT({_P}))) / {_ROW}]",
        shape=lambda call: _singular_shapes(call)[0],
        shapes=_singular_shapes,
        outputs=("s", "U", "V"),
        real_only=True,
        axes={"tensor": "mn", "out[0]": "k", "out[1]": "mk", "out[2]": "nk"},
        symbols={"tensor": "A"},
        derivation=_SINGULAR,
        undefined=(
            "Where two singular values meet, or one is 0, their vectors have no derivative.",
            "The sign of each pair of vectors is free: a loss that depends on it has no gradient.",
        ),
        example=Example({"tensor": (3, 2)}),
        related=("svdvals", "eigh", "qr", "pinv"),
        pitfalls=(
            "u and v of one singular value share their sign: products of both, such as u·vᵀ, do "
            "not depend on it.",
            "The gaps are those of the squares, sⱼ² - sᵢ²: two singular values of nearly one size "
            "make the gradient large, unless it comes through s alone.",
            "V holds the right singular vectors as columns; in A = U·diag(s)·Vᵀ it is transposed.",
        ),
    ),
)
