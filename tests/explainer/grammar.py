"""Random expressions in which every declared op can stand, with the shapes followed throughout.

An op with a domain of its own gets an argument that lies in it; an op that ties, meets eigenvalues
or divides by zero at special points gets one that keeps away from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from gradcheck import ops
from gradcheck.explainer.formula.broadcasting import is_elementwise
from gradcheck.ops.declaration import Kind
from gradcheck.ops.rules import broadcast_call
from tests.explainer.more_ways import more_ways

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Op

__all__ = ["OUT_OF_REACH", "expressions", "ways"]

OUT_OF_REACH = frozenset(
    [
        "layer_norm",
        "batch_norm_training",
        "rms_norm",
        "scaled_dot_product_attention",
        "lstm_cell",
        "gru_cell",
        "simple_rnn",
        "linear_recurrence",
        "ctc_loss",
        "dropout",
        "resize_nearest",
        *(op.name for op in ops.all_ops() if op.is_complex or op.float32_only),
    ]
)
"""Ops that are not one call of TensorFlow, so that an expression cannot name them, that compute
with complex numbers, and those that do not take float64."""

LARGEST = 48
"""Arrays with more elements than this are not made larger."""

Way: TypeAlias = tuple[str, str, tuple[int, ...]]
"""The op, an expression that uses it, and its shape."""

_SAMPLES = {
    "normal": "{}",
    "distinct": "{}",
    "positive": "(tf.square({}) + 0.5)",
    "nonzero": "(tf.square({}) + 0.5)",
    "unit": "(0.9 * tf.tanh({}))",
    "above_one": "(tf.square({}) + 1.5)",
    "uniform": "(0.1 + 0.8 * tf.sigmoid({}))",
}
"""By sample: how any value gets into its domain."""


def _inside(op: Op, position: int, text: str) -> str:
    parameter = op.inputs[position]
    if op.name == "relu6":
        return f"(9 * {text})"
    return _SAMPLES[parameter.domain.sample.name].format(text)


def _elementwise(text: str, shape: Shape) -> list[Way]:
    """Every op that works element by element, each input made of the same value."""
    found = []
    for op in ops.all_ops():
        if (
            is_elementwise(op)
            and op.name not in OUT_OF_REACH
            and all(p.kind is Kind.REAL for p in op.inputs)
        ):
            example = op.example.args if op.example else {}
            given = [_inside(op, i, text) for i in range(len(op.inputs))]
            if op.positions:
                given = [f"{p.name}={one}" for p, one in zip(op.inputs, given, strict=True)]
            given += [f"{name}={example[name]!r}" for name in op.required]
            found.append((op.name, f"{op.tf}({', '.join(given)})", shape))
    found.append(("where", f"tf.where({text} > 0.5, {text}, tf.sin({text}))", shape))
    return found


def _pair(draw: st.DrawFn, one: tuple[str, Shape], other: tuple[str, Shape]) -> Way:
    """An op of two different values that broadcast."""
    shape = np.broadcast_shapes(one[1], other[1])
    pairs = [
        op
        for op in ops.all_ops()
        if len(op.inputs) == 2 and op.shape is broadcast_call and op.name not in OUT_OF_REACH
    ]
    op = draw(st.sampled_from(pairs))
    first, second = draw(st.permutations([one[0], other[0]]))
    return op.name, f"{op.tf}({_inside(op, 0, first)}, {_inside(op, 1, second)})", shape


def _reductions(text: str, shape: Shape, axis: int, keep: bool) -> list[Way]:
    rank = len(shape)
    if not rank:
        return [("l2_loss", f"tf.nn.l2_loss({text})", ())]
    along = axis % rank
    left = tuple(n for i, n in enumerate(shape) if i != along)
    kept = tuple(1 if i == along else n for i, n in enumerate(shape))
    result = kept if keep else left
    safe = {"reduce_prod": "positive", "reduce_euclidean_norm": "positive", "norm": "positive"}
    found: list[Way] = []
    for op in ops.all_ops():
        if op.family == "reduce" and "keepdims" in op.args:
            inner = _SAMPLES[safe.get(op.name, "normal")].format(text)
            if op.name == "reduce_std":
                # Elements that differ: where all are equal, the deviation has a kink.
                inner = f"tf.concat([{text}, {text} + 1.0], {axis})"
            found.append((op.name, f"{op.tf}({inner}, axis={axis}, keepdims={keep})", result))
    positive = _SAMPLES["positive"].format(text)
    return [
        *found,
        ("cumsum", f"tf.cumsum({text}, {axis}, exclusive={keep})", shape),
        ("cumprod", f"tf.math.cumprod({positive}, {axis}, reverse={keep})", shape),
        ("softmax", f"tf.nn.softmax({text}, {axis})", shape),
        ("log_softmax", f"tf.nn.log_softmax({text}, {axis})", shape),
        ("l2_normalize", f"tf.math.l2_normalize({positive}, {axis})", shape),
        ("l2_loss", f"tf.nn.l2_loss({text})", ()),
        ("lbeta", f"tf.math.lbeta({positive})", shape[:-1]),
        (
            "softmax_cross_entropy_with_logits",
            f"tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax({text}), {text})",
            shape[:-1],
        ),
        (
            "sparse_softmax_cross_entropy_with_logits",
            "tf.nn.sparse_softmax_cross_entropy_with_logits("
            f"{np.zeros(shape[:-1], dtype=int).tolist()}, {text})",
            shape[:-1],
        ),
    ]


def _moves(text: str, shape: Shape, axis: int) -> list[Way]:
    """Ops that move elements."""
    rank, size = len(shape), int(np.prod(shape, dtype=np.int64))
    found: list[Way] = [
        ("transpose", f"tf.transpose({text})", shape[::-1]),
        ("reshape", f"tf.reshape({text}, [-1])", (size,)),
        ("expand_dims", f"tf.expand_dims({text}, -1)", (*shape, 1)),
        ("squeeze", f"tf.squeeze(tf.expand_dims({text}, 0), 0)", shape),
        ("stack", f"tf.stack([{text}, tf.sin({text})])", (2, *shape)),
        ("broadcast_to", f"tf.broadcast_to({text}, {[2, *shape]})", (2, *shape)),
    ]
    if not rank:
        return found
    along = axis % rank
    n, rest = shape[0], shape[1:]
    twice = tuple(2 * m if i == along else m for i, m in enumerate(shape))
    ones = [2 if i == along else 1 for i in range(rank)]
    around = [[1, 0] if i == along else [0, 0] for i in range(rank)]
    padded = tuple(m + 1 if i == along else m for i, m in enumerate(shape))
    without = tuple(m for i, m in enumerate(shape) if i != along)
    return [
        *found,
        ("getitem", f"{text}[-1]", rest),
        ("getitem", f"{text}[::-1]", shape),
        ("slice", f"tf.slice({text}, {[n - 1] + [0] * (rank - 1)}, {[1, *rest]})", (1, *rest)),
        ("strided_slice", f"tf.strided_slice({text}, [0], [{n}], [2])", (-(-n // 2), *rest)),
        ("gather", f"tf.gather({text}, [0, {n - 1}, 0])", (3, *rest)),
        ("gather_nd", f"tf.gather_nd({text}, [[0], [{n - 1}]])", (2, *rest)),
        (
            "scatter_nd",
            f"tf.scatter_nd({[[0]] * n}, {text}, {[2, *rest]})",
            (2, *rest),
        ),
        ("embedding_lookup", f"tf.nn.embedding_lookup({text}, [{n - 1}, 0])", (2, *rest)),
        ("reverse", f"tf.reverse({text}, [{along}])", shape),
        ("roll", f"tf.roll({text}, 1, {along})", shape),
        ("pad", f"tf.pad({text}, {around})", padded),
        ("tile", f"tf.tile({text}, {ones})", twice),
        ("repeat", f"tf.repeat({text}, 2, {along})", twice),
        ("concat", f"tf.concat([{text}, tf.sin({text})], {along})", twice),
        ("split", f"tf.split(tf.concat([{text}, {text}], {along}), 2, {along})[1]", shape),
        ("unstack", f"tf.unstack({text}, axis={along})[0]", without),
    ]


def _matrices(text: str, shape: Shape) -> list[Way]:
    """Ops of matrices and vectors; those that need it get a matrix that is safe for them."""
    rank = len(shape)
    if not rank:
        return [("square", f"tf.square({text})", ())]
    n, column = shape[-1], f"tf.reshape({text}, [1, -1, 1, 1])"
    size = int(np.prod(shape, dtype=np.int64))
    # Elements that differ by more than what is added to them do not tie.
    ramp = f"(0.1 * tf.tanh({column}) + {[[[[float(i)]] for i in range(size)]]})"
    row = f"tf.reshape({text}, [1, -1, 1])"
    pool = f"ksize=2, strides=1, padding={'SAME'!r}"
    found: list[Way] = [
        ("diag", f"tf.linalg.diag({text})", (*shape, n)),
        ("tensordot", f"tf.tensordot({text}, {text}, [[-1], [-1]])", (*shape[:-1], *shape[:-1])),
        ("conv1d", f"tf.nn.conv1d({row}, tf.reshape({text}, [-1, 1, 1]), 1, 'SAME')", (1, size, 1)),
        (
            "conv2d",
            f"tf.nn.conv2d({column}, tf.reshape({text}, [-1, 1, 1, 1]), 1, 'SAME')",
            (1, size, 1, 1),
        ),
        ("avg_pool2d", f"tf.nn.avg_pool2d({column}, {pool})", (1, size, 1, 1)),
        ("max_pool2d", f"tf.nn.max_pool2d({ramp}, {pool})", (1, size, 1, 1)),
    ]
    if n == 3:
        found.append(("cross", f"tf.linalg.cross({text}, tf.sin({text}))", shape))
    if rank == 1:
        return [*found, ("einsum", f"tf.einsum('i,j->ij', {text}, {text})", (n, n))]
    rows, batch = shape[-2], shape[:-2]
    square, turned = (*batch, rows, rows), (*batch, n, rows)
    apart = [[float(2 * i + 1) * (i == j) for j in range(rows)] for i in range(rows)]
    safe = f"(0.1 * tf.matmul(tf.tanh({text}), tf.tanh({text}), transpose_b=True) + {apart})"
    dots = "..." if batch else ""
    return [
        *found,
        ("matmul", f"tf.matmul({text}, {text}, transpose_b=True)", square),
        ("matmul", f"({text} @ tf.linalg.matrix_transpose({text}))", square),
        ("matvec", f"tf.linalg.matvec({text}, tf.reduce_sum({text}, -2))", shape[:-1]),
        ("einsum", f"tf.einsum('{dots}ij,{dots}kj->{dots}ik', {text}, {text})", square),
        ("einsum", f"tf.einsum('{dots}ij->{dots}j', {text})", (*batch, n)),
        ("trace", f"tf.linalg.trace({text})", batch),
        ("diag_part", f"tf.linalg.diag_part({text})", (*batch, min(rows, n))),
        ("band_part", f"tf.linalg.band_part({text}, -1, 0)", shape),
        ("matrix_transpose", f"tf.linalg.matrix_transpose({text})", turned),
        ("bias_add", f"tf.nn.bias_add({text}, tf.reshape({text}, [-1])[:{n}])", shape),
        ("inv", f"tf.linalg.inv({safe})", square),
        ("det", f"tf.linalg.det({safe})", batch),
        ("logdet", f"tf.linalg.logdet({safe})", batch),
        ("solve", f"tf.linalg.solve({safe}, {text})", shape),
        ("triangular_solve", f"tf.linalg.triangular_solve({safe}, {text})", shape),
        ("cholesky", f"tf.linalg.cholesky({safe})", square),
        ("eigvalsh", f"tf.linalg.eigvalsh({safe})", (*batch, rows)),
        ("eigvalsh", f"tf.linalg.eigh({safe})[0]", (*batch, rows)),
        ("svdvals", f"tf.linalg.svd({safe})[0]", (*batch, rows)),
        ("qr", f"tf.linalg.qr({safe})[1]", square),
        ("qr", f"tf.linalg.qr({safe})[0]", square),
    ]


def ways(text: str, shape: Shape, axis: int = 0, keep: bool = False) -> list[list[Way]]:
    """Every way to go on from a value, by kind."""
    small = int(np.prod(shape, dtype=np.int64)) <= LARGEST and len(shape) < 5
    kinds = [_elementwise(text, shape), _reductions(text, shape, axis, keep)]
    if not small:
        return kinds
    return [
        *kinds,
        _moves(text, shape, axis),
        _matrices(text, shape),
        *more_ways(text, shape),
    ]


@st.composite
def expressions(draw: st.DrawFn) -> tuple[str, dict[str, Shape]]:
    """A text and the shapes of its inputs; shapes are followed while it is built."""
    shapes: dict[str, Shape] = {
        name: tuple(draw(st.lists(st.integers(1, 3), max_size=3))) for name in "xy"
    }
    made: list[tuple[str, Shape]] = list(shapes.items())
    for _ in range(draw(st.integers(1, 5))):
        text, shape = draw(st.sampled_from(made))
        made.append(_grown(draw, text, shape, made))
    text = made[-1][0]
    # Names of functions hold these letters too; an input stands alone.
    words = set(_words(text))
    return (text if words & {"x", "y"} else f"({text} + tf.reduce_sum(x))"), shapes


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def _grown(
    draw: st.DrawFn, text: str, shape: Shape, made: list[tuple[str, Shape]]
) -> tuple[str, Shape]:
    kind = draw(st.sampled_from(["way", "way", "pair", "operator", "constant"]))
    fitting = [other for other in made if _broadcast(other[1], shape) is not None]
    if kind == "pair":
        _, grown, result = _pair(draw, (text, shape), draw(st.sampled_from(fitting)))
        return grown, result
    if kind == "operator":
        other, other_shape = draw(st.sampled_from(fitting))
        sign = draw(st.sampled_from(["+", "-", "*"]))
        return f"({text} {sign} {other})", np.broadcast_shapes(shape, other_shape)
    if kind == "constant":
        number = draw(st.sampled_from(["2", "0.5", "-3"]))
        forms = ["({} * {})", "({1} - {0})", "({} / 2)", "((tf.square({}) + 1) ** 0.5)", "(-{})"]
        return draw(st.sampled_from(forms)).format(text, number), shape
    rank = len(shape)
    axis = draw(st.integers(-rank, rank - 1)) if rank else 0
    options: Any = ways(text, shape, axis, draw(st.booleans()))
    _, grown, result = draw(st.sampled_from(draw(st.sampled_from(options))))
    return grown, result


def _broadcast(a: Shape, b: Shape) -> Shape | None:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None
