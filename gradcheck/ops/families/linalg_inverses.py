"""Inverses and linear systems.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import flag, square
from gradcheck.ops.sentences import MOVE

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


def _system(call: Call, before: str = "") -> str:
    """The matrix that is solved with: with `adjoint` its conjugate transpose."""
    return f"adjoint({before}matrix)" if flag(call, "adjoint") else f"{before}matrix"


def _solve_formula(call: Call) -> dict[str, str]:
    if flag(call, "adjoint"):
        rhs = "solve(matrix, G)"
        return {"matrix": f"-matmul(out, adjoint({rhs}))", "rhs": rhs}
    rhs = "solve(adjoint(matrix), G)"
    return {"matrix": f"-matmul({rhs}, adjoint(out))", "rhs": rhs}


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


_ADJOINT_INVERSE = (
    Step("Y is the inverse of Xᵀ.", "matmul(mT(input), out) == eye(shape(input)[-1])"),
    Step(
        "Change X by dX. By the product rule 0 = dXᵀ Y + Xᵀ dY; multiply by Y from the left.",
        "dout == -matmul(matmul(out, mT(dinput)), out)",
    ),
    Step(
        f"The loss changes by the inner product of G with dY. {MOVE} Beside dXᵀ stands -Yᵀ G Yᵀ, "
        "and so beside dX its transpose.",
        "sum(G * dout) == sum(-matmul(matmul(out, mT(G)), out) * dinput)",
    ),
)

_ADJOINT_SOLUTION = (
    Step("X solves the system with the transposed matrix.", "matmul(mT(matrix), out) == rhs"),
    Step(
        "Change A by dA and B by dB. By the product rule",
        "matmul(mT(dmatrix), out) + matmul(mT(matrix), dout) == drhs",
    ),
    Step(
        f"The loss changes by the inner product of G with dX = A⁻ᵀ (dB - dAᵀ X). {MOVE} Beside dB "
        "stands A⁻¹ G: name it",
        "Z := solve(matrix, G)",
    ),
    Step(
        "Beside dAᵀ stands -Z Xᵀ, and so beside dA its transpose.",
        "sum(G * dout) == sum(Z * drhs) - sum(matmul(out, mT(Z)) * dmatrix)",
    ),
)


OPS = (
    Op(
        name="inv",
        tf="tf.linalg.inv",
        family="linalg",
        summary="Y = X⁻¹",
        inputs=(Parameter("input", _INVERTIBLE),),
        forward=lambda call: "inv(adjoint(input))" if flag(call, "adjoint") else "inv(input)",
        axes={"input": "nn", "out": "nn"},
        symbols={"input": "X", "out": "Y"},
        derivation=lambda call: _ADJOINT_INVERSE if flag(call, "adjoint") else _INVERSE,
        tangent=lambda call: (
            f"-matmul(matmul(out, {'adjoint(dinput)' if flag(call, 'adjoint') else 'dinput'}), out)"
        ),
        args={"adjoint": False},
        undefined=("A singular matrix has no inverse.",),
        related=("solve", "det", "cholesky"),
        formula=lambda call: {
            "input": "-matmul(matmul(out, adjoint(G)), out)"
            if flag(call, "adjoint")
            else "-matmul(matmul(adjoint(out), G), adjoint(out))"
        },
        shape=square,
        pitfalls=(
            "-Yᴴ·G·Yᴴ: both factors are transposed, and the sign is negative.",
            "The scalar rule -1/x² does not carry over: matrices do not commute.",
        ),
    ),
    Op(
        name="solve",
        tf="tf.linalg.solve",
        family="linalg",
        summary="X with A·X = B",
        inputs=(Parameter("matrix", _INVERTIBLE), Parameter("rhs", ANYWHERE)),
        forward=lambda call: f"solve({_system(call)}, rhs)",
        axes={"matrix": "nn", "rhs": "nk", "out": "nk"},
        symbols={"matrix": "A", "rhs": "B", "out": "X"},
        derivation=lambda call: _ADJOINT_SOLUTION if flag(call, "adjoint") else _SOLUTION,
        tangent=lambda call: f"solve({_system(call)}, drhs - matmul({_system(call, 'd')}, out))",
        args={"adjoint": False},
        undefined=("A singular matrix has no unique solution.",),
        related=("inv", "triangular_solve", "cholesky"),
        example=Example({"matrix": (3, 3), "rhs": (3, 2)}),
        formula=_solve_formula,
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
