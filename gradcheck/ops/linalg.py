"""Products of matrices and tensors, and functions of whole matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops import einsum
from gradcheck.ops.declaration import ANYWHERE, Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import broadcast, flag, only

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

INVERTIBLE = Domain(sample=Sample("invertible"))


def _turned(call: Call, name: str) -> str:
    """How matmul turns this factor first: `mT`, `adjoint` or not at all."""
    transposed, adjoint = flag(call, f"transpose_{name}"), flag(call, f"adjoint_{name}")
    if transposed and adjoint:
        raise ShapeError(f"transpose_{name} and adjoint_{name} exclude each other")
    return "mT" if transposed else "adjoint" if adjoint else ""


def _matmul_shape(call: Call) -> Shape:
    sides: dict[str, Shape] = {}
    for name in ("a", "b"):
        shape = call.shapes[name]
        if len(shape) < 2:
            raise ShapeError(
                f"{name} has shape {list(shape)}: matmul takes matrices, of rank 2 or more; "
                "a vector needs an axis of size 1"
            )
        sides[name] = (*shape[:-2], shape[-1], shape[-2]) if _turned(call, name) else shape
    a, b = sides["a"], sides["b"]
    if a[-1] != b[-2]:
        turned = " (as turned by transpose or adjoint)" if sides != call.shapes else ""
        raise ShapeError(
            f"a has {a[-1]} columns, but b has {b[-2]} rows{turned}: the inner sizes must be equal"
        )
    return (*broadcast([a[:-2], b[:-2]]), a[-2], b[-1])


def _matmul_formula(call: Call) -> dict[str, str]:
    # With A' and B' the factors as turned, dA' = G·B'ᴴ and dB' = A'ᴴ·G; then turn back.
    adjoint_of = {"": "adjoint({})", "mT": "conj({})", "adjoint": "{}"}
    turned = {name: _turned(call, name) for name in ("a", "b")}
    a, b = (adjoint_of[turned[name]].format(name) for name in ("a", "b"))
    plain = {"a": f"matmul(G, {b})", "b": f"matmul({a}, G)"}
    return {
        name: f"{turned[name]}({text})" if turned[name] else text for name, text in plain.items()
    }


def _matmul_forward(call: Call) -> str:
    turned = {name: _turned(call, name) for name in ("a", "b")}
    a, b = (f"{turned[name]}({name})" if turned[name] else name for name in ("a", "b"))
    return f"matmul({a}, {b})"


def _square(call: Call) -> Shape:
    shape = only(call)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"shape {list(shape)} is not one of square matrices")
    return shape


def _per_matrix(call: Call) -> Shape:
    return _square(call)[:-2]


def _trace_shape(call: Call) -> Shape:
    shape = only(call)
    if len(shape) < 2:
        raise ShapeError(f"x has shape {list(shape)}: a trace needs rank 2 or more")
    return shape[:-2]


def _solve_shape(call: Call) -> Shape:
    matrix, rhs = call.shapes["matrix"], call.shapes["rhs"]
    _square(call)
    if len(rhs) != len(matrix) or rhs[:-1] != matrix[:-1]:
        raise ShapeError(
            f"matrix {list(matrix)} and rhs {list(rhs)} must agree in all sizes but the last"
        )
    return rhs


def _einsum_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    return tf.einsum(args["equation"], *tensors)


_INVERSE = (
    Step(
        "The inverse Y is what gives the identity.", "matmul(input, out) == eye(shape(input)[-1])"
    ),
    Step(
        "Change X by dX: the identity does not change, so by the product rule",
        "matmul(dinput, out) + matmul(input, dout) == zeros_like(dout)",
    ),
    Step(
        "Solve for dY, multiplying by Y = X⁻¹ from the left.",
        "dout == -matmul(matmul(out, dinput), out)",
    ),
    Step(
        "The change of the loss is the inner product of G with dY.",
        "sum(G * dout) == -trace(matmul(matmul(matmul(mT(G), out), dinput), out))",
    ),
    Step(
        "A trace allows its factors to go round: bring dX to the end, and read off what it is "
        "multiplied by. What stands before dX, transposed, is the gradient.",
        "sum(G * dout) == -trace(matmul(matmul(matmul(out, mT(G)), out), dinput))",
    ),
)

_DETERMINANT = (
    Step(
        "The determinant is linear in each element: its derivative by X[i,j] is the cofactor of "
        "that element, and the inverse is the transposed matrix of cofactors over det X.",
        "cofactors := out * mT(inv(input))",
    ),
    Step(
        "So a change dX moves the determinant by (Jacobi's formula)",
        "dout == sum(cofactors * dinput)",
    ),
    Step("The loss moves by G times that.", "G * dout == sum(G * out * mT(inv(input)) * dinput)"),
)

_SOLUTION = (
    Step("X is what solves the system.", "matmul(matrix, out) == rhs"),
    Step(
        "Change A by dA and B by dB; by the product rule",
        "matmul(dmatrix, out) + matmul(matrix, dout) == drhs",
    ),
    Step("Solve for dX.", "dout == solve(matrix, drhs - matmul(dmatrix, out))"),
    Step(
        "Name the solution of the transposed system with G on the right.",
        "S := solve(mT(matrix), G)",
    ),
    Step(
        "The change of the loss is the inner product of G with dX, and A⁻¹ moves over to G as A⁻ᵀ.",
        "sum(G * dout) == sum(S * drhs) - sum(S * matmul(dmatrix, out))",
    ),
    Step(
        "What dB is multiplied by is its gradient, S; for dA, move X over.",
        "sum(G * dout) == sum(S * drhs) - sum(matmul(S, mT(out)) * dmatrix)",
    ),
)

OPS = (
    Op(
        name="matmul",
        tf="tf.matmul",
        family="linalg",
        summary="C = A·B",
        inputs=(Parameter("a"), Parameter("b")),
        forward=_matmul_forward,
        symbols={"a": "A", "b": "B", "out": "C"},
        example=Example({"a": (3, 4), "b": (4, 5)}),
        related=("matvec", "einsum", "tensordot", "solve"),
        formula=_matmul_formula,
        shape=_matmul_shape,
        args={
            "transpose_a": False,
            "transpose_b": False,
            "adjoint_a": False,
            "adjoint_b": False,
        },
        aliases=("tf.linalg.matmul",),
        pitfalls=(
            "The order matters: dA = G·Bᴴ and dB = Aᴴ·G; the shapes allow only one order, unless "
            "all matrices are square.",
            "With transpose_a the gradient of A is transposed too.",
            "A batch axis that was broadcast is summed in the gradient.",
            "Complex factors are conjugated: the plain transpose is right for real ones only.",
        ),
    ),
    Op(
        name="einsum",
        tf="tf.einsum",
        family="linalg",
        summary="y = Σ of products, the indices named by an equation",
        inputs=(Parameter("inputs"),),
        forward=einsum.forward,
        example=Example({"a": (3, 4), "b": (4, 5)}, {"equation": "ij,jk->ik"}),
        related=("matmul", "tensordot", "trace", "reduce_sum"),
        formula=einsum.formulas,
        shape=einsum.output_shape,
        variadic=True,
        required=("equation",),
        aliases=("tf.linalg.einsum",),
        build=_einsum_build,
        pitfalls=(
            "The gradient of an input swaps its subscripts with the output's: 'ij,jk->ik' gives "
            "'ik,jk->ij' for the first.",
            "An index that only one input has is summed out: G is repeated along it.",
            "An index that an input has twice reaches its diagonal alone: the rest gets 0.",
        ),
    ),
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
        pitfalls=("Only the diagonal gets a gradient, also of a matrix that is not square.",),
    ),
    Op(
        name="inv",
        tf="tf.linalg.inv",
        family="linalg",
        summary="Y = X⁻¹",
        inputs=(Parameter("input", INVERTIBLE),),
        forward="inv(input)",
        symbols={"input": "X", "out": "Y"},
        derivation=_INVERSE,
        tangent="-matmul(matmul(out, dinput), out)",
        undefined=("A singular matrix has no inverse.",),
        related=("solve", "det", "cholesky"),
        formula={"input": "-matmul(matmul(adjoint(out), G), adjoint(out))"},
        shape=_square,
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
        inputs=(Parameter("input", INVERTIBLE),),
        forward="det(input)",
        symbols={"input": "X", "out": "y"},
        derivation=_DETERMINANT,
        tangent="out * trace(matmul(inv(input), dinput))",
        related=("inv", "logdet", "slogdet"),
        formula={"input": "expand_dims(G * conj(out), [-2, -1]) * adjoint(inv(input))"},
        shape=_per_matrix,
        pitfalls=("det X · X⁻ᴴ: the inverse is transposed.", "At a singular X the formula fails."),
    ),
    Op(
        name="solve",
        tf="tf.linalg.solve",
        family="linalg",
        summary="X with A·X = B",
        inputs=(Parameter("matrix", INVERTIBLE), Parameter("rhs", ANYWHERE)),
        forward="solve(matrix, rhs)",
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
)
