"""Which of TensorFlow's operations round, and what: the last digit of a result, or of its parts."""

from __future__ import annotations

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

_SUMS = """
    AddN AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BatchMatMul BatchMatMulV2 BatchMatMulV3
    BiasAddGrad Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2
    Conv3DBackpropInputV2 Cumsum DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter
    DepthwiseConv2dNativeBackpropInput Einsum MatMul Mean ResizeBicubic ResizeBicubicGrad
    ResizeBilinear ResizeBilinearGrad SegmentMean SegmentSum SparseTensorDenseMatMul Sum
    TridiagonalMatMul UnsortedSegmentSum
"""
SUMS = frozenset(_SUMS.split())
"""Those that add up numbers, or products of them: an output is off by a share of what was added,
whatever is left of it. The op itself tells how much that is: it adds up the sizes as well."""

SPECTRA = {
    f"{kind}{axes}": count
    for kind in ("FFT", "IFFT", "RFFT", "IRFFT")
    for axes, count in (("", 1), ("2D", 2), ("3D", 3))
}
"""Those that add up all the numbers along so many last axes, for each of their outputs."""

_OF_ONE = """
    BesselJ0 BesselJ1 BesselY0 BesselY1 Digamma Lgamma LogMatrixDeterminant LogSoftmax
    SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits
"""
OF_ONE = frozenset(_OF_ONE.split())
"""Those whose results are made of numbers of the size of one, however small they are themselves."""

LESS_ONE = frozenset({"Elu", "Selu"})
"""Those that take one from an exponential where they are below zero."""
