"""A range of calls of every declared op: the shapes and args that the formula tests go through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradcheck.ops import Op, all_ops
from gradcheck.ops.catalogue import FAMILIES
from gradcheck.ops.rules import broadcast_call, equal_call
from tests.ops.more_calls import MORE_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Shape


_FAMILY = {op.name: family.__name__.rpartition(".")[2] for family in FAMILIES for op in family.OPS}


@dataclass(frozen=True)
class Use:
    """One call of an op, as a spec would make it."""

    op: Op
    shapes: dict[str, Shape]
    args: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Its name in a test, which begins with the family: `pytest -k pooling` finds its ops."""
        shapes = "-".join("x".join(map(str, shape)) or "scalar" for shape in self.shapes.values())
        args = ",".join(f"{key}={value}" for key, value in self.args.items())
        return f"{_FAMILY[self.op.name]}-{self.op.name}-{shapes}-{args}".rstrip("-")


COMPLEX = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "divide_no_nan",
        "batch_normalization",
        "negative",
        "reciprocal",
        "abs",
        "square",
        "sqrt",
        "rsqrt",
        "pow",
        "exp",
        "expm1",
        "log",
        "log1p",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "sigmoid",
        "reduce_sum",
        "reduce_mean",
        "reduce_prod",
        "cumsum",
        "matmul",
        "einsum",
        "trace",
        "inv",
        "solve",
        "transpose",
        "reshape",
        "expand_dims",
        "squeeze",
        "broadcast_to",
        "getitem",
        "slice",
        "gather",
        "reverse",
        "roll",
        "concat",
        "stack",
        "where",
    ]
)

_UNARY: tuple[tuple[Shape, ...], ...] = (((),), ((3,),), ((2, 1, 3),), ((0, 2),))
_BINARY: tuple[tuple[Shape, ...], ...] = (
    ((), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((), (2, 2)),
    ((2, 1, 3), (4, 1)),
    ((0, 2), (2,)),
)
_TERNARY: tuple[tuple[Shape, ...], ...] = (
    ((3,), (3,), (3,)),
    ((2, 1), (3,), (2, 3)),
    ((), (2,), ()),
    ((4, 3), (), (3,)),
)

_REDUCTIONS: tuple[tuple[Shape, dict[str, Any]], ...] = (
    ((), {}),
    ((4,), {}),
    ((2, 3), {"axis": 0}),
    ((2, 3), {"axis": -1, "keepdims": True}),
    ((2, 3, 4), {"axis": [0, 2]}),
    ((2, 3, 4), {"axis": [-1, 0], "keepdims": True}),
    ((2, 1, 3), {"axis": 1}),
    ((2, 3), {"keepdims": True}),
    ((2, 3), {"axis": []}),
)

_OTHERS: dict[str, tuple[tuple[dict[str, Shape], dict[str, Any]], ...]] = {
    "cumsum": (
        ({"x": (4,)}, {}),
        ({"x": (2, 3)}, {"axis": -1, "reverse": True}),
        ({"x": (2, 3)}, {"axis": 1, "exclusive": True}),
        ({"x": (3, 2)}, {"exclusive": True, "reverse": True}),
    ),
    "matmul": (
        ({"a": (3, 4), "b": (4, 5)}, {}),
        ({"a": (4, 3), "b": (4, 5)}, {"transpose_a": True}),
        ({"a": (3, 4), "b": (5, 4)}, {"transpose_b": True}),
        ({"a": (4, 3), "b": (5, 4)}, {"transpose_a": True, "transpose_b": True}),
        ({"a": (4, 3), "b": (4, 5)}, {"adjoint_a": True}),
        ({"a": (3, 4), "b": (5, 4)}, {"adjoint_b": True}),
        ({"a": (4, 3), "b": (5, 4)}, {"adjoint_a": True, "transpose_b": True}),
        ({"a": (2, 3, 4), "b": (4, 5)}, {}),
        ({"a": (4, 3), "b": (2, 4, 5)}, {"transpose_a": True}),
        ({"a": (2, 1, 3, 4), "b": (5, 4, 1)}, {}),
        ({"a": (1, 1), "b": (1, 1)}, {}),
        ({"a": (0, 3), "b": (3, 2)}, {}),
    ),
    "einsum": tuple(
        (dict(zip("pqr", shapes, strict=False)), {"equation": equation})
        for equation, *shapes in (
            ("ij,jk->ik", (2, 3), (3, 4)),
            ("ijk,ikl->ijl", (3, 2, 4), (3, 4, 5)),
            ("ij,jk", (2, 3), (3, 4)),
            ("ba", (2, 3)),
            ("ii->i", (3, 3)),
            ("ii", (3, 3)),
            ("iij->j", (2, 2, 3)),
            ("iii->i", (2, 2, 2)),
            ("ij->", (2, 3)),
            ("ij,k->ki", (2, 3), (4,)),
            ("ij,jj->i", (2, 3), (3, 3)),
            ("i,j->", (2,), (3,)),
            (",i->i", (), (3,)),
            ("->", ()),
            ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
            ("i,ij,j->", (2,), (2, 3), (3,)),
            ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
            ("...ij,...jk->...ik", (5, 2, 3), (1, 3, 4)),
            ("i...,i...->...", (3,), (3, 4)),
            ("...ii->...i", (2, 3, 3)),
            ("...i->...", (2, 1, 3)),
            ("...->...", (2, 3)),
            (" ij , jk -> ik ", (2, 3), (3, 4)),
        )
    ),
    "trace": (({"x": (3, 3)}, {}), ({"x": (2, 3, 4)}, {})),
    "inv": (
        ({"input": (3, 3)}, {"adjoint": True}),
        ({"input": (2, 2, 2)}, {"adjoint": True}),
        ({"input": (3, 3)}, {}),
        ({"input": (2, 2, 2)}, {}),
        ({"input": (1, 1)}, {}),
    ),
    "det": (({"input": (3, 3)}, {}), ({"input": (2, 2, 2)}, {})),
    "solve": (
        ({"matrix": (3, 3), "rhs": (3, 2)}, {}),
        ({"matrix": (2, 2, 2), "rhs": (2, 2, 1)}, {}),
        ({"matrix": (3, 3), "rhs": (3, 2)}, {"adjoint": True}),
        ({"matrix": (2, 2, 2), "rhs": (2, 2, 1)}, {"adjoint": True}),
    ),
    "transpose": (
        ({"a": (2, 3)}, {}),
        ({"a": (2, 3, 4)}, {}),
        ({"a": (2, 3, 4)}, {"perm": [1, 2, 0]}),
        ({"a": (2, 3)}, {"perm": [1, 0], "conjugate": True}),
        ({"a": (2, 3)}, {"conjugate": True}),
        ({"a": ()}, {}),
    ),
    "reshape": (
        ({"tensor": (2, 3)}, {"shape": [3, 2]}),
        ({"tensor": (2, 3)}, {"shape": [-1]}),
        ({"tensor": (1,)}, {"shape": []}),
        ({"tensor": (0, 3)}, {"shape": [3, 0]}),
    ),
    "expand_dims": (
        ({"input": (2, 3)}, {"axis": 0}),
        ({"input": (2, 3)}, {"axis": -1}),
        ({"input": ()}, {"axis": 0}),
        ({"input": (1, 3)}, {"axis": 1}),
    ),
    "squeeze": (
        ({"input": (1, 3, 1)}, {}),
        ({"input": (1, 3, 1)}, {"axis": [-1]}),
        ({"input": (1, 3, 1)}, {"axis": 0}),
    ),
    "broadcast_to": (
        ({"input": (3,)}, {"shape": [2, 3]}),
        ({"input": (2, 1)}, {"shape": [4, 2, 3]}),
        ({"input": ()}, {"shape": [2, 2]}),
        ({"input": (1, 1)}, {"shape": [1, 1]}),
    ),
    "getitem": (
        ({"x": (2, 3)}, {"index": "0, 1"}),
        ({"x": (4, 3)}, {"index": "1:3"}),
        ({"x": (4, 3, 2)}, {"index": "..., 1"}),
        ({"x": (4, 3)}, {"index": "::-2, newaxis, 0"}),
        ({"x": (4, 3)}, {"index": -1}),
        ({"x": (4, 3)}, {"index": [1, 2]}),
        ({"x": (4,)}, {"index": "1:9"}),
        ({"x": (4,)}, {"index": "2:2"}),
    ),
    "slice": (
        ({"input_": (4, 3)}, {"begin": [1, 0], "size": [2, 3]}),
        ({"input_": (4, 3)}, {"begin": [1, 2], "size": [-1, 1]}),
        ({"input_": (4,)}, {"begin": [4], "size": [0]}),
    ),
    "gather": (
        ({"params": (4, 3), "indices": (5,)}, {}),
        ({"params": (2, 4, 3), "indices": (2, 2)}, {"axis": 1}),
        ({"params": (3, 4), "indices": ()}, {"axis": -1}),
        ({"params": (4,), "indices": (0,)}, {}),
        ({"params": (2, 4), "indices": (2, 3)}, {"batch_dims": 1}),
        ({"params": (2, 2, 3), "indices": (2, 2)}, {"axis": 2, "batch_dims": 1}),
        ({"params": (4, 3), "indices": (2,)}, {"axis": 1}),
    ),
    "reverse": (
        ({"tensor": (4,)}, {"axis": [0]}),
        ({"tensor": (2, 3, 2)}, {"axis": [0, -1]}),
    ),
    "roll": (
        ({"input": (5,)}, {"shift": 2, "axis": 0}),
        ({"input": (3, 4)}, {"shift": [1, -2], "axis": [0, 1]}),
    ),
    "concat": (
        ({"p": (2, 3), "q": (4, 3)}, {"axis": 0}),
        ({"p": (2, 3), "q": (2, 1), "r": (2, 0)}, {"axis": -1}),
        ({"p": (2,)}, {"axis": 0}),
    ),
    "stack": (
        ({"p": (2, 3), "q": (2, 3)}, {}),
        ({"p": (2, 3), "q": (2, 3), "r": (2, 3)}, {"axis": -1}),
        ({"p": ()}, {"axis": 0}),
    ),
    "softmax": (
        ({"logits": (4,)}, {}),
        ({"logits": (2, 3)}, {"axis": 0}),
        ({"logits": (2, 3, 2)}, {"axis": 1}),
        ({"logits": (2, 1)}, {}),
    ),
    "log_softmax": (
        ({"logits": (4,)}, {}),
        ({"logits": (2, 3)}, {"axis": 0}),
        ({"logits": (2, 3, 2)}, {"axis": -2}),
    ),
    "lbeta": (({"x": (3,)}, {}), ({"x": (2, 1, 3)}, {})),
    "norm": tuple(
        ({"tensor": shape}, args)
        for shape, args in _REDUCTIONS
        if args.get("axis") != [] and shape and not isinstance(args.get("axis"), list)
    )
    + tuple(
        ({"tensor": shape}, {"ord": power, **args})
        for power in (1, 3, 1.5, "inf")
        for shape, args in (
            ((4,), {}),
            ((2, 3), {"axis": 1}),
            ((2, 3), {"axis": 0, "keepdims": True}),
        )
    )
    + (({"tensor": (2, 3)}, {"ord": "fro", "axis": [0, 1]}),),
    "cumprod": (
        ({"x": (4,)}, {}),
        ({"x": (2, 3)}, {"axis": -1, "reverse": True}),
        ({"x": (2, 3)}, {"axis": 1, "exclusive": True}),
        ({"x": (3, 2)}, {"exclusive": True, "reverse": True}),
    ),
    "split": (
        ({"value": (4, 3)}, {"num_or_size_splits": 2}),
        ({"value": (2, 6)}, {"num_or_size_splits": [1, 3, 2], "axis": -1}),
    ),
    "unstack": (({"value": (2, 3)}, {}), ({"value": (2, 3, 1)}, {"axis": 1})),
    "strided_slice": (
        ({"input_": (6,)}, {"begin": [1], "end": [6], "strides": [2]}),
        ({"input_": (4, 3)}, {"begin": [0, 1], "end": [3, 3]}),
        ({"input_": (4, 3)}, {"begin": [3, 0], "end": [0, 3], "strides": [-1, 2]}),
    ),
    "gather_nd": (
        ({"params": (3, 4), "indices": (5, 2)}, {}),
        ({"params": (3, 4), "indices": (2, 2, 1)}, {}),
    ),
    "scatter_nd": (
        ({"indices": (3, 1), "updates": (3,)}, {"shape": [4]}),
        ({"indices": (4, 1), "updates": (4, 2)}, {"shape": [3, 2]}),
        ({"indices": (5, 2), "updates": (5,)}, {"shape": [2, 3]}),
    ),
    "pad": (
        ({"tensor": (3,)}, {"paddings": [[1, 2]]}),
        ({"tensor": (2, 3)}, {"paddings": [[0, 1], [2, 0]]}),
        ({"tensor": (2,)}, {"paddings": [[1, 1]], "constant_values": 2.5}),
        ({"tensor": (3,)}, {"paddings": [[2, 1]], "mode": "REFLECT"}),
        ({"tensor": (2, 3)}, {"paddings": [[1, 2], [0, 3]], "mode": "SYMMETRIC"}),
        ({"tensor": (3, 2)}, {"paddings": [[1, 2], [1, 0]], "mode": "REFLECT"}),
    ),
    "tile": (
        ({"input": (3,)}, {"multiples": [2]}),
        ({"input": (2, 1, 3)}, {"multiples": [1, 3, 2]}),
    ),
    "repeat": (
        ({"input": (3,)}, {"repeats": 2, "axis": 0}),
        ({"input": (2, 3)}, {"repeats": 3, "axis": -1}),
        ({"input": (2, 3)}, {"repeats": [2, 0, 1], "axis": -1}),
        ({"input": (2, 3)}, {"repeats": [1, 3], "axis": 0}),
    ),
    "matvec": (
        ({"a": (3, 4), "b": (4,)}, {}),
        ({"a": (4, 3), "b": (4,)}, {"transpose_a": True}),
        ({"a": (4, 3), "b": (4,)}, {"adjoint_a": True}),
        ({"a": (2, 3, 4), "b": (4,)}, {}),
        ({"a": (3, 4), "b": (2, 4)}, {}),
    ),
    "tensordot": (
        ({"a": (2, 3), "b": (3, 4)}, {"axes": 1}),
        ({"a": (2, 3, 4), "b": (3, 4, 2)}, {"axes": 2}),
        ({"a": (2, 3), "b": (4, 2)}, {"axes": [[0], [1]]}),
        ({"a": (2,), "b": (3,)}, {"axes": 0}),
    ),
    "cross": (({"a": (3,), "b": (3,)}, {}), ({"a": (2, 3), "b": (2, 3)}, {})),
    "diag": (({"diagonal": (3,)}, {}), ({"diagonal": (2, 3)}, {})),
    "diag_part": (
        ({"input": (3, 3)}, {}),
        ({"input": (2, 3)}, {}),
        ({"input": (2, 4, 3)}, {}),
    ),
    "band_part": (
        ({"input": (3, 3)}, {"num_lower": -1, "num_upper": 0}),
        ({"input": (3, 4)}, {"num_lower": 1, "num_upper": 1}),
        ({"input": (2, 3, 3)}, {"num_lower": 0, "num_upper": -1}),
    ),
    "matrix_transpose": (({"a": (2, 3)}, {}), ({"a": (2, 3, 4)}, {})),
    "cholesky": (({"input": (3, 3)}, {}), ({"input": (2, 2, 2)}, {}), ({"input": (1, 1)}, {})),
    "logdet": (({"matrix": (3, 3)}, {}), ({"matrix": (2, 2, 2)}, {})),
    "triangular_solve": (
        ({"matrix": (3, 3), "rhs": (3, 2)}, {}),
        ({"matrix": (3, 3), "rhs": (3, 2)}, {"adjoint": True}),
        ({"matrix": (3, 3), "rhs": (3, 1)}, {"lower": False}),
        ({"matrix": (2, 3, 3), "rhs": (2, 3, 2)}, {"lower": False, "adjoint": True}),
    ),
    "eigvalsh": (({"tensor": (3, 3)}, {}), ({"tensor": (2, 2, 2)}, {})),
    "svdvals": (({"tensor": (3, 2)}, {}), ({"tensor": (2, 3)}, {}), ({"tensor": (2, 3, 3)}, {})),
    "qr": (({"input": (3, 2)}, {}), ({"input": (3, 3)}, {}), ({"input": (2, 3, 2)}, {})),
    "softmax_cross_entropy_with_logits": (
        ({"labels": (2, 3), "logits": (2, 3)}, {}),
        ({"labels": (4,), "logits": (4,)}, {}),
        ({"labels": (2, 3), "logits": (2, 3)}, {"axis": 1}),
    ),
    "sparse_softmax_cross_entropy_with_logits": (
        ({"labels": (2,), "logits": (2, 3)}, {}),
        ({"labels": (2, 2), "logits": (2, 2, 4)}, {}),
    ),
    "l2_loss": (({"t": (3,)}, {}), ({"t": (2, 3)}, {})),
    "l2_normalize": (({"x": (3,)}, {}), ({"x": (2, 3)}, {"axis": 0}), ({"x": (2, 3)}, {})),
    "clip_by_value": tuple(
        ({"t": shape}, {"clip_value_min": -0.5, "clip_value_max": 0.5}) for (shape,) in _UNARY
    ),
    "batch_normalization": (
        (
            {"x": (2, 3), "mean": (3,), "variance": (3,), "offset": (3,), "scale": (3,)},
            {"variance_epsilon": 0.01},
        ),
        (
            {"x": (2, 3), "mean": (2, 1), "variance": (2, 1), "offset": (3,), "scale": (3,)},
            {"variance_epsilon": 0.1},
        ),
    ),
    "layer_norm": (
        ({"x": (2, 3), "scale": (3,), "offset": (3,)}, {}),
        ({"x": (2, 2, 4), "scale": (4,), "offset": (4,)}, {"epsilon": 0.1}),
    ),
    "bias_add": (({"value": (2, 3), "bias": (3,)}, {}), ({"value": (2, 2, 3), "bias": (3,)}, {})),
    "embedding_lookup": (
        ({"params": (4, 3), "ids": (5,)}, {}),
        ({"params": (4, 2), "ids": (2, 3)}, {}),
    ),
    "conv1d": (
        ({"input": (1, 4, 2), "filters": (2, 2, 3)}, {"stride": 1, "padding": "VALID"}),
        ({"input": (2, 5, 1), "filters": (3, 1, 2)}, {"stride": 2, "padding": "SAME"}),
    ),
    "conv2d": (
        ({"input": (1, 4, 4, 2), "filters": (2, 2, 2, 3)}, {"strides": 1, "padding": "VALID"}),
        ({"input": (2, 4, 5, 1), "filters": (3, 2, 1, 2)}, {"strides": [2, 2], "padding": "SAME"}),
    ),
    "max_pool2d": (
        ({"input": (1, 4, 4, 1)}, {"ksize": 2, "strides": 2, "padding": "VALID"}),
        ({"input": (2, 3, 4, 2)}, {"ksize": [2, 3], "strides": 1, "padding": "SAME"}),
    ),
    "avg_pool2d": (
        ({"input": (1, 4, 4, 1)}, {"ksize": 2, "strides": 2, "padding": "VALID"}),
        ({"input": (2, 3, 4, 2)}, {"ksize": [2, 3], "strides": 1, "padding": "SAME"}),
    ),
    "leaky_relu": (({"features": (5,)}, {"alpha": 0.3}),),
    "silu": (({"features": (5,)}, {"beta": 1.5}),),
    "gelu": (({"features": (5,)}, {"approximate": True}),),
    **MORE_CALLS,
}


def _uses(op: Op) -> Iterator[Use]:
    names = [parameter.name for parameter in op.inputs]
    if op.shape in (broadcast_call, equal_call):
        table = {1: _UNARY, 2: _BINARY, 3: _TERNARY}.get(len(names), ())
        if op.shape is equal_call:
            table = tuple(shapes for shapes in _BINARY if shapes[0] == shapes[1])
        if op.required:
            table = ()
        yield from (Use(op, dict(zip(names, shapes, strict=True))) for shapes in table)
    if op.name.startswith("reduce_"):
        # Of one element the deviation is 0, and so is its slope's divisor.
        flat = op.name == "reduce_std"
        yield from (
            Use(op, {names[0]: shape}, args)
            for shape, args in _REDUCTIONS
            if not (flat and (shape in ((), (2, 1, 3)) or args.get("axis") == []))
        )
    yield from (Use(op, shapes, args) for shapes, args in _OTHERS.get(op.name, ()))


USES: tuple[Use, ...] = tuple(use for op in all_ops() for use in _uses(op))
COMPLEX_USES: tuple[Use, ...] = tuple(use for use in USES if use.op.name in COMPLEX)
