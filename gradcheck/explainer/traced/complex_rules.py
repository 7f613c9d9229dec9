"""Ops of complex numbers, written in real ones: z = a + ib is the pair of a and b.

What such an op gives is a pair too. So the chain rule of real numbers goes through it, and no line
of a page needs a conjugate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.explainer.traced.complex_functions import (
    COMPLEX_FUNCTIONS,
    angle,
    modulus,
    square_of,
    times,
)
from gradcheck.explainer.traced.fourier_rules import FOURIER_RULES
from gradcheck.explainer.traced.op_texts import text_of_op
from gradcheck.explainer.traced.pair_texts import (
    Pair,
    conjugate,
    difference,
    negative,
    part,
    total,
)
from gradcheck.explainer.traced.read_texts import NoRule, must, word

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcheck.explainer.traced.pair_texts import Half, Pairs
    from gradcheck.model import Shape

__all__ = ["COMPLEX_RULES", "PART_BY_PART", "pair_of_op"]

PART_BY_PART = frozenset(
    ["AddN", "BroadcastTo", "ConcatV2", "Cumsum", "ExpandDims", "GatherNd", "GatherV2",
     "MatrixBandPart", "MatrixDiag", "MatrixDiagPart", "MatrixDiagPartV3", "MatrixDiagV3",
     "MatrixSetDiagV3", "Mean", "MirrorPad", "Pack", "Pad", "Reshape", "ReverseV2", "Roll",
     "ScatterNd", "SegmentSum", "SelectV2", "Slice", "Split", "SplitV", "Squeeze", "StridedSlice",
     "Sum", "TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate", "Tile", "Transpose",
     "UnsortedSegmentSum", "Unpack"]
)  # fmt: skip
"""Ops that move, choose or add numbers: the real part of what they give is made of real parts."""


def pair_of_op(kind: str, op: Pairs, output: int) -> Pair:
    """The real and the imaginary part of an output; NoRule where nothing here describes it."""
    if kind in PART_BY_PART:
        return _part_by_part(kind, op, output)
    rule = COMPLEX_RULES.get(kind)
    if rule is None:
        raise NoRule(kind)
    return rule(op)


@dataclass(frozen=True, slots=True)
class _OneHalf:
    """An op as if it were given one half of each complex input."""

    op: Pairs
    which: int

    @property
    def count(self) -> int:
        """How many inputs it has."""
        return self.op.count

    def x(self, place: int) -> str:
        """That half of an input, or the whole of a real one."""
        if not self.op.is_complex(place):
            return self.op.x(place)
        half = self.op.pair(place)[self.which]
        return f"tf.zeros({list(self.op.shape(place))}, G.dtype)" if half is None else half

    def plain(self, place: int) -> Any:
        """An input's value, as plain numbers and lists."""
        return self.op.plain(place)

    def shape(self, place: int) -> Shape:
        """The shape of an input."""
        return self.op.shape(place)

    def moves(self, place: int) -> bool:
        """Whether an input depends on those of the function."""
        return self.op.moves(place)

    def out_shape(self, place: int) -> Shape:
        """The shape of an output."""
        return self.op.out_shape(place)

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the op."""
        return self.op.attribute(name, default)


def _part_by_part(kind: str, op: Pairs, output: int) -> Pair:
    parts: list[Half] = []
    for which in (0, 1):
        given = [op.pair(i)[which] for i in range(op.count) if op.is_complex(i)]
        nothing = all(half is None for half in given)
        parts.append(None if nothing else text_of_op(kind, _OneHalf(op, which), output))
    return parts[0], parts[1]


def _sum(op: Pairs) -> Pair:
    (a, b), (c, d) = _spread(op)
    return total(a, c), total(b, d)


def _difference(op: Pairs) -> Pair:
    (a, b), (c, d) = _spread(op)
    return difference(a, c), difference(b, d)


def _spread(op: Pairs) -> tuple[Pair, Pair]:
    """Both sides; a half that nothing is added to gets the shape of the output."""
    sides = [op.pair(0), op.pair(1)]
    for here, there in ((0, 1), (1, 0)):
        if op.shape(here) != op.out_shape(0):
            text = f"tf.broadcast_to({{}}, {list(op.out_shape(0))})"
            a, b = (
                part(half, text) if other is None else half
                for half, other in zip(sides[here], sides[there], strict=True)
            )
            sides[here] = a, b
    return sides[0], sides[1]


def _multiplied(op: Pairs) -> Pair:
    return times(op.pair(0), op.pair(1))


def _over(above: Pair, below: Pair) -> Pair:
    if below[1] is None:
        return part(above[0], f"({{}} / {below[0]})"), part(above[1], f"({{}} / {below[0]})")
    real, imaginary = times(above, conjugate(below))
    size = square_of(below)
    return part(real, f"({{}} / {size})"), part(imaginary, f"({{}} / {size})")


def _divided(op: Pairs) -> Pair:
    return _over(op.pair(0), op.pair(1))


def _matrices(op: Pairs) -> Pair:
    """A product of matrices; adjoint are those that are turned and conjugated."""
    pairs = [op.pair(0), op.pair(1)]
    turned = [bool(op.attribute(f"transpose_{name}")) for name in "ab"]
    for i, name in enumerate("xy"):
        if op.attribute(f"adj_{name}"):
            pairs[i], turned[i] = conjugate(pairs[i]), True
    more = f"{', transpose_a=True' * turned[0]}{', transpose_b=True' * turned[1]}"
    return times(pairs[0], pairs[1], lambda x, y: f"tf.matmul({x}, {y}{more})")


def _einsum(op: Pairs) -> Pair:
    equation = word(op.attribute("equation"))
    if op.count == 1:
        a, b = (part(half, f"tf.einsum({equation!r}, {{}})") for half in op.pair(0))
        return a, b
    must(op.count == 2)
    return times(op.pair(0), op.pair(1), lambda x, y: f"tf.einsum({equation!r}, {x}, {y})")


def _angle(op: Pairs) -> Pair:
    return angle(op, op.pair(0), op.value(0)), None


def _turned(op: Pairs) -> Pair:
    a, b = _part_by_part("Transpose", op, 0)
    return conjugate((a, b))


COMPLEX_RULES: dict[str, Callable[[Pairs], Pair]] = {
    "Add": _sum,
    "AddV2": _sum,
    "Angle": _angle,
    "BatchMatMul": _matrices,
    "BatchMatMulV2": _matrices,
    "BatchMatMulV3": _matrices,
    "Cast": lambda op: op.pair(0),
    "Complex": lambda op: (op.x(0), op.x(1)),
    "ComplexAbs": lambda op: (modulus(op.pair(0)), None),
    "Conj": lambda op: conjugate(op.pair(0)),
    "ConjugateTranspose": _turned,
    "Einsum": _einsum,
    "Imag": lambda op: (op.pair(0)[1], None),
    "Inv": lambda op: _over(("1.0", None), op.pair(0)),
    "MatMul": _matrices,
    "Mul": _multiplied,
    "Neg": lambda op: (negative(op.pair(0)[0]), negative(op.pair(0)[1])),
    "Real": lambda op: (op.pair(0)[0], None),
    "RealDiv": _divided,
    "Reciprocal": lambda op: _over(("1.0", None), op.pair(0)),
    "Square": lambda op: times(op.pair(0), op.pair(0)),
    "Sub": _difference,
    **COMPLEX_FUNCTIONS,
    **FOURIER_RULES,
}
"""By kind of op: its rule. Of real outputs the second half is None."""
