"""Matrices taken apart: Cholesky, eigenvalues, singular values, QR, and what builds on them.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import flag, only

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

SPD = Domain(sample=Sample("spd"))
SYMMETRIC = Domain(sample=Sample("symmetric"))
LOWER = Domain(sample=Sample("lower"))

HALVES = (
    "The input is symmetric, so how the gradient is shared between its two "
    "halves is a convention: TensorFlow's differs from op to op."
)


def _square(call: Call) -> Shape:
    shape = only(call)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"shape {list(shape)} is not one of square matrices")
    return shape


def _matrix(call: Call) -> Shape:
    shape = only(call)
    if len(shape) < 2:
        raise ShapeError(f"shape {list(shape)} is not one of matrices: rank 2 or more is needed")
    return shape


_CHOLESKY = (
    Step(
        "L is the lower triangular matrix, with a positive diagonal, for which",
        "matmul(out, mT(out)) == input",
    ),
    Step(
        "Change A by a symmetric dA. By the product rule L changes by a dL, lower "
        "triangular too, with",
        "dinput == matmul(dout, mT(out)) + matmul(out, mT(dout))",
    ),
    Step(
        "The unknown dL stands on both sides of L. Multiply by L⁻¹ from the left "
        "and by L⁻ᵀ from the right, and name what is left over from dL and from "
        "dA.",
        "M := matmul(inv(out), dout)",
    ),
    Step("", "X := matmul(matmul(inv(out), dinput), mT(inv(out)))"),
    Step("The equation then reads", "X == M + mT(M)"),
    Step(
        "M is lower triangular, as a product of such matrices; its transpose is "
        "upper triangular. They meet on the diagonal alone, where both have the "
        "same. So M is the lower triangle of X with the diagonal halved: call "
        "that phi.",
        "M == phi(X)",
    ),
    Step(
        "Multiply by L to have dL, which is the forward-mode formula.",
        "dout == matmul(out, phi(X))",
    ),
    Step(
        "Now the loss. It changes by the inner product of G with dL; move L over to G.",
        "sum(G * dout) == sum(matmul(mT(out), G) * phi(X))",
    ),
    Step(
        "phi multiplies each element by 1, ½ or 0, so it can as well act on the other factor.",
        "sum(G * dout) == sum(phi(matmul(mT(out), G)) * X)",
    ),
    Step(
        "Move L⁻¹ and L⁻ᵀ away from dA; what is left beside dA is a gradient.",
        "S := matmul(matmul(mT(inv(out)), phi(matmul(mT(out), G))), inv(out))",
    ),
    Step("", "sum(G * dout) == sum(S * dinput)"),
    Step(
        "dA is symmetric, so only the symmetric part of S counts.",
        "sum(G * dout) == sum((S + mT(S)) / 2 * dinput)",
    ),
)

_S = "matmul(matmul(adjoint(inv(out)), phi(matmul(adjoint(out), G))), inv(out))"

_EIGENVALUES = (
    Step(
        "V holds the eigenvectors as columns, λ the eigenvalues, from the smallest up.",
        "V := eigenvectors(tensor)",
    ),
    Step("", "matmul(tensor, V) == V * expand_dims(out, 0)"),
    Step("V is orthogonal.", "matmul(mT(V), V) == eye(shape(tensor)[-1])"),
    Step(
        "Take one eigenvector v: λ = vᵀ A v. Change A by a symmetric dA; v "
        "changes as well, but v keeps its length, so vᵀ dv = 0, and as A v = λ v "
        "the two terms with dv are λ·vᵀ dv = 0. What is left is dλ = vᵀ dA v, for "
        "all of them at once:",
        "dout == diagonal(matmul(matmul(mT(V), dtensor), V))",
    ),
    Step(
        "The loss changes by the inner product of G with dλ. The diagonal times G "
        "is a trace with diag(G):",
        "sum(G * dout) == trace(matmul(matmul(matmul(diag(G), mT(V)), dtensor), V))",
    ),
    Step(
        "Let V go round in the trace, to the front: what stands beside dA is the gradient.",
        "sum(G * dout) == sum(matmul(matmul(V, diag(G)), mT(V)) * dtensor)",
    ),
)

_SINGULAR = (
    Step(
        "U and V hold the singular vectors as columns, s the singular values.",
        "U := left_singular(tensor)",
    ),
    Step("", "V := right_singular(tensor)"),
    Step("", "matmul(matmul(U, diag(out)), mT(V)) == tensor"),
    Step(
        "One singular value is s = uᵀ A v. Change A by dA: u and v keep their "
        "length, so uᵀ du = 0 and vᵀ dv = 0; as A v = s·u and Aᵀ u = s·v, the "
        "terms with du and dv vanish. What is left is ds = uᵀ dA v:",
        "dout == diagonal(matmul(matmul(mT(U), dtensor), V))",
    ),
    Step(
        "The loss changes by the inner product of G with ds; gather what stands beside dA.",
        "sum(G * dout) == sum(matmul(matmul(U, diag(G)), mT(V)) * dtensor)",
    ),
)

_QR = (
    Step("Q has orthonormal columns, R is upper triangular.", "matmul(out[0], out[1]) == input"),
    Step("", "matmul(mT(out[0]), out[0]) == eye(shape(input)[-1])"),
    Step(
        "Change A by dA. By the product rule",
        "dinput == matmul(dout[0], out[1]) + matmul(out[0], dout[1])",
    ),
    Step("From QᵀQ = I: QᵀdQ is antisymmetric.", "W := matmul(mT(out[0]), dout[0])"),
    Step("", "W == -mT(W)"),
    Step(
        "Multiply the product rule by Qᵀ from the left and by R⁻¹ from the right.",
        "matmul(matmul(mT(out[0]), dinput), inv(out[1])) == W + matmul(dout[1], inv(out[1]))",
    ),
    Step(
        "The last term is upper triangular, so the strictly lower part of the "
        "left side is that of W; being antisymmetric, W is known by it.",
        "tril(matmul(matmul(mT(out[0]), dinput), inv(out[1])), -1) == tril(W, -1)",
    ),
    Step(
        "Both dQ and dR follow from W. Put them into the change of the loss and "
        "gather what stands beside dA. With",
        "M := matmul(out[1], mT(G[1])) - matmul(mT(G[0]), out[0])",
    ),
    Step(
        "the antisymmetry folds the two triangles of M onto the lower one, mirrored:",
        "S := matmul(G[0] + matmul(out[0], mirror_lower(M)), mT(inv(out[1])))",
    ),
    Step("", "sum(G[0] * dout[0]) + sum(G[1] * dout[1]) == sum(S * dinput)"),
)

_LOGDET = (
    Step(
        "A change dA moves the determinant by det A · tr(A⁻¹ dA) (Jacobi's "
        "formula); the logarithm divides by det A.",
        "dout == trace(matmul(inv(matrix), dmatrix))",
    ),
    Step(
        "The trace is an inner product with the transposed inverse.",
        "G * dout == sum(G * mT(inv(matrix)) * dmatrix)",
    ),
)


def _triangular_shape(call: Call) -> Shape:
    matrix, rhs = call.shapes["matrix"], call.shapes["rhs"]
    _square(call)
    flag(call, "lower")
    flag(call, "adjoint")
    if len(rhs) != len(matrix) or rhs[:-1] != matrix[:-1]:
        raise ShapeError(
            f"matrix {list(matrix)} and rhs {list(rhs)} must agree in all sizes but the last"
        )
    return rhs


def _triangle(call: Call) -> str:
    return "tril" if call.args["lower"] else "triu"


def _triangular_forward(call: Call) -> str:
    matrix = f"{_triangle(call)}(matrix)"
    return f"solve({f'adjoint({matrix})' if call.args['adjoint'] else matrix}, rhs)"


def _triangular_formula(call: Call) -> dict[str, str]:
    part = _triangle(call)
    if call.args["adjoint"]:
        rhs = f"solve({part}(matrix), G)"
        return {"matrix": f"-{part}(matmul(out, adjoint({rhs})))", "rhs": rhs}
    rhs = f"solve(adjoint({part}(matrix)), G)"
    return {"matrix": f"-{part}(matmul({rhs}, adjoint(out)))", "rhs": rhs}


def _triangular_tangent(call: Call) -> str:
    matrix, change = f"{_triangle(call)}(matrix)", f"{_triangle(call)}(dmatrix)"
    if call.args["adjoint"]:
        matrix, change = f"adjoint({matrix})", f"adjoint({change})"
    return f"solve({matrix}, drhs - matmul({change}, out))"


def _qr_shapes(call: Call) -> list[Shape]:
    shape = _matrix(call)
    rows, columns = shape[-2:]
    if rows < columns:
        raise ShapeError(
            f"shape {list(shape)} is wider than tall: this gradient is for rows ≥ columns"
        )
    return [shape, (*shape[:-2], columns, columns)]


def _svd_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    return tf.linalg.svd(tensors[0], compute_uv=False)


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
        shape=_square,
        symbols={"input": "A", "out": "L"},
        derivation=_CHOLESKY,
        undefined=("A matrix that is not positive definite has no Cholesky factor.",),
        example=Example({"input": (3, 3)}),
        related=("triangular_solve", "logdet", "qr", "eigvalsh"),
        pitfalls=(
            "The diagonal of Lᵀ·G is halved: L and Lᵀ share it.",
            "Only the lower triangle of G counts; the zeros above the diagonal of L are constants.",
            HALVES,
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
        shape=lambda call: _square(call)[:-2],
        symbols={"matrix": "A", "out": "y"},
        derivation=_LOGDET,
        undefined=("A matrix that is not positive definite.",),
        example=Example({"matrix": (3, 3)}),
        related=("det", "cholesky", "inv"),
        pitfalls=(
            "The determinant cancels: the gradient is A⁻ᵀ alone, unlike that of det.",
            "log(det(A)) by hand overflows for large matrices; this op does not.",
            HALVES,
        ),
    ),
    Op(
        name="triangular_solve",
        tf="tf.linalg.triangular_solve",
        family="linalg",
        summary="X with T·X = B, T a triangle of A",
        inputs=(Parameter("matrix", LOWER), Parameter("rhs")),
        formula=_triangular_formula,
        forward=_triangular_forward,
        tangent=_triangular_tangent,
        shape=_triangular_shape,
        args={"lower": True, "adjoint": False},
        symbols={"matrix": "A", "rhs": "B", "out": "X"},
        undefined=("A zero on the diagonal makes the triangle singular.",),
        example=Example({"matrix": (3, 3), "rhs": (3, 2)}),
        related=("solve", "cholesky", "inv"),
        pitfalls=(
            "The gradient of A is a triangle too: the other half was never read.",
            "The right side is solved with the transposed triangle, which is an upper "
            "one for a lower.",
        ),
    ),
    Op(
        name="eigvalsh",
        tf="tf.linalg.eigvalsh",
        family="linalg",
        summary="λ = the eigenvalues of a symmetric A",
        inputs=(Parameter("tensor", SYMMETRIC),),
        formula={
            "tensor": "matmul(eigenvectors(tensor) * expand_dims(G, -2), "
            "adjoint(eigenvectors(tensor)))"
        },
        forward="eigenvalues(tensor)",
        tangent="diagonal(matmul(matmul(mT(eigenvectors(tensor)), dtensor), eigenvectors(tensor)))",
        shape=lambda call: _square(call)[:-1],
        symbols={"tensor": "A", "out": "λ"},
        derivation=_EIGENVALUES,
        undefined=("Where two eigenvalues meet, each has a kink; their sum has none.",),
        example=Example({"tensor": (3, 3)}),
        related=("svdvals", "cholesky", "trace"),
        pitfalls=(
            "The eigenvectors appear, though only eigenvalues were asked for.",
            "Unlike that of the eigenvectors, this gradient has no 1/(λᵢ - λⱼ) and stays finite.",
            HALVES,
        ),
    ),
    Op(
        name="svdvals",
        tf="tf.linalg.svd",
        is_part=True,
        family="linalg",
        summary="s = the singular values of A",
        inputs=(Parameter("tensor"),),
        formula={
            "tensor": "matmul(left_singular(tensor) * expand_dims(G, -2), "
            "adjoint(right_singular(tensor)))"
        },
        forward="singular_values(tensor)",
        tangent="diagonal(matmul(matmul(mT(left_singular(tensor)), dtensor), "
        "right_singular(tensor)))",
        shape=lambda call: (*_matrix(call)[:-2], min(_matrix(call)[-2:])),
        build=_svd_build,
        symbols={"tensor": "A", "out": "s"},
        derivation=_SINGULAR,
        undefined=("Where two singular values meet, or one is 0, it has a kink.",),
        example=Example({"tensor": (3, 2)}),
        related=("eigvalsh", "norm", "qr"),
        pitfalls=(
            "The signs of the singular vectors are free, but u and v must be taken "
            "from one decomposition.",
            "The gradient of the nuclear norm (G of ones) is U·Vᵀ, whatever the values are.",
        ),
    ),
    Op(
        name="qr",
        tf="tf.linalg.qr",
        family="linalg",
        summary="Q, R = A taken apart into orthonormal columns and a triangle",
        inputs=(Parameter("input"),),
        formula={
            "input": "matmul(G[0] + matmul(out[0], mirror_lower(matmul(out[1], mT(G[1])) - "
            "matmul(mT(G[0]), out[0]))), mT(inv(out[1])))"
        },
        forward="qr(input)",
        tangent="qr_change(out[0], out[1], dinput)",
        shape=lambda call: _qr_shapes(call)[0],
        shapes=_qr_shapes,
        outputs=("Q", "R"),
        real_only=True,
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
