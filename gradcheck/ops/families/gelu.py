"""GELU: x times the normal distribution, exact or by the approximation with tanh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.ops.declaration import Op, Parameter, Step
from gradcheck.ops.rules import broadcast_call, flag
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Call, Derivation

_SCALED = "features * float32(1 / sqrt(2))"
_EXACT = f"features * erfc(-{_SCALED}) / 2"
_EXACT_SLOPE = f"(erfc(-{_SCALED}) / 2 + {_SCALED} * exp(-square({_SCALED})) / sqrt(pi))"

_CUBIC = "float32(0.044715)"
_INNER = f"(sqrt(2 / pi) * (features + {_CUBIC} * features**3))"
_NEARLY = f"features * (1 + tanh({_INNER})) / 2"
_NEARLY_SLOPE = (
    f"((1 + tanh({_INNER})) / 2 + features / 2 * (1 - square(tanh({_INNER}))) * sqrt(2 / pi) * "
    f"(1 + 3 * {_CUBIC} * square(features)))"
)


def _slope(call: Call) -> Derivation:
    if flag(call, "approximate"):
        return (
            Step(
                "y is x·(1 + tanh u)/2, with u = √(2/π)·(x + 0.044715·x³). By the product and the "
                "chain rule: tanh has the slope one less its square, and u has √(2/π)·(1 + "
                "3·0.044715·x²).",
                f"dout == {_NEARLY_SLOPE} * dfeatures",
            ),
        )
    return (
        Step(
            "Φ is erfc(−x/√2)/2, and its slope is the density of the normal distribution.",
            f"dout == (erfc(-{_SCALED}) / 2 + "
            "features * exp(-square(features) / 2) / sqrt(2 * pi)) * dfeatures",
        ),
    )


OPS = (
    Op(
        name="gelu",
        tf="tf.nn.gelu",
        family="nn",
        summary="y = x·Φ(x), Φ the normal distribution",
        inputs=(Parameter("features"),),
        forward=lambda call: _NEARLY if call.args["approximate"] else _EXACT,
        formula=lambda call: {
            "features": f"G * {_NEARLY_SLOPE if flag(call, 'approximate') else _EXACT_SLOPE}"
        },
        slope=_slope,
        shape=broadcast_call,
        args={"approximate": False},
        related=("relu", "silu", "erf"),
        pitfalls=(
            "A product: both the factor x and Φ contribute.",
            "The approximation by tanh has another derivative than the exact one.",
            Seen(
                "TensorFlow keeps 1/√2 in float32, so the value is off by 1e-8 also in float64.",
                {"features": [1.0]},
                out=[0.8413447419273903],
            ),
        ),
    ),
)
