"""Eigenvalues and singular values.

No rule generates these derivations; they are written here, and every line that claims something
is executed in the tests.
"""

from __future__ import annotations

from typing import Any

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import matrix, square
from gradcheck.ops.sentences import MOVE, halves

_SYMMETRIC = Domain(sample=Sample("symmetric"))

_EIGENVALUES = (
    Step(
        "V holds the eigenvectors as columns, λ the eigenvalues, from the smallest up.",
        "V := eigenvectors(tensor)",
    ),
    Step("", "matmul(tensor, V) == V * expand_dims(out, 0)"),
    Step(
        "V is orthogonal: each column v has length 1, and vᵀ w = 0 for two of them.",
        "matmul(mT(V), V) == eye(shape(tensor)[-1])",
    ),
    Step(
        "For one of them λ = vᵀ A v. Change A by a symmetric dA. By the product rule dλ = dvᵀ A v "
        "+ vᵀ dA v + vᵀ A dv. As A v = λ v, the outer two terms are λ·dvᵀ v and λ·vᵀ dv; and as "
        "vᵀ v stays 1, vᵀ dv = 0. What is left is dλ = vᵀ dA v, for all of them at once:",
        "dout == diagonal(matmul(matmul(mT(V), dtensor), V))",
    ),
    Step(
        "The loss changes by the inner product of G with dλ. A diagonal that is multiplied by G is "
        "the whole matrix times diag(G), element by element.",
        "sum(G * dout) == sum(diag(G) * matmul(matmul(mT(V), dtensor), V))",
    ),
    Step(
        f"{MOVE} Move Vᵀ, on the left, and V, on the right; what stands beside dA is the gradient.",
        "sum(G * dout) == sum(matmul(matmul(V, diag(G)), mT(V)) * dtensor)",
    ),
    Step(
        "V diag(G) is V with each column multiplied by its element of G.",
        "matmul(V, diag(G)) == V * expand_dims(G, 0)",
    ),
)

_SINGULAR = (
    Step(
        "U and V hold the singular vectors as columns, s the singular values, from the largest "
        "down.",
        "U := left_singular(tensor)",
    ),
    Step("", "V := right_singular(tensor)"),
    Step("", "matmul(matmul(U, diag(out)), mT(V)) == tensor"),
    Step(
        "The columns have length 1 and are perpendicular to each other.",
        "matmul(mT(V), V) == eye(size(out))",
    ),
    Step("", "matmul(mT(U), U) == eye(size(out))"),
    Step(
        "For one of them s = uᵀ A v. Change A by dA. By the product rule ds = duᵀ A v + uᵀ dA v + "
        "uᵀ A dv. As A v = s·u and uᵀ A = s·vᵀ, the outer two terms are s·duᵀ u and s·vᵀ dv; and "
        "as uᵀ u and vᵀ v stay 1, both are 0. What is left is ds = uᵀ dA v, for all of them at "
        "once:",
        "dout == diagonal(matmul(matmul(mT(U), dtensor), V))",
    ),
    Step(
        "The loss changes by the inner product of G with ds. A diagonal that is multiplied by G is "
        "the whole matrix times diag(G), element by element.",
        "sum(G * dout) == sum(diag(G) * matmul(matmul(mT(U), dtensor), V))",
    ),
    Step(
        f"{MOVE} Move Uᵀ, on the left, and V, on the right; what stands beside dA is the gradient.",
        "sum(G * dout) == sum(matmul(matmul(U, diag(G)), mT(V)) * dtensor)",
    ),
    Step(
        "U diag(G) is U with each column multiplied by its element of G.",
        "matmul(U, diag(G)) == U * expand_dims(G, 0)",
    ),
)


def _svd_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    return tf.linalg.svd(tensors[0], compute_uv=False)


OPS = (
    Op(
        name="eigvalsh",
        tf="tf.linalg.eigvalsh",
        part_of=("tf.linalg.eigh", 0),
        family="linalg",
        summary="λ = the eigenvalues of a symmetric A",
        inputs=(Parameter("tensor", _SYMMETRIC),),
        formula={
            "tensor": "matmul(eigenvectors(tensor) * expand_dims(G, -2), "
            "adjoint(eigenvectors(tensor)))"
        },
        forward="eigenvalues(tensor)",
        tangent="diagonal(matmul(matmul(mT(eigenvectors(tensor)), dtensor), eigenvectors(tensor)))",
        shape=lambda call: square(call)[:-1],
        axes={"tensor": "nn", "out": "n"},
        symbols={"tensor": "A", "out": "λ"},
        derivation=_EIGENVALUES,
        undefined=("Where two eigenvalues meet, each has a kink; their sum has none.",),
        example=Example({"tensor": (3, 3)}),
        related=("svdvals", "cholesky", "trace"),
        pitfalls=(
            "The eigenvectors appear, though only eigenvalues were asked for.",
            "Unlike that of the eigenvectors, this gradient has no 1/(λᵢ - λⱼ) and stays finite.",
            halves(
                "to the lower half alone",
                {"tensor": [[0.0, 1.0], [1.0, 0.0]]},
                [[0.5, 0.0], [-1.0, 0.5]],
                "tf.linalg.eigvalsh(tensor)[0]",
            ),
        ),
    ),
    Op(
        name="svdvals",
        tf="tf.linalg.svd",
        is_part=True,
        part_of=("tf.linalg.svd", 0),
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
        shape=lambda call: (*matrix(call)[:-2], min(matrix(call)[-2:])),
        build=_svd_build,
        axes={"tensor": "mn", "out": "k"},
        symbols={"tensor": "A", "out": "s"},
        derivation=_SINGULAR,
        undefined=("Where two singular values meet, or one is 0, each has a kink.",),
        example=Example({"tensor": (3, 2)}),
        related=("eigvalsh", "norm", "qr"),
        pitfalls=(
            "The signs of the singular vectors are free, but u and v must be taken "
            "from one decomposition.",
            "The gradient of the nuclear norm (G of ones) is U·Vᵀ, whatever the values are.",
        ),
    ),
)
