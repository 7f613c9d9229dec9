"""How ops that take arguments are written as calls: axes, shapes, windows, parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer.traced.part_rules import PART_RULES
from gradcheck.explainer.traced.read_texts import Texts, given, must, word
from gradcheck.explainer.traced.window_rules import WINDOW_RULES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RULES", "reduction", "running"]


def reduction(name: str, op: Texts) -> str:
    """A sum, mean or the like, along those axes."""
    rank, keep = len(op.shape(0)), bool(op.attribute("keep_dims"))
    listed = np.atleast_1d(np.asarray(op.plain(1), dtype=np.int64)).tolist()
    axes = sorted({axis % max(rank, 1) for axis in listed}) if listed else []
    if not axes:
        return f"tf.reshape({op.x(0)}, {list(op.out_shape(0))})"
    if len(axes) == rank:
        return f"{name}({op.x(0)}{given(keepdims=keep)})"
    axis = axes[0] if len(axes) == 1 else axes
    return f"{name}({op.x(0)}, axis={axis}{given(keepdims=keep)})"


def running(name: str, op: Texts) -> str:
    """A running sum or product."""
    more = given(exclusive=op.attribute("exclusive"), reverse=op.attribute("reverse"))
    return f"{name}({op.x(0)}, axis={op.plain(1)}{more})"


def _product(op: Texts, _: int) -> str:
    first, second = (bool(op.attribute(a)) for a in ("transpose_a", "transpose_b"))
    more = given(transpose_a=first, transpose_b=second)
    return f"tf.matmul({op.x(0)}, {op.x(1)}{more})"


def _batch_product(op: Texts, _: int) -> str:
    first, second = (bool(op.attribute(a)) for a in ("adj_x", "adj_y"))
    more = given(transpose_a=first, transpose_b=second)
    return f"tf.matmul({op.x(0)}, {op.x(1)}{more})"


def _einsum(op: Texts, _: int) -> str:
    equation = word(op.attribute("equation"))
    return f"tf.einsum({equation!r}, {', '.join(op.x(i) for i in range(op.count))})"


def _slice(op: Texts, _: int) -> str:
    return f"tf.slice({op.x(0)}, {op.plain(1)}, {list(op.out_shape(0))})"


def _strided(op: Texts, _: int) -> str:
    """`x[1:, 0, newaxis]`, from the numbers and the masks."""
    begin, end, strides = (op.plain(i) for i in (1, 2, 3))
    mask = {
        name: int(op.attribute(f"{name}_mask", 0))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    if not mask["shrink_axis"] and _takes_all(op, mask):
        return _with_new_axes(op, mask)
    parts = []
    for i, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << i
        if mask["ellipsis"] & bit:
            parts.append("...")
        elif mask["new_axis"] & bit:
            parts.append("tf.newaxis")
        elif mask["shrink_axis"] & bit:
            parts.append(str(first))
        else:
            low = "" if mask["begin"] & bit else str(first)
            high = "" if mask["end"] & bit else str(last)
            parts.append(f"{low}:{high}" + (f":{step}" if step != 1 else ""))
    return f"{op.x(0)}[{', '.join(parts)}]"


def _takes_all(op: Texts, mask: dict[str, int]) -> bool:
    """Whether it gives all that it is given, with new axes: then it is no slice."""
    sizes = [n for n in op.out_shape(0) if n != 1]
    steps = all(step == 1 for step in op.plain(3))
    return steps and bool(mask["new_axis"]) and sizes == [n for n in op.shape(0) if n != 1]


def _with_new_axes(op: Texts, mask: dict[str, int]) -> str:
    """`x[:, newaxis]` as what it is."""
    text, count, places = op.x(0), len(op.plain(1)), []
    behind = op.shape(0)
    place = 0
    for i in range(count):
        if mask["ellipsis"] & (1 << i):
            listed = sum(
                1 for k in range(count) if not (mask["ellipsis"] | mask["new_axis"]) & (1 << k)
            )
            place += len(behind) - listed
        else:
            places += [place] if mask["new_axis"] & (1 << i) else []
            place += 1
    for each in places:
        text = f"tf.expand_dims({text}, {each})"
    return text


def _gather(op: Texts, _: int) -> str:
    axis = op.plain(2) if op.count > 2 else 0
    if op.shape(1) == () and axis >= 0 and not op.moves(1):
        return f"{op.x(0)}[{':, ' * axis}{op.plain(1)}]"  # one row is a part of it
    more = given(axis=axis or None, batch_dims=int(op.attribute("batch_dims") or 0) or None)
    return f"tf.gather({op.x(0)}, {op.x(1)}{more})"


def _list_of(op: Texts, places: range) -> str:
    return f"[{', '.join(op.x(i) for i in places)}]"


def _pad(op: Texts, _: int) -> str:
    fill = op.plain(2) if op.count > 2 else 0
    return f"tf.pad({op.x(0)}, {op.plain(1)}{given(constant_values=fill or None)})"


def _mirrored(op: Texts, _: int) -> str:
    return f"tf.pad({op.x(0)}, {op.plain(1)}, mode={word(op.attribute('mode'))!r})"


def _where(op: Texts, _: int) -> str:
    return f"tf.where({op.x(0)}, {op.x(1)}, {op.x(2)})"


def _select(op: Texts, _: int) -> str:
    must(op.shape(0) == op.shape(1))
    return _where(op, _)


def _squeeze(op: Texts, _: int) -> str:
    axes = [int(a) for a in op.attribute("squeeze_dims") or op.attribute("axis") or ()]
    return f"tf.squeeze({op.x(0)}{given(axis=axes or None)})"


def _diagonal(name: str) -> Callable[[Texts, int], str]:
    def rule(op: Texts, _: int) -> str:
        must(op.count < 2 or op.plain(1) == 0)
        must(name.endswith("part") or op.shape(0)[-1] == op.out_shape(0)[-1])
        return f"{name}({op.x(0)})"

    return rule


def _solved(name: str, *attributes: str) -> Callable[[Texts, int], str]:
    def rule(op: Texts, _: int) -> str:
        told = {a: bool(op.attribute(a)) for a in attributes}
        more = "".join(f", {a}={held}" for a, held in told.items() if held or a == "lower")
        return f"{name}({', '.join(op.x(i) for i in range(op.count))}{more})"

    return rule


def _first(name: str, *keywords: str) -> Callable[[Texts, int], str]:
    """The first of several outputs alone; the others are for the way back."""

    def rule(op: Texts, output: int) -> str:
        must(output == 0)
        given = [op.x(i) for i in range(op.count)]
        named = [f"{k}={x}" for k, x in zip(keywords, given, strict=False)] or given
        return f"{name}({', '.join(named)})"

    return rule


def _orthogonal(op: Texts, output: int) -> str:
    must(not op.attribute("full_matrices"))
    return f"tf.linalg.qr({op.x(0)})[{output}]"


RULES: dict[str, Callable[[Texts, int], str]] = {
    "MatMul": _product,
    "BatchMatMul": _batch_product,
    "BatchMatMulV2": _batch_product,
    "BatchMatMulV3": _batch_product,
    "Einsum": _einsum,
    "AddN": lambda op, _: f"({' + '.join(op.x(i) for i in range(op.count))})",
    "Transpose": lambda op, _: f"tf.transpose({op.x(0)}, perm={op.plain(1)})",
    "Reshape": lambda op, _: f"tf.reshape({op.x(0)}, {list(op.out_shape(0))})",
    "ExpandDims": lambda op, _: f"tf.expand_dims({op.x(0)}, {op.plain(1)})",
    "Squeeze": _squeeze,
    "BroadcastTo": lambda op, _: f"tf.broadcast_to({op.x(0)}, {list(op.out_shape(0))})",
    "ReverseV2": lambda op, _: f"tf.reverse({op.x(0)}, axis={op.plain(1)})",
    "Roll": lambda op, _: f"tf.roll({op.x(0)}, {op.plain(1)}, {op.plain(2)})",
    "Slice": _slice,
    "StridedSlice": _strided,
    "GatherV2": _gather,
    "ScatterNd": lambda op, _: f"tf.scatter_nd({op.x(0)}, {op.x(1)}, {op.plain(2)})",
    "Split": lambda op, k: (
        f"tf.split({op.x(1)}, {int(op.attribute('num_split'))}, axis={op.plain(0)})[{k}]"
    ),
    "SplitV": lambda op, k: f"tf.split({op.x(0)}, {op.plain(1)}, axis={op.plain(2)})[{k}]",
    "Unpack": lambda op, k: f"tf.unstack({op.x(0)}, axis={int(op.attribute('axis', 0))})[{k}]",
    "Pack": lambda op, _: (
        f"tf.stack({_list_of(op, range(op.count))}, axis={int(op.attribute('axis', 0))})"
    ),
    "ConcatV2": lambda op, _: (
        f"tf.concat({_list_of(op, range(op.count - 1))}, {op.plain(op.count - 1)})"
    ),
    "Pad": _pad,
    "PadV2": _pad,
    "MirrorPad": _mirrored,
    "Tile": lambda op, _: f"tf.tile({op.x(0)}, {op.plain(1)})",
    "Select": _select,
    "SelectV2": _where,
    "LeakyRelu": lambda op, _: (
        f"tf.nn.leaky_relu({op.x(0)}, alpha={float(op.attribute('alpha'))!r})"
    ),
    "MatrixDiag": _diagonal("tf.linalg.diag"),
    "MatrixDiagV3": _diagonal("tf.linalg.diag"),
    "MatrixDiagPart": _diagonal("tf.linalg.diag_part"),
    "MatrixDiagPartV3": _diagonal("tf.linalg.diag_part"),
    "MatrixBandPart": lambda op, _: f"tf.linalg.band_part({op.x(0)}, {op.plain(1)}, {op.plain(2)})",
    "MatrixInverse": _solved("tf.linalg.inv", "adjoint"),
    "MatrixSolve": _solved("tf.linalg.solve", "adjoint"),
    "MatrixTriangularSolve": _solved("tf.linalg.triangular_solve", "lower", "adjoint"),
    "Qr": _orthogonal,
    "SoftmaxCrossEntropyWithLogits": _first(
        "tf.nn.softmax_cross_entropy_with_logits", "logits", "labels"
    ),
    "SparseSoftmaxCrossEntropyWithLogits": _first(
        "tf.nn.sparse_softmax_cross_entropy_with_logits", "logits", "labels"
    ),
    **PART_RULES,
    **WINDOW_RULES,
}
