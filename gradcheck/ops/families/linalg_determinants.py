"""Determinants and their logarithms.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.domains import SPD
from gradcheck.ops.rules import square
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import halves

_INVERTIBLE = Domain(sample=Sample("invertible"))


_DETERMINANT = (
    Step(
        "Expand along a row: y = Σⱼ X[i,j]·C[i,j], where the cofactor C[i,j] is, up to the sign, "
        "the determinant of X without row i and column j. It does not contain X[i,j], so "
        "∂y/∂X[i,j] = C[i,j]: a change dX moves y by Σᵢⱼ C[i,j]·dX[i,j]."
    ),
    Step(
        "The same sum with the cofactors of another row k, Σⱼ X[i,j]·C[k,j], is the determinant "
        "of a matrix with two equal rows, which is 0. So X Cᵀ is y on the diagonal and 0 "
        "elsewhere: X Cᵀ = y·I, and therefore",
        "C := out * mT(inv(input))",
    ),
    Step("", "matmul(input, mT(C)) == out * eye(shape(input)[-1])"),
    Step("The change of y is then (Jacobi's formula)", "dout == sum(C * dinput)"),
    Step(
        "The loss changes by G·dy; what stands beside dX is the gradient.",
        "G * dout == sum(G * C * dinput)",
    ),
)


_LOGDET = (
    Step(
        "eʸ is the determinant, which changes by det A·sum(A⁻ᵀ ⊙ dA): `gradcheck explain det` "
        "derives it. Differentiate both sides.",
        "exp(out) * dout == det(matrix) * sum(mT(inv(matrix)) * dmatrix)",
    ),
    Step("Divide by eʸ = det A.", "dout == sum(mT(inv(matrix)) * dmatrix)"),
    Step(
        "The loss changes by G·dy; what stands beside dA is the gradient.",
        "G * dout == sum(G * mT(inv(matrix)) * dmatrix)",
    ),
)


OPS = (
    Op(
        name="det",
        tf="tf.linalg.det",
        family="linalg",
        summary="y = det X",
        inputs=(Parameter("input", _INVERTIBLE),),
        forward="det(input)",
        axes={"input": "nn"},
        undefined=(
            "Differentiable everywhere, but at a singular X this formula, with its X⁻¹, fails.",
        ),
        symbols={"input": "X", "out": "y"},
        derivation=_DETERMINANT,
        tangent="out * trace(matmul(inv(input), dinput))",
        complex_finding="TensorFlow before 2.22 does not conjugate the factor det X",
        related=("inv", "logdet", "trace"),
        formula={"input": "expand_dims(G * conj(out), [-2, -1]) * adjoint(inv(input))"},
        shape=lambda call: square(call)[:-2],
        pitfalls=(
            "conj(det X) · X⁻ᴴ: the inverse is transposed.",
            "At a singular X the formula fails.",
        ),
    ),
    Op(
        name="logdet",
        tf="tf.linalg.logdet",
        family="linalg",
        summary="y = log det A of a symmetric positive definite A",
        inputs=(Parameter("matrix", SPD),),
        formula={"matrix": "expand_dims(G, [-2, -1]) * adjoint(inv(matrix))"},
        forward="log(det(matrix))",
        tangent="trace(matmul(inv(matrix), dmatrix))",
        shape=lambda call: square(call)[:-2],
        axes={"matrix": "nn"},
        symbols={"matrix": "A", "out": "y"},
        derivation=_LOGDET,
        undefined=("A matrix that is not positive definite.",),
        example=Example({"matrix": (3, 3)}),
        related=("det", "cholesky", "inv"),
        pitfalls=(
            "The determinant cancels: the gradient is A⁻ᵀ alone, unlike that of det.",
            Seen(
                "log(det(A)) by hand is infinite where det A overflows; this op is not.",
                {"matrix": [[1e200, 0.0], [0.0, 1e200]]},
                out=921.0340371976183,
            ),
            halves(
                "equally to both halves",
                {"matrix": [[2.0, 1.0], [1.0, 3.0]]},
                [[0.6, -0.2], [-0.2, 0.4]],
            ),
        ),
    ),
)
