"""How ops of segments, scattered parts, special functions and matrices are written as calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.traced.read_texts import Texts, given, must, number

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PART_RULES"]


def _special(name: str) -> Callable[[Texts, int], str]:
    """A function of its last input; those before it are numbers."""

    def rule(op: Texts, _: int) -> str:
        last = op.count - 1
        must(op.shape(last) == op.out_shape(0))
        numbers = [repr(number(op, i)) for i in range(last)]
        return f"{name}({', '.join([*numbers, op.x(last)])})"

    return rule


def _segments(name: str) -> Callable[[Texts, int], str]:
    return lambda op, _: f"{name}({op.x(0)}, {op.plain(1)})"


def _numbered_segments(name: str) -> Callable[[Texts, int], str]:
    return lambda op, _: f"{name}({op.x(0)}, {op.x(1)}, {op.plain(2)})"


def _scattered(name: str) -> Callable[[Texts, int], str]:
    return lambda op, _: f"{name}({op.x(0)}, {op.x(1)}, {op.x(2)})"


def _replaced(op: Texts, _: int) -> str:
    return f"tf.tensor_scatter_nd_update({op.x(0)}, {op.plain(1)}, {op.x(2)})"


def _running_logsumexp(op: Texts, _: int) -> str:
    must(not op.attribute("exclusive"))
    more = given(axis=op.plain(1) or None, reverse=op.attribute("reverse"))
    return f"tf.math.cumulative_logsumexp({op.x(0)}{more})"


def _largest(op: Texts, output: int) -> str:
    must(output == 0)
    return f"tf.math.top_k({op.x(0)}, k={op.plain(1)})[0]"


def _set_diagonal(op: Texts, _: int) -> str:
    must(op.count < 3 or op.plain(2) == 0)
    return f"tf.linalg.set_diag({op.x(0)}, {op.x(1)})"


def _eigen(op: Texts, output: int) -> str:
    if output == 0:
        return f"tf.linalg.eigvalsh({op.x(0)})"
    return f"tf.linalg.eigh({op.x(0)})[{output}]"


def _singular(op: Texts, output: int) -> str:
    if output == 0:
        return f"tf.linalg.svd({op.x(0)}, compute_uv=False)"
    must(not op.attribute("full_matrices") or len({*op.shape(0)[-2:]}) == 1)
    return f"tf.linalg.svd({op.x(0)})[{output}]"


def _one_of(name: str) -> Callable[[Texts, int], str]:
    return lambda op, output: f"{name}({op.x(0)})[{output}]"


PART_RULES: dict[str, Callable[[Texts, int], str]] = {
    "Betainc": _special("tf.math.betainc"),
    "CumulativeLogsumexp": _running_logsumexp,
    "Igamma": _special("tf.math.igamma"),
    "Igammac": _special("tf.math.igammac"),
    "LogMatrixDeterminant": _one_of("tf.linalg.slogdet"),
    "MatrixSetDiagV3": _set_diagonal,
    "MatrixSquareRoot": lambda op, _: f"tf.linalg.sqrtm({op.x(0)})",
    "Polygamma": _special("tf.math.polygamma"),
    "SegmentMax": _segments("tf.math.segment_max"),
    "SegmentMean": _segments("tf.math.segment_mean"),
    "SegmentMin": _segments("tf.math.segment_min"),
    "SegmentProd": _segments("tf.math.segment_prod"),
    "SegmentSum": _segments("tf.math.segment_sum"),
    "SelfAdjointEigV2": _eigen,
    "Svd": _singular,
    "TensorScatterAdd": _scattered("tf.tensor_scatter_nd_add"),
    "TensorScatterMax": _scattered("tf.tensor_scatter_nd_max"),
    "TensorScatterMin": _scattered("tf.tensor_scatter_nd_min"),
    "TensorScatterSub": _scattered("tf.tensor_scatter_nd_sub"),
    "TensorScatterUpdate": _replaced,
    "TopKV2": _largest,
    "UnsortedSegmentMax": _numbered_segments("tf.math.unsorted_segment_max"),
    "UnsortedSegmentMin": _numbered_segments("tf.math.unsorted_segment_min"),
    "UnsortedSegmentProd": _numbered_segments("tf.math.unsorted_segment_prod"),
    "UnsortedSegmentSum": _numbered_segments("tf.math.unsorted_segment_sum"),
    "Zeta": _special("tf.math.zeta"),
}
"""By kind of op that takes parts of its input, or is a function with parameters."""
