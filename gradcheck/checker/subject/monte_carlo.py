"""Arithmetic that rounds differently each time, to see what rounding does on the way to a gradient.

A gradient may be 1 − 2x·y, where the product is one but for its last digits: what it loses does not
show when its inputs change a little, since one is one for all of them. It shows when the results on
the way are changed. This is Monte Carlo arithmetic (Parker 1997): the function and its gradient are
traced, and in the graph every result of an operation that rounds is followed by a random change of
up to a unit in its last place.

Operations that only move or choose numbers stay exact, so that comparisons between them hold. One
that is not listed here is taken for exact: it is no excuse for a gradient.

Without it `test_one_less_a_product_that_is_one` and
`test_a_gradient_that_cancels_in_low_precision_alone` fail.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OPERATIONS = """
    Add AddN AddV2 BiasAdd BiasAddGrad Cross Cumprod Cumsum CumulativeLogsumexp Div DivNoNan
    EuclideanNorm Inv InvGrad L2Loss Mean Mul MulNoNan Pow Prod RealDiv Reciprocal ReciprocalGrad
    Rsqrt RsqrtGrad SegmentMean SegmentProd SegmentSum Sqrt SqrtGrad Square SquaredDifference Sub
    Sum UnsortedSegmentProd UnsortedSegmentSum Xdivy Xlog1py Xlogy

    Acos Acosh Angle Asin Asinh Atan Atan2 Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0
    BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Betainc ComplexAbs Cos Cosh
    Dawsn Digamma Elu EluGrad Erf Erfc Erfinv Exp Expint Expm1 FresnelCos FresnelSin Igamma
    IgammaGradA Igammac LeakyRelu LeakyReluGrad Lgamma Log Log1p LogSoftmax Ndtri Polygamma Selu
    SeluGrad Sigmoid SigmoidGrad Sin Sinh Softmax SoftmaxCrossEntropyWithLogits Softplus
    SoftplusGrad Softsign SoftsignGrad SparseSoftmaxCrossEntropyWithLogits Spence Tan Tanh TanhGrad
    Zeta

    AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BatchMatMul BatchMatMulV2 BatchMatMulV3 Cholesky
    CholeskyGrad Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2
    Conv3DBackpropInputV2 DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter
    DepthwiseConv2dNativeBackpropInput Eig Einsum FFT FFT2D FFT3D FusedBatchNormGradV3
    FusedBatchNormV3 IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D LRN LRNGrad LogMatrixDeterminant Lu
    MatMul MatrixDeterminant MatrixExponential MatrixInverse MatrixLogarithm MatrixSolve
    MatrixSolveLs MatrixSquareRoot MatrixTriangularSolve Qr RFFT RFFT2D RFFT3D ResizeBicubic
    ResizeBicubicGrad ResizeBilinear ResizeBilinearGrad SelfAdjointEigV2 SparseTensorDenseMatMul Svd
    TridiagonalMatMul TridiagonalSolve
"""

ROUNDING = frozenset(_OPERATIONS.split())
"""The operations whose results are rounded. (`Cast` is one where it is given a fraction.)"""

FACTORS = frozenset({"Cholesky", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve"}) | {
    "Qr",
    "SelfAdjointEigV2",
    "Svd",
}
"""Those whose results are off by a share not of each number but of the largest of its matrix."""

_draw: ContextVar[int | None] = ContextVar("draw", default=None)
_seed: ContextVar[Any] = ContextVar("seed", default=None)


@contextmanager
def rounding_anew(draw: int) -> Iterator[None]:
    """Within this, tapes take gradients in nudged arithmetic; each draw is another rounding."""
    token = _draw.set(draw)
    try:
        yield
    finally:
        _draw.reset(token)


def current_draw() -> int | None:
    """Which draw the arithmetic is to be nudged by; None where it is to be left as it is."""
    return _draw.get()


def current_seed() -> Any:
    """The seed of the graph that is being traced and nudged; None where there is none."""
    return _seed.get()


@contextmanager
def nudged_graph(seed: Any, last_place: float | None = None) -> Iterator[None]:
    """Within this, what is added to the graph that is being traced is nudged.

    Functions that are traced on their own and called from this one are left as they are: their
    graphs outlive this one.

    Args:
        seed: a tensor of the graph, of two integers; another one gives another rounding.
        last_place: the unit in the last place, where that is not what the dtype of a result says.
    """
    import tensorflow as tf

    number = count()

    def nudge(kind: str, inputs: Any, outputs: Any) -> Any:
        if not _rounds(kind, inputs):
            return outputs
        seeds = [tf.add(seed, [0, next(number)]) for _ in outputs]
        whole = kind in FACTORS
        return [
            _nudged(tensor, own, last_place, whole=whole)
            for tensor, own in zip(outputs, seeds, strict=True)
        ]

    token = _seed.set(seed)
    try:
        with watched_graph(nudge):
            yield
    finally:
        _seed.reset(token)


@contextmanager
def recorded_graph() -> Iterator[list[tuple[str, Any]]]:
    """Within this, what rounds in the graph that is being traced is listed, with its kind.

    But for casts, which there are in one precision and not in another.
    """
    results: list[tuple[str, Any]] = []

    def record(kind: str, _inputs: Any, outputs: Any) -> Any:
        if kind in ROUNDING:
            results.extend((kind, tensor) for tensor in outputs)
        return outputs

    with watched_graph(record):
        yield results


@contextmanager
def watched_graph(change: Callable[[str, Any, Any], Any]) -> Iterator[None]:
    """Within this, `change` is given every operation of the graph that is being traced.

    Args:
        change: the kind, the inputs and the outputs of an operation to what takes the place of
            its outputs.
    """
    import tensorflow as tf
    from tensorflow.python.framework import op_callbacks

    this = tf.compat.v1.get_default_graph()

    def callback(
        kind: str,
        inputs: Any,
        _attributes: Any,
        outputs: Any,
        op_name: str | None = None,
        graph: Any = None,
    ) -> Any:
        del op_name
        return change(kind, inputs, outputs) if graph is this else outputs

    op_callbacks.add_op_callback(callback)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(callback)


def _rounds(kind: str, inputs: Any) -> bool:
    if kind == "Cast":
        return bool(inputs[0].dtype.is_floating or inputs[0].dtype.is_complex)
    return kind in ROUNDING


def _nudged(tensor: Any, seed: Any, unit: float | None = None, *, whole: bool = False) -> Any:
    """The tensor, changed at random by up to a unit in the last place of each number.

    Args:
        tensor: what is changed.
        seed: of two integers.
        unit: that unit, of one; by default that of the dtype.
        whole: change each number by so much of the largest of its matrix; zeros stay.
    """
    import tensorflow as tf

    if tensor.dtype.is_complex:
        parts = (tf.math.real(tensor), tf.math.imag(tensor))
        return tf.complex(
            *(
                _nudged(part, tf.add(seed, [i << 16, 0]), unit, whole=whole)
                for i, part in enumerate(parts)
            )
        )
    if not tensor.dtype.is_floating:
        return tensor
    last_place = {tf.float64: 2.0**-52, tf.float32: 2.0**-23, tf.bfloat16: 2.0**-7}
    size = last_place.get(tensor.dtype, 2.0**-10) if unit is None else unit
    drawn = tf.random.stateless_uniform(tf.shape(tensor), seed, -size, size)
    if whole and tensor.shape.rank is not None and tensor.shape.rank > 1:
        top = tf.reduce_max(tf.abs(tensor), [-2, -1], keepdims=True)
        change = tf.cast(drawn, tensor.dtype) * top
        return tensor + tf.stop_gradient(tf.where(tensor == 0, tf.zeros_like(tensor), change))
    # (A factor keeps zeros, signs and infinities.)
    nudged = tensor * (1 + tf.cast(drawn, tensor.dtype))
    if tensor.dtype == tf.float16 and unit is None:
        # Numbers without all their digits begin at 6e-5, where squares soon are.
        nudged += tf.stop_gradient(tf.sign(tensor) * tf.cast(drawn * 2.0**-14, tensor.dtype))
    return nudged
