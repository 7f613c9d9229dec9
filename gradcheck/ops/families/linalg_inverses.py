"""Inverses, determinants and linear systems.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain, Example, Op, Parameter, Step
from gradcheck.ops.domains import SPD
from gradcheck.ops.rules import flag, square
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import MOVE, halves

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation

_INVERTIBLE = Domain(sample=Sample("invertible"))
_LOWER = Domain(sample=Sample("lower"))


def _solve_shape(call: Call) -> Shape:
    matrix, rhs = call.shapes["matrix"], call.shapes["rhs"]
    square(call)
    if len(rhs) != len(matrix) or rhs[:-1] != matrix[:-1]:
        raise ShapeError(
            f"matrix {list(matrix)} and rhs {list(rhs)} must agree in all sizes but the last"
        )
    return rhs


def _triangular_shape(call: Call) -> Shape:
    square(call)
    flag(call, "lower")
    flag(call, "adjoint")
    return _solve_shape(call)


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


_INVERSE = (
    Step(
        "The inverse Y is what gives the identity.", "matmul(input, out) == eye(shape(input)[-1])"
    ),
    Step(
        "Change X by dX: the identity does not change, so by the product rule",
        "matmul(dinput, out) + matmul(input, dout) == zeros_like(dout)",
    ),
    Step(
        "Multiply by Y from the left, where Y X = I, and solve for dY.",
        "dout == -matmul(matmul(out, dinput), out)",
    ),
    Step(
        "The loss changes by the inner product of G with dY.",
        "sum(G * dout) == -sum(G * matmul(matmul(out, dinput), out))",
    ),
    Step(
        f"{MOVE} Move the Y on the left and the one on the right; what stands beside dX is the "
        "gradient.",
        "sum(G * dout) == -sum(matmul(matmul(mT(out), G), mT(out)) * dinput)",
    ),
)

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

_SOLUTION = (
    Step("X is what solves the system.", "matmul(matrix, out) == rhs"),
    Step(
        "Change A by dA and B by dB; by the product rule",
        "matmul(dmatrix, out) + matmul(matrix, dout) == drhs",
    ),
    Step(
        "Solve for dX: this is forward mode.", "dout == solve(matrix, drhs - matmul(dmatrix, out))"
    ),
    Step(
        f"The loss changes by the inner product of G with dX. {MOVE} Move A⁻¹ over to G, which "
        "solves the transposed system:",
        "S := solve(mT(matrix), G)",
    ),
    Step("", "sum(G * dout) == sum(S * drhs) - sum(S * matmul(dmatrix, out))"),
    Step(
        "What stands beside dB is its gradient, S. For dA move X, on the right, over as well.",
        "sum(G * dout) == sum(S * drhs) - sum(matmul(S, mT(out)) * dmatrix)",
    ),
)


def _triangular(call: Call) -> Derivation:
    part = _triangle(call)
    system, change = f"{part}(matrix)", f"{part}(dmatrix)"
    beside, turned = "matmul(S, mT(out))", ""
    upstream = "solve(mT(T), G)"
    if call.args["adjoint"]:
        system, change, upstream = f"mT({system})", f"mT({change})", f"solve({system}, G)"
        beside, turned = "matmul(out, mT(S))", ", transposed as dT is"
    return (
        Step("T is the triangle of A that is read, and X solves", f"T := {system}"),
        Step("", "matmul(T, out) == rhs"),
        Step("Change A by dA and B by dB. Of dA too only the triangle counts:", f"dT := {change}"),
        Step("By the product rule", "matmul(dT, out) + matmul(T, dout) == drhs"),
        Step("Solve for dX: this is forward mode.", "dout == solve(T, drhs - matmul(dT, out))"),
        Step(
            f"The loss changes by the inner product of G with dX. {MOVE} Move T⁻¹ over to G, which "
            "solves the transposed system:",
            f"S := {upstream}",
        ),
        Step("", "sum(G * dout) == sum(S * drhs) - sum(S * matmul(dT, out))"),
        Step(
            "What stands beside dB is its gradient, S. For dT move X, on the right, over as well. "
            f"dT is 0 outside of the triangle, so only the triangle of what stands beside "
            f"it{turned}"
            " counts.",
            f"sum(G * dout) == sum(S * drhs) - sum({part}({beside}) * dmatrix)",
        ),
    )


OPS = (
    Op(
        name="inv",
        tf="tf.linalg.inv",
        family="linalg",
        summary="Y = X⁻¹",
        inputs=(Parameter("input", _INVERTIBLE),),
        forward="inv(input)",
        axes={"input": "nn", "out": "nn"},
        symbols={"input": "X", "out": "Y"},
        derivation=_INVERSE,
        tangent="-matmul(matmul(out, dinput), out)",
        undefined=("A singular matrix has no inverse.",),
        related=("solve", "det", "cholesky"),
        formula={"input": "-matmul(matmul(adjoint(out), G), adjoint(out))"},
        shape=square,
        pitfalls=(
            "-Yᴴ·G·Yᴴ: both factors are transposed, and the sign is negative.",
            "The scalar rule -1/x² does not carry over: matrices do not commute.",
        ),
    ),
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
        pitfalls=("det X · X⁻ᴴ: the inverse is transposed.", "At a singular X the formula fails."),
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
    Op(
        name="solve",
        tf="tf.linalg.solve",
        family="linalg",
        summary="X with A·X = B",
        inputs=(Parameter("matrix", _INVERTIBLE), Parameter("rhs", ANYWHERE)),
        forward="solve(matrix, rhs)",
        axes={"matrix": "nn", "rhs": "nk", "out": "nk"},
        symbols={"matrix": "A", "rhs": "B", "out": "X"},
        derivation=_SOLUTION,
        tangent="solve(matrix, drhs - matmul(dmatrix, out))",
        undefined=("A singular matrix has no unique solution.",),
        related=("inv", "triangular_solve", "cholesky"),
        example=Example({"matrix": (3, 3), "rhs": (3, 2)}),
        formula={
            "matrix": "-matmul(solve(adjoint(matrix), G), adjoint(out))",
            "rhs": "solve(adjoint(matrix), G)",
        },
        shape=_solve_shape,
        pitfalls=(
            "dB solves with the transposed matrix: A⁻ᴴ·G.",
            "dA = -dB·Xᴴ uses the solution X, not the right side B.",
        ),
    ),
    Op(
        name="triangular_solve",
        tf="tf.linalg.triangular_solve",
        family="linalg",
        summary="X with T·X = B, T a triangle of A",
        inputs=(Parameter("matrix", _LOWER), Parameter("rhs")),
        formula=_triangular_formula,
        forward=_triangular_forward,
        tangent=_triangular_tangent,
        shape=_triangular_shape,
        args={"lower": True, "adjoint": False},
        axes={"matrix": "nn", "rhs": "nk", "out": "nk"},
        derivation=_triangular,
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
)
