"""Functions of matrices: exponential, root, pseudo-inverse, least squares, determinant's logarithm.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.domains import SPD
from gradcheck.ops.rules import matrix, square
from gradcheck.ops.sentences import MOVE

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation

_INVERTIBLE = Domain(sample=Sample("invertible"))
_LOWER = Domain(sample=Sample("lower"))


def _block(a: str, change: str) -> str:
    """The matrix [[a, change], [0, a]]."""
    return (
        f"concatenate([concatenate([{a}, {change}], -1), "
        f"concatenate([zeros_like({a}), {a}], -1)], -2)"
    )


def _corner(call: Call) -> str:
    n = square(call)[-1]
    return f"'..., 0:{n}, {n}:{2 * n}'"


def _expm_derivation(call: Call) -> Derivation:
    corner = _corner(call)
    return (
        Step(
            "Put A twice on the diagonal of a matrix of twice the size, and dA in the corner "
            "above: call it M.",
            f"M := {_block('input', 'dinput')}",
        ),
        Step(
            "In the corner of M M stands A dA + dA A: the change of A A by the product rule. So it "
            "is with every power, and so with the exponential, which is a sum of powers: its "
            "corner is dy, its diagonal eᴬ. This is forward mode.",
            f"dout == pick(expm(M), {corner})",
        ),
        Step(
            "dy is a sum of terms Aʲ dA Aᵏ, with a number before each. " + MOVE + " What stands "
            "beside dA is the sum of the same terms with Aᵀ in the place of A and G in the place "
            "of dA: the corner again.",
            f"N := {_block('mT(input)', 'G')}",
        ),
        Step("", f"sum(G * dout) == sum(pick(expm(N), {corner}) * dinput)"),
    )


_SQRTM = (
    Step("X is the root for which", "matmul(out, out) == input"),
    Step("Change A by dA. By the product rule", "dinput == matmul(dout, out) + matmul(out, dout)"),
    Step(
        "That is a Sylvester equation for dX: this is forward mode.",
        "dout == sylvester(out, out, dinput)",
    ),
    Step(
        "Let S be the matrix for which",
        "S := sylvester(mT(out), mT(out), G)",
    ),
    Step("", "G == matmul(mT(out), S) + matmul(S, mT(out))"),
    Step(
        f"The loss changes by the inner product of G with dX. Put this in the place of G. {MOVE} "
        "Move Xᵀ over, on both sides: what stands beside S is X dX + dX X, which is dA.",
        "sum(G * dout) == sum(S * dinput)",
    ),
)

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


_SLOGDET = (
    Step(
        "The sign stays where it is: a small change does not bring the determinant to 0.",
        "dout[0] == 0 * out[0]",
    ),
    Step(
        "The determinant of A + dA is that of A times that of I + A⁻¹ dA; the latter is 1 plus the "
        "trace of A⁻¹ dA, but for smaller terms. So the logarithm changes by the trace.",
        "dout[1] == trace(matmul(inv(input), dinput))",
    ),
    Step(
        "A trace of a product is an inner product with the transpose: what stands beside dA is "
        "A⁻ᵀ, times the upstream of the logarithm. That of the sign has no effect.",
        "sum(G[1] * dout[1]) == sum(G[1] * mT(inv(input)) * dinput)",
    ),
)


def _sylvester_code(call: Call) -> str:
    """The equation as a linear system of all elements, row by row."""
    n, batch = square(call)[-1], list(square(call)[:-2])
    eye, turned = f"tf.eye({n}, dtype=G.dtype)", "tf.linalg.matrix_transpose(out)"
    left = f"tf.einsum('jl,...ik->...ijkl', {eye}, {turned})"
    right = f"tf.einsum('...lj,ik->...ijkl', {turned}, {eye})"
    system = f"tf.reshape({left} + {right}, {[*batch, n * n, n * n]})"
    flat = f"tf.reshape(G, {[*batch, n * n, 1]})"
    return f"tf.reshape(tf.linalg.solve({system}, {flat}), {[*batch, n, n]})"


OPS = (
    Op(
        name="expm",
        tf="tf.linalg.expm",
        family="linalg",
        summary="Y = e to the matrix A",
        inputs=(Parameter("input"),),
        formula=lambda call: {"input": f"pick(expm({_block('mT(input)', 'G')}), {_corner(call)})"},
        forward="expm(input)",
        tangent=lambda call: f"pick(expm({_block('input', 'dinput')}), {_corner(call)})",
        code=lambda call: {
            "input": "tf.linalg.expm(tf.concat([tf.concat([tf.linalg.matrix_transpose(input), G], "
            "-1), tf.concat([tf.zeros_like(input), tf.linalg.matrix_transpose(input)], -1)], -2))"
            f"[..., :{square(call)[-1]}, {square(call)[-1]}:]"
        },
        shape=square,
        real_only=True,
        axes={"input": "nn", "out": "nn"},
        symbols={"input": "A", "out": "Y"},
        derivation=_expm_derivation,
        example=Example({"input": (3, 3)}),
        related=("sqrtm", "exp", "inv"),
        pitfalls=(
            "It is not G·eᴬ: A and dA do not commute, and the terms differ by where dA stands.",
            "It is not the exponential of each element.",
        ),
    ),
    Op(
        name="sqrtm",
        tf="tf.linalg.sqrtm",
        family="linalg",
        summary="X with X·X = A",
        inputs=(Parameter("input", SPD),),
        formula={"input": "sylvester(mT(out), mT(out), G)"},
        forward="sqrtm(input)",
        tangent="sylvester(out, out, dinput)",
        code=lambda call: {"input": _sylvester_code(call)},
        shape=square,
        real_only=True,
        axes={"input": "nn", "out": "nn"},
        symbols={"input": "A", "out": "X"},
        derivation=_SQRTM,
        undefined=("Where an eigenvalue of A is 0 or negative.",),
        example=Example({"input": (3, 3)}),
        related=("cholesky", "expm", "sqrt"),
        pitfalls=(
            "It is not G/(2·X): X and dX do not commute, which leaves a linear system to solve.",
            "A root is no Cholesky factor: X·X = A, not X·Xᵀ = A with X a triangle.",
        ),
    ),
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
    Op(
        name="slogdet",
        tf="tf.linalg.slogdet",
        family="linalg",
        summary="s, ℓ = the sign of det A and log |det A|",
        inputs=(Parameter("input", _INVERTIBLE),),
        formula={"input": "expand_dims(G[1], [-2, -1]) * mT(inv(input))"},
        forward="slogdet(input)",
        tangent="[0 * out[0], trace(matmul(inv(input), dinput))]",
        shape=lambda call: square(call)[:-2],
        shapes=lambda call: [square(call)[:-2]] * 2,
        outputs=("s", "ℓ"),
        real_only=True,
        axes={"input": "nn"},
        symbols={"input": "A"},
        derivation=_SLOGDET,
        undefined=("Where the determinant is 0.",),
        example=Example({"input": (3, 3)}),
        related=("det", "logdet", "inv"),
        pitfalls=(
            "The gradient is A⁻ᵀ alone, without the determinant: that is what the logarithm is "
            "for.",
            "The sign is a constant between its jumps: its upstream has no effect.",
        ),
    ),
)
