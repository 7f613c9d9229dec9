"""Matrices as products of factors: Cholesky and QR.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.domains import SPD
from gradcheck.ops.rules import matrix, square
from gradcheck.ops.sentences import MOVE, halves

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

_CHOLESKY = (
    Step(
        "L is the lower triangular matrix, with a positive diagonal, for which",
        "matmul(out, mT(out)) == input",
    ),
    Step(
        "Change A by a symmetric dA. L changes by a dL, which is lower triangular too: the zeros "
        "above the diagonal stay zeros. By the product rule",
        "dinput == matmul(dout, mT(out)) + matmul(out, mT(dout))",
    ),
    Step(
        "The unknown dL stands in both terms. Multiply by L⁻¹ from the left and by L⁻ᵀ from the "
        "right: in the first term Lᵀ L⁻ᵀ cancels, in the second L⁻¹ L. What is left of dA is "
        "known; name it",
        "X := matmul(matmul(inv(out), dinput), mT(inv(out)))",
    ),
    Step("and what is left of dL is not; name it", "M := matmul(inv(out), dout)"),
    Step("The equation then reads", "X == M + mT(M)"),
    Step(
        "M is lower triangular, as a product of two such matrices, and Mᵀ is upper triangular. "
        "Below the diagonal X is M alone; on the diagonal it is M twice. So M is the lower "
        "triangle of X with its diagonal halved: call that phi.",
        "M == phi(X)",
    ),
    Step(
        "Multiply by L to have dL: this is forward mode.",
        "dout == matmul(out, phi(X))",
    ),
    Step(
        f"Now the loss: it changes by the inner product of G with dL. {MOVE} Move L:",
        "sum(G * dout) == sum(matmul(mT(out), G) * phi(X))",
    ),
    Step(
        "phi multiplies each element by a number of its own (1 below the diagonal, ½ on it, 0 "
        "above), so it may as well act on the other factor.",
        "sum(G * dout) == sum(phi(matmul(mT(out), G)) * X)",
    ),
    Step(
        "X is L⁻¹ dA L⁻ᵀ. Move L⁻¹, on the left, and L⁻ᵀ, on the right, over to the other side. "
        "What is left beside dA is a gradient:",
        "S := matmul(matmul(mT(inv(out)), phi(matmul(mT(out), G))), inv(out))",
    ),
    Step("", "sum(G * dout) == sum(S * dinput)"),
    Step(
        "dA is symmetric, so S and Sᵀ give the same, and so does their mean: the one gradient that "
        "is symmetric as A is.",
        "sum(G * dout) == sum((S + mT(S)) / 2 * dinput)",
    ),
)

# The S of the derivation, for complex matrices too.
_S = "matmul(matmul(adjoint(inv(out)), phi(matmul(adjoint(out), G))), inv(out))"

_QR = (
    Step("Q has orthonormal columns, R is upper triangular.", "matmul(out[0], out[1]) == input"),
    Step("", "matmul(mT(out[0]), out[0]) == eye(shape(input)[-1])"),
    Step(
        "Change A by dA. By the product rule",
        "dinput == matmul(dout[0], out[1]) + matmul(out[0], dout[1])",
    ),
    Step(
        "Multiply by R⁻¹ from the right. The left side is known; name it",
        "N := matmul(dinput, inv(out[1]))",
    ),
    Step("", "N == dout[0] + matmul(out[0], matmul(dout[1], inv(out[1])))"),
    Step(
        "Multiply by Qᵀ from the left, where Qᵀ Q = I. The first term becomes",
        "W := matmul(mT(out[0]), dout[0])",
    ),
    Step("", "matmul(mT(out[0]), N) == W + matmul(dout[1], inv(out[1]))"),
    Step(
        "Qᵀ Q stays I, so dQᵀ Q + Qᵀ dQ = 0: W is antisymmetric.",
        "W == -mT(W)",
    ),
    Step(
        "dR R⁻¹ is upper triangular, so below the diagonal Qᵀ N is W alone; and an antisymmetric "
        "matrix is known by what it has below the diagonal.",
        "P := tril(matmul(mT(out[0]), N), -1)",
    ),
    Step("", "W == P - mT(P)"),
    Step(
        "With W the two equations give dR and dQ: this is forward mode.",
        "dout[1] == matmul(matmul(mT(out[0]), N) - W, out[1])",
    ),
    Step("", "dout[0] == N - matmul(out[0], matmul(mT(out[0]), N) - W)"),
    Step(
        "The loss changes by the inner products of G_Q with dQ and of G_R with dR. "
        f"{MOVE} Move R and Q over, and gather what stands beside Qᵀ N and beside W:",
        "K := matmul(G[1], mT(out[1])) - matmul(mT(out[0]), G[0])",
    ),
    Step(
        "",
        "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == "
        "sum(G[0] * N) + sum(K * matmul(mT(out[0]), N)) - sum(K * W)",
    ),
    Step(
        "W = P - Pᵀ, and the inner product of K with Pᵀ is that of Kᵀ with P.",
        "sum(K * W) == sum((K - mT(K)) * P)",
    ),
    Step(
        "P is the part of Qᵀ N below the diagonal. So beside Qᵀ N stands K, less K - Kᵀ below the "
        "diagonal: the upper triangle of K, mirrored into the lower one.",
        "K - tril(K - mT(K), -1) == mirror_lower(mT(K))",
    ),
    Step(
        "Move Qᵀ over, and R⁻¹ out of N = dA R⁻¹; what stands beside dA is the gradient.",
        "S := matmul(G[0] + matmul(out[0], mirror_lower(mT(K))), mT(inv(out[1])))",
    ),
    Step("", "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum(S * dinput)"),
)


def _qr_shapes(call: Call) -> list[Shape]:
    shape = matrix(call)
    rows, columns = shape[-2:]
    if rows < columns:
        raise ShapeError(
            f"shape {list(shape)} is wider than tall: this gradient is for rows ≥ columns"
        )
    return [shape, (*shape[:-2], columns, columns)]


OPS = (
    Op(
        name="cholesky",
        tf="tf.linalg.cholesky",
        family="linalg",
        summary="L, lower triangular, with L·Lᵀ = A",
        inputs=(Parameter("input", SPD),),
        formula={"input": f"({_S} + adjoint({_S})) / 2"},
        forward="cholesky(input)",
        tangent="matmul(out, phi(matmul(matmul(inv(out), dinput), mT(inv(out)))))",
        shape=square,
        axes={"input": "nn", "out": "nn"},
        symbols={"input": "A", "out": "L"},
        derivation=_CHOLESKY,
        undefined=("A matrix that is not positive definite has no Cholesky factor.",),
        example=Example({"input": (3, 3)}),
        related=("triangular_solve", "logdet", "qr", "eigvalsh"),
        pitfalls=(
            "The diagonal of Lᵀ·G is halved: L and Lᵀ share it.",
            "Only the lower triangle of G counts; the zeros above the diagonal of L are constants.",
            halves(
                "equally to both halves",
                {"input": [[1.0, 0.0], [0.0, 1.0]]},
                [[0.5, 0.5], [0.5, 0.5]],
            ),
        ),
    ),
    Op(
        name="qr",
        tf="tf.linalg.qr",
        family="linalg",
        summary="Q, R = A taken apart into orthonormal columns and a triangle",
        inputs=(Parameter("input"),),
        formula={
            "input": "matmul(G[0] + matmul(out[0], mirror_lower(mT(matmul(G[1], mT(out[1])) - "
            "matmul(mT(out[0]), G[0])))), mT(inv(out[1])))"
        },
        forward="qr(input)",
        tangent="qr_change(out[0], out[1], dinput)",
        shape=lambda call: _qr_shapes(call)[0],
        shapes=_qr_shapes,
        outputs=("Q", "R"),
        real_only=True,
        axes={"input": "mn", "out[0]": "mn", "out[1]": "nn"},
        symbols={"input": "A"},
        derivation=_QR,
        undefined=("Columns that are linearly dependent make R singular.",),
        example=Example({"input": (3, 2)}),
        related=("cholesky", "svdvals", "triangular_solve"),
        pitfalls=(
            "Q and R are tied: a gradient of one alone still needs both.",
            "The signs of the rows of R are a convention, so compare Q·R and not Q and R.",
        ),
    ),
)
