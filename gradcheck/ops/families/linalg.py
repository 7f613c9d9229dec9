"""Products of matrices and tensors, and functions of whole matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter
from gradcheck.ops.families import einsum
from gradcheck.ops.rules import broadcast, flag, only

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


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


def _trace_shape(call: Call) -> Shape:
    shape = only(call)
    if len(shape) < 2:
        raise ShapeError(f"x has shape {list(shape)}: a trace needs rank 2 or more")
    return shape[:-2]


def _einsum_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    return tf.einsum(args["equation"], *tensors)


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
        batches="An ellipsis stands for batch axes, which broadcast against each other: an axis "
        "of size 1 that was stretched is summed in the gradient.",
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
        example=Example({"x": (3, 3)}),
        related=("diag_part", "det", "eigvalsh"),
        pitfalls=("Only the diagonal gets a gradient, also of a matrix that is not square.",),
    ),
)
