"""An op that ran, as the call of TensorFlow's that a page writes for it."""

from __future__ import annotations

from gradcheck.explainer.traced.op_rules import RULES, reduction, running
from gradcheck.explainer.traced.read_texts import NoRule, Texts

__all__ = ["CONSTANT_OPS", "PASSED_OPS", "text_of_op"]

PASSED_OPS = frozenset(
    ["Identity", "IdentityN", "Snapshot", "EnsureShape", "CheckNumerics", "PreventGradient",
     "DeepCopy", "Copy", "EagerTensorCopy", "DebugIdentityV2"]
)  # fmt: skip
"""Ops that give what they are given."""
CONSTANT_OPS = frozenset(
    ["Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike", "BroadcastGradientArgs",
     "BroadcastArgs"]
)  # fmt: skip
"""Ops that look at the shape alone, which stands still."""

_UNARY = {
    "Neg": "tf.negative", "Reciprocal": "tf.math.reciprocal", "Inv": "tf.math.reciprocal",
    "Abs": "tf.abs", "Square": "tf.square", "Sqrt": "tf.sqrt", "Rsqrt": "tf.math.rsqrt",
    "Exp": "tf.exp", "Expm1": "tf.math.expm1", "Log": "tf.math.log", "Log1p": "tf.math.log1p",
    "Sin": "tf.sin", "Cos": "tf.cos", "Tan": "tf.tan", "Asin": "tf.asin", "Acos": "tf.acos",
    "Atan": "tf.atan", "Sinh": "tf.sinh", "Cosh": "tf.cosh", "Tanh": "tf.tanh",
    "Asinh": "tf.asinh", "Acosh": "tf.acosh", "Atanh": "tf.atanh", "Erf": "tf.math.erf",
    "Erfc": "tf.math.erfc", "Erfinv": "tf.math.erfinv", "Ndtri": "tf.math.ndtri",
    "Lgamma": "tf.math.lgamma", "Digamma": "tf.math.digamma", "Dawsn": "tf.math.special.dawsn",
    "Expint": "tf.math.special.expint", "Spence": "tf.math.special.spence",
    "BesselI0": "tf.math.bessel_i0", "BesselI1": "tf.math.bessel_i1",
    "BesselI0e": "tf.math.bessel_i0e", "BesselI1e": "tf.math.bessel_i1e",
    "BesselJ0": "tf.math.special.bessel_j0", "BesselJ1": "tf.math.special.bessel_j1",
    "Sigmoid": "tf.sigmoid", "Softplus": "tf.math.softplus", "Softsign": "tf.nn.softsign",
    "Relu": "tf.nn.relu", "Relu6": "tf.nn.relu6", "Elu": "tf.nn.elu", "Selu": "tf.nn.selu",
    "Softmax": "tf.nn.softmax", "LogSoftmax": "tf.nn.log_softmax", "L2Loss": "tf.nn.l2_loss",
    "StopGradient": "tf.stop_gradient", "Cholesky": "tf.linalg.cholesky",
    "MatrixDeterminant": "tf.linalg.det",
}  # fmt: skip
_BINARY = {
    "Maximum": "tf.maximum", "Minimum": "tf.minimum", "Atan2": "tf.atan2",
    "SquaredDifference": "tf.math.squared_difference", "Xdivy": "tf.math.xdivy",
    "Xlogy": "tf.math.xlogy", "Xlog1py": "tf.math.xlog1py", "DivNoNan": "tf.math.divide_no_nan",
    "MulNoNan": "tf.math.multiply_no_nan", "GatherNd": "tf.gather_nd",
    "Cross": "tf.linalg.cross",
}  # fmt: skip
_OPERATORS = {
    "Add": "+", "AddV2": "+", "Sub": "-", "Mul": "*", "RealDiv": "/", "Div": "/", "Pow": "**",
    "Greater": ">", "GreaterEqual": ">=", "Less": "<", "LessEqual": "<=", "Equal": "==",
    "NotEqual": "!=",
}  # fmt: skip
_REDUCED = {
    "Sum": "tf.reduce_sum", "Mean": "tf.reduce_mean", "Max": "tf.reduce_max",
    "Min": "tf.reduce_min", "Prod": "tf.reduce_prod",
    "EuclideanNorm": "tf.math.reduce_euclidean_norm",
}  # fmt: skip
_SUMMED = {"Cumsum": "tf.cumsum", "Cumprod": "tf.math.cumprod"}


def text_of_op(kind: str, op: Texts, output: int) -> str:
    """The call that gives this output; NoRule where no declared op is that."""
    if kind in _UNARY:
        return f"{_UNARY[kind]}({op.x(0)})"
    if kind in _BINARY:
        return f"{_BINARY[kind]}({op.x(0)}, {op.x(1)})"
    if kind in _OPERATORS:
        return f"({op.x(0)} {_OPERATORS[kind]} {op.x(1)})"
    if kind in _REDUCED:
        return reduction(_REDUCED[kind], op)
    if kind in _SUMMED:
        return running(_SUMMED[kind], op)
    rule = RULES.get(kind)
    if rule is None:
        raise NoRule(kind)
    return rule(op, output)
