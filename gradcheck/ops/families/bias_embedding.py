"""The weights of a layer that are added or looked up: biases and embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter
from gradcheck.ops.rules import all_but_last
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import LAST_AXIS_IS_APART

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def _bias_shape(call: Call) -> Shape:
    value, bias = call.shapes["value"], call.shapes["bias"]
    if len(value) < 2 or bias != value[-1:]:
        raise ShapeError(
            f"bias has shape {list(bias)}, but the last axis of value {list(value)} "
            f"needs {list(value[-1:])}"
        )
    return value


def _lookup_shape(call: Call) -> Shape:
    params = call.shapes["params"]
    if not params:
        raise ShapeError("params need an axis to look up along")
    return (*call.shapes["ids"], *params[1:])


def _bias_formula(call: Call) -> dict[str, str]:
    return {"value": "G", "bias": f"sum(G, {all_but_last(call)})"}


OPS = (
    Op(
        name="bias_add",
        tf="tf.nn.bias_add",
        family="nn",
        summary="y = x + b along the last axis",
        inputs=(Parameter("value"), Parameter("bias")),
        formula=_bias_formula,
        forward="value + bias",
        tangent="dvalue + dbias",
        batches=LAST_AXIS_IS_APART,
        shape=_bias_shape,
        symbols={"value": "x", "bias": "b"},
        example=Example({"value": (2, 3), "bias": (3,)}),
        related=("add", "conv2d"),
        pitfalls=("The bias gets G summed over every axis but the last, the batch included.",),
    ),
    Op(
        name="embedding_lookup",
        tf="tf.nn.embedding_lookup",
        family="nn",
        summary="y = the rows of params at the ids",
        inputs=(
            Parameter("params"),
            Parameter("ids", Domain(sample=Sample("integers")), Kind.INTEGER),
        ),
        formula={"params": "scatter_add(params, ids, G, 0)"},
        forward="take(params, ids, 0)",
        shape=_lookup_shape,
        example=Example({"params": (4, 3), "ids": (5,)}),
        related=("gather", "matmul"),
        batches="The axes of ids are batch axes: each of them looks up a row.",
        pitfalls=(
            "A row that is looked up twice gets both gradients, one that is not gets zeros.",
            Seen(
                "The tape returns IndexedSlices: made dense, they are mostly zeros.",
                {"params": [[1.0], [2.0], [3.0]], "ids": [0, 0]},
                {"params": [[2.0], [0.0], [0.0]]},
                sparse=True,
            ),
        ),
    ),
)
