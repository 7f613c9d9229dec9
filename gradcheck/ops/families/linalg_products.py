"""Products of matrices, vectors and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import broadcast, flag

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


_OTHER = {
    "": {"": "adjoint({})", "mT": "conj({})", "adjoint": "{}"},
    "mT": {"": "conj({})", "mT": "adjoint({})", "adjoint": "mT({})"},
    "adjoint": {"": "{}", "mT": "mT({})", "adjoint": "adjoint({})"},
}
"""By how a factor is turned, and how the other one is: what stands beside G in its gradient."""


def _matmul_formula(call: Call) -> dict[str, str]:
    # With A' and B' the factors as turned, dA' = G·B'ᴴ and dB' = A'ᴴ·G; turned back, the factors
    # change places: (G·B'ᴴ)ᵀ is conj(B')·Gᵀ.
    a, b = _turned(call, "a"), _turned(call, "b")
    of_a, of_b = _OTHER[a][b].format("b"), _OTHER[b][a].format("a")
    return {
        "a": f"matmul({of_a}, {a}(G))" if a else f"matmul(G, {of_a})",
        "b": f"matmul({b}(G), {of_b})" if b else f"matmul({of_b}, G)",
    }


def _matmul_forward(call: Call) -> str:
    turned = {name: _turned(call, name) for name in ("a", "b")}
    a, b = (f"{turned[name]}({name})" if turned[name] else name for name in ("a", "b"))
    return f"matmul({a}, {b})"


def _turn(call: Call) -> str:
    """How the matrix of a matvec is turned; empty where it is not."""
    return "mT" if call.args["transpose_a"] else "adjoint" if call.args["adjoint_a"] else ""


def _matvec_shape(call: Call) -> Shape:
    a, b = call.shapes["a"], call.shapes["b"]
    if len(a) < 2 or not b:
        raise ShapeError(
            f"a {list(a)} must be a matrix and b {list(b)} a vector, or batches of them"
        )
    if flag(call, "transpose_a") and flag(call, "adjoint_a"):
        raise ShapeError("transpose_a and adjoint_a are not both true: choose one")
    rows, columns = (a[-1], a[-2]) if _turn(call) else (a[-2], a[-1])
    if columns != b[-1]:
        raise ShapeError(f"a has {columns} columns, but b has {b[-1]} elements")
    return (*broadcast([a[:-2], b[:-1]]), rows)


def _matvec_forward(call: Call) -> str:
    turn = _turn(call)
    return f"squeeze(matmul({f'{turn}(a)' if turn else 'a'}, expand_dims(b, -1)), -1)"


def _matvec_formula(call: Call) -> dict[str, str]:
    column, upstream = "expand_dims(conj(b), -2)", "expand_dims(G, -1)"
    turn = _turn(call)
    if turn:
        return {
            "a": f"{turn}(matmul(expand_dims(G, -1), expand_dims(conj(b), -2)))",
            "b": f"squeeze(matmul({'conj(a)' if turn == 'mT' else 'a'}, expand_dims(G, -1)), -1)",
        }
    return {
        "a": f"matmul({upstream}, {column})",
        "b": f"squeeze(matmul(adjoint(a), {upstream}), -1)",
    }


def _contracted(call: Call) -> tuple[str, str, str]:
    """The subscripts of both inputs and of the output of a tensordot."""
    a, b, axes = call.shapes["a"], call.shapes["b"], call.args["axes"]
    if isinstance(axes, int) and not isinstance(axes, bool):
        if axes < 0:
            raise ShapeError(f"axes is a number that is not negative, or two lists, not {axes}")
        pairs = [(len(a) - axes + i, i) for i in range(axes)]
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
        pairs = [(i % len(a), j % len(b)) for i, j in zip(first, second, strict=True)]
    letters = iter("ijklmnpqrstuvwxyzabcdefgh")
    left = [next(letters) for _ in a]
    right = [next(letters) for _ in b]
    for i, j in pairs:
        if not (0 <= i < len(a) and 0 <= j < len(b)) or a[i] != b[j]:
            raise ShapeError(
                f"axes {axes}: axis {i} of a {list(a)} and axis {j} of b {list(b)} do not match"
            )
        right[j] = left[i]
    gone = {left[i] for i, _ in pairs}
    output = [x for x in [*left, *right] if x not in gone]
    return "".join(left), "".join(right), "".join(output)


def _tensordot_shape(call: Call) -> Shape:
    left, right, output = _contracted(call)
    sizes = dict(zip(left + right, call.shapes["a"] + call.shapes["b"], strict=True))
    return tuple(sizes[letter] for letter in output)


def _tensordot_formula(call: Call) -> dict[str, str]:
    left, right, output = _contracted(call)
    return {
        "a": f"einsum('{output},{right}->{left}', G, conj(b))",
        "b": f"einsum('{output},{left}->{right}', G, conj(a))",
    }


def _tensordot_forward(call: Call) -> str:
    left, right, output = _contracted(call)
    return f"einsum('{left},{right}->{output}', a, b)"


def _cross_shape(call: Call) -> Shape:
    a, b = call.shapes["a"], call.shapes["b"]
    if a != b or not a or a[-1] != 3:
        raise ShapeError(
            f"a {list(a)} and b {list(b)} must have the same shape, with 3 along the last axis"
        )
    return a


_CROSS = (
    Step(
        "Each element of y is a sum of products of an element of a with one of b, so y is linear "
        "in both: by the product rule",
        "dout == cross(da, b) + cross(a, db)",
    ),
    Step(
        "The loss changes by the inner product of G with dy. An inner product with a cross product "
        "is the volume that three vectors span, which stays when they go round: G·(da × b) = "
        "da·(b × G) and G·(a × db) = db·(G × a).",
        "sum(G * dout) == sum(cross(b, G) * da) + sum(cross(G, a) * db)",
    ),
    Step("What stands beside da and beside db are the gradients."),
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
        name="matvec",
        tf="tf.linalg.matvec",
        family="linalg",
        summary="y = A·x",
        inputs=(Parameter("a"), Parameter("b")),
        formula=_matvec_formula,
        forward=_matvec_forward,
        shape=_matvec_shape,
        args={"transpose_a": False, "adjoint_a": False},
        symbols={"a": "A", "b": "x", "out": "y"},
        example=Example({"a": (3, 4), "b": (4,)}),
        related=("matmul", "einsum"),
        pitfalls=(
            "The gradient of A is the outer product G·xᵀ, of rank one.",
            "A matmul with a vector would broadcast it as a matrix: this op does not.",
        ),
    ),
    Op(
        name="tensordot",
        tf="tf.tensordot",
        family="linalg",
        summary="y = Σ of products over chosen axes of both",
        inputs=(Parameter("a"), Parameter("b")),
        formula=_tensordot_formula,
        forward=_tensordot_forward,
        shape=_tensordot_shape,
        required=("axes",),
        aliases=("tf.linalg.tensordot",),
        example=Example({"a": (2, 3), "b": (3, 4)}, {"axes": 1}),
        related=("einsum", "matmul"),
        batches="Nothing is broadcast: every axis is either summed over or an axis of the output.",
        pitfalls=(
            "The gradient contracts G with the other factor over the axes that G got from it.",
            "axes=2 means the last two of a with the first two of b, in that order.",
        ),
    ),
    Op(
        name="cross",
        tf="tf.linalg.cross",
        family="linalg",
        summary="y = a × b",
        inputs=(Parameter("a"), Parameter("b")),
        formula={"a": "cross(b, G)", "b": "cross(G, a)"},
        forward="cross(a, b)",
        shape=_cross_shape,
        example=Example({"a": (3,), "b": (3,)}),
        related=("matvec", "einsum"),
        derivation=_CROSS,
        axes={"a": "i", "b": "i", "out": "i"},
        batches="Axes before the last are batch axes: each pair of vectors is by itself.",
        pitfalls=("The order is cyclic: b × G and G × a; the other way round flips the sign.",),
    ),
)
