"""Kernels that may be given other shapes than the user's.

Batching calls a function with many points at once: with shapes that its author never tried. Most
kernels check what they are given, and raise. Some do not: `AvgPoolGrad` writes past its buffers
where its arguments do not fit together, and list kernels hang. So only functions are batched that
run nothing but these: kernels that check their shapes, keep nothing and draw nothing. A function
with another one, which need not be a bad one, is called with the user's own shapes alone.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.private_names import definition_of_op

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

ELEMENT_BY_ELEMENT = """
    Abs Acos Acosh Add AddN AddV2 Angle Asin Asinh Atan Atan2 Atanh BesselI0 BesselI0e BesselI1
    BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Betainc Cast
    Ceil ClipByValue Complex ComplexAbs Conj Cos Cosh Dawsn Digamma Div DivNoNan Elu Equal Erf Erfc
    Erfinv Exp Expint Expm1 Floor FloorDiv FloorMod FresnelCos FresnelSin Greater GreaterEqual
    Igamma Igammac Imag Inv IsFinite IsInf IsNan LeakyRelu Less LessEqual Lgamma Log Log1p
    LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul MulNoNan Ndtri Neg NextAfter NotEqual
    Polygamma Pow Real RealDiv Reciprocal Relu Relu6 Rint Round Rsqrt Select SelectV2 Selu Sigmoid
    Sign Sin Sinh Softplus Softsign Spence Sqrt Square SquaredDifference Sub Tan Tanh TruncateDiv
    TruncateMod Xdivy Xlog1py Xlogy Zeta

    BroadcastGradientArgs EluGrad InvGrad LeakyReluGrad ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad
    SeluGrad SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad TanhGrad
"""

_MOVING = """
    BroadcastTo ConcatV2 ConjugateTranspose Const DepthToSpace DiagPart Diag EnsureShape ExpandDims
    Fill GatherNd GatherV2 Identity IdentityN InvertPermutation MatrixBandPart MatrixDiagPartV3
    MatrixDiagV3 MatrixSetDiagV3 MirrorPad NoOp OneHot OnesLike Pack Pad PadV2 PreventGradient Range
    Rank ReadVariableOp Reshape ReverseV2 Roll ScatterNd Shape ShapeN Size Slice SpaceToDepth Split
    SplitV Squeeze StopGradient StridedSlice Tile Transpose Unpack Where ZerosLike
"""

_REDUCING = """
    All Any ArgMax ArgMin Cumprod Cumsum CumulativeLogsumexp EuclideanNorm L2Loss LogSoftmax Max
    Mean Min Prod SegmentMean SegmentSum Softmax SoftmaxCrossEntropyWithLogits
    SparseSoftmaxCrossEntropyWithLogits Sum TopKV2 UnsortedSegmentSum
"""

_MULTIPLYING = """
    AvgPool AvgPool3D BatchMatMul BatchMatMulV2 BatchMatMulV3 BiasAdd Cholesky Conv2D Conv3D Cross
    DepthwiseConv2dNative Dilation2D Einsum FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D
    LRN LogMatrixDeterminant MatMul MatrixDeterminant MatrixExponential MatrixInverse MatrixSolve
    MatrixTriangularSolve MaxPool MaxPool3D Qr RFFT RFFT2D RFFT3D ResizeBicubic ResizeBilinear
    SelfAdjointEigV2 Svd TridiagonalMatMul TridiagonalSolve
"""

_KNOWN = frozenset(" ".join([ELEMENT_BY_ELEMENT, _MOVING, _REDUCING, _MULTIPLYING]).split())


def all_take_other_shapes(kinds: AbstractSet[str]) -> bool:
    """Whether all of these ops may be given shapes of which nothing is known.

    Without it `test_no_other_shapes_for_a_kernel_that_does_not_check_them` fails.
    """
    return kinds <= _KNOWN


_ALONG_SOME = "All Any ArgMax ArgMin Cumprod Cumsum EuclideanNorm Max Mean Min Prod Sum"
REDUCING_ALONG = frozenset(_ALONG_SOME.split())
"""Those that are told along which axes."""

_ALONG_THE_LAST = """
    BatchMatMul BatchMatMulV2 BatchMatMulV3 Cholesky Const Cross EnsureShape FFT FFT2D FFT3D Fill
    Identity IdentityN IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D LogMatrixDeterminant LogSoftmax
    MatMul MatrixBandPart MatrixDeterminant MatrixDiagPartV3 MatrixDiagV3 MatrixExponential
    MatrixInverse MatrixSetDiagV3 MatrixSolve MatrixTriangularSolve NoOp OnesLike PreventGradient
    Qr ReadVariableOp RFFT RFFT2D RFFT3D SelfAdjointEigV2 Softmax StopGradient Svd TopKV2
    ZerosLike
"""
_STACKING = frozenset(f"{ELEMENT_BY_ELEMENT} {_ALONG_THE_LAST} {_ALONG_SOME}".split())


def counts_from_the_front(inputs: Iterable[Any]) -> bool:
    """Whether the axes that a reduction is given are counted from the front."""
    # (Behind them come attributes, each with its name.)
    axes = takewhile(lambda given: not isinstance(given, str), islice(inputs, 1, None))
    return any(np.any(np.asarray(axis) >= 0) for axis in axes)


def all_may_stack(kinds: AbstractSet[str]) -> bool:
    """Whether all of these ops do with an axis more, ahead of the others, what they do without.

    (Whether a function of them does is seen when it is tried: this says what to try first.)
    Without it `test_what_counts_axes_from_the_front_gets_no_leading_one` fails.
    """
    return kinds <= _STACKING


_CHANGES_NO_RESULT = re.compile(
    r"Assign\w*VariableOp|ReadVariableOp|ResourceGather(Nd)?|Var\w+|DestroyResourceOp|Assert|Print\w*|"
    r"While|If|Case|For|(Stateful)?PartitionedCall"
)
"""Ops that keep or say something, and draw nothing; what stands inside of them is known too."""


def all_repeat(kinds: AbstractSet[str]) -> bool:
    """Whether all of these ops give the same each time they are given the same.

    Without it `test_dropout_is_not` fails.
    """
    return all(is_pure(kind) or _CHANGES_NO_RESULT.fullmatch(kind) for kind in kinds)


@cache
def is_pure(kind: str) -> bool:
    """Whether an op of this kind gives the same each time, and keeps nothing."""
    found = definition_of_op(kind)
    return found is not None and not found.is_stateful


_MAY_LOSE = frozenset({"Cast", "ResizeBicubic", "ResizeBilinear"})
"""Those that give another precision than they are given. (What rounds on purpose, to whole numbers
or what not, is exact: between its steps the derivative is zero, and known to be.)"""


_KEEPING = _KNOWN - _MAY_LOSE
_KEEPING_WITH_CASTS = _KNOWN - (_MAY_LOSE - {"Cast"})


def all_keep_their_digits(kinds: AbstractSet[str], *, casts: bool = False) -> bool:
    """Whether, given double precision, all of these ops compute in it.

    Without it `test_what_is_constant_and_does_not_round` fails.

    Args:
        kinds: of the ops.
        casts: no less than double precision was seen, so that casts lose nothing.
    """
    return kinds <= (_KEEPING_WITH_CASTS if casts else _KEEPING)


_CHOOSING = """
    Abs ArgMax ArgMin Equal Greater GreaterEqual Less LessEqual LogicalAnd LogicalNot LogicalOr Max
    MaxPool MaxPool3D Maximum Min Minimum Neg NotEqual Relu Relu6 Select SelectV2 Sign TopKV2
"""
_EXACT = frozenset(f"{_MOVING} {_CHOOSING}".split()) - {"Range", "ScatterNd"}


def all_are_exact(kinds: AbstractSet[str]) -> bool:
    """Whether all of these ops only move or choose numbers, so that none of them rounds anything.

    Without it `test_what_only_chooses_does_not_round` fails.
    """
    return kinds <= _EXACT
