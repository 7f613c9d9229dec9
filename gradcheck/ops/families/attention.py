"""Attention: shares of values, by how well queries and keys agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.sentences import MOVE

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Formulas


def _attention_shape(call: Call) -> Shape:
    q, k, v = (call.shapes[name] for name in ("query", "key", "value"))
    fits = len(q) == len(k) == len(v) >= 2 and q[:-2] == k[:-2] == v[:-2]
    if not fits or q[-1] != k[-1] or k[-2] != v[-2]:
        raise ShapeError(
            f"query {list(q)} and key {list(k)} must have rows of one size, key and value "
            f"{list(v)} as many rows, and all the same axes before"
        )
    return (*q[:-1], v[-1])


_SCORES = "(matmul(query, mT(key)) / sqrt(SIZE))"
_SHARES = f"softmax({_SCORES}, -1)"
_BACK = (
    f"({_SHARES} * (matmul(G, mT(value)) - sum({_SHARES} * matmul(G, mT(value)), -1, True)) / "
    "sqrt(SIZE))"
)


def _sized(text: str, call: Call) -> str:
    return text.replace("SIZE", str(call.shapes["query"][-1]))


def _attention_formula(call: Call) -> Formulas:
    return {
        "query": _sized(f"matmul({_BACK}, key)", call),
        "key": _sized(f"matmul(mT({_BACK}), query)", call),
        "value": _sized(f"matmul(mT({_SHARES}), G)", call),
    }


_ATTENTION = (
    Step(
        "A holds, row by row, the shares that each query gives to the keys.",
        f"A := {_SHARES}",
    ),
    Step("", "out == matmul(A, value)"),
    Step(
        "The scores move by the product rule,",
        "dS := (matmul(dquery, mT(key)) + matmul(query, mT(dkey))) / sqrt(SIZE)",
    ),
    Step(
        "and each row of shares as those of a softmax do: by the change less its mean under them.",
        "dA := A * (dS - sum(A * dS, -1, True))",
    ),
    Step("", "dout == matmul(dA, value) + matmul(A, dvalue)"),
    Step(
        f"The loss changes by the inner product of G with dY. {MOVE} Beside dV stands Aᵀ G; beside "
        "dA stands",
        "H := matmul(G, mT(value))",
    ),
    Step("", "sum(G * dout) == sum(H * dA) + sum(matmul(mT(A), G) * dvalue)"),
    Step(
        "The softmax is its own transpose: what stands beside dS is",
        "B := A * (H - sum(A * H, -1, True)) / sqrt(SIZE)",
    ),
    Step(
        "with the root of the size in it. Move K and Q over.",
        "sum(H * dA) == sum(matmul(B, key) * dquery) + sum(matmul(mT(B), query) * dkey)",
    ),
)


def _attention_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    query, key, value = tensors
    size = tf.cast(query.shape[-1], query.dtype)
    scores = tf.matmul(query, key, transpose_b=True) / tf.sqrt(size)
    return tf.matmul(tf.nn.softmax(scores), value)


OPS = (
    Op(
        name="scaled_dot_product_attention",
        tf="tf.keras.layers.Attention",
        is_part=True,
        family="nn",
        summary="Y = softmax(Q·Kᵀ/√d)·V",
        inputs=(Parameter("query"), Parameter("key"), Parameter("value")),
        formula=_attention_formula,
        forward=lambda call: _sized(f"matmul({_SHARES}, value)", call),
        tangent=lambda call: _sized(
            f"matmul({_SHARES} * (DS - sum({_SHARES} * DS, -1, True)), value) + "
            f"matmul({_SHARES}, dvalue)".replace(
                "DS",
                "((matmul(dquery, mT(key)) + matmul(query, mT(dkey))) / sqrt(SIZE))",
            ),
            call,
        ),
        derivation=lambda call: tuple(Step(s.text, _sized(s.claim, call)) for s in _ATTENTION),
        shape=_attention_shape,
        real_only=True,
        build=_attention_build,
        axes={"query": "td", "key": "sd", "value": "se", "out": "te"},
        symbols={"query": "Q", "key": "K", "value": "V", "out": "Y"},
        batches="Axes before the last two are batch axes, as heads are: the formula holds for each "
        "by itself.",
        example=Example({"query": (2, 3), "key": (4, 3), "value": (4, 2)}),
        related=("softmax", "matmul", "einsum"),
        pitfalls=(
            "The softmax subtracts a mean: the gradient of the scores sums to 0 in each row.",
            "1/√d stands in the gradients of Q and K, not in that of V.",
        ),
    ),
)
