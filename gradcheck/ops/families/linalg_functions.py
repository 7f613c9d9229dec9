"""Functions of matrices: exponential, root, logarithm of the determinant.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.domains import SPD
from gradcheck.ops.rules import square
from gradcheck.ops.sentences import MOVE

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Call, Derivation


_INVERTIBLE = Domain(sample=Sample("invertible"))


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
        of_multiple={"input": "matmul(G, mT(out))"},
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
        of_multiple={"input": "matmul(G, mT(inv(out))) / 2"},
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
        name="slogdet",
        tf="tf.linalg.slogdet",
        family="linalg",
        summary="s, l = the sign of det A and log |det A|",
        inputs=(Parameter("input", _INVERTIBLE),),
        formula={"input": "expand_dims(G[1], [-2, -1]) * mT(inv(input))"},
        forward="slogdet(input)",
        tangent="[0 * out[0], trace(matmul(inv(input), dinput))]",
        shape=lambda call: square(call)[:-2],
        shapes=lambda call: [square(call)[:-2]] * 2,
        outputs=("s", "l"),
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
