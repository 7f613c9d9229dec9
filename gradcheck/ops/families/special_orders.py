"""Special functions of an order and a place; TensorFlow differentiates them by the place alone.

The order is an argument here: by it there is no gradient to check, or none in closed form.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Step
from gradcheck.ops.domains import POSITIVE
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Call

_ZERO_TO_ONE = Domain(low=0.0, high=1.0, sample=Sample("uniform", (0.1, 0.9)))
_INTEGRAL = "The derivative of an integral by its end is the integrand there"
_GAMMA_DENSITY = "exp((a - 1) * log(x) - x - lgamma(a))"
_BETA_DENSITY = (
    "exp((a - 1) * log(x) + (b - 1) * log(1 - x) + lgamma(a + b) - lgamma(a) - lgamma(b))"
)
_ORDERS_STAY = "a is an argument: the gradient by it has no closed form."


def _zeta_code(call: Call) -> dict[str, str]:
    x = call.args["x"]
    return {"q": f"-{x} * G * tf.math.zeta(tf.cast({x + 1}, G.dtype), q)"}


def _gamma_code(call: Call, sign: str = "") -> dict[str, str]:
    a = call.args["a"]
    density = f"tf.exp({a - 1} * tf.math.log(x) - x - {math.lgamma(a)!r})"
    return {"x": f"{sign}G * {density}"}


def _beta_code(call: Call) -> dict[str, str]:
    a, b = call.args["a"], call.args["b"]
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    powers = f"{a - 1} * tf.math.log(x) + {b - 1} * tf.math.log1p(-x)"
    return {"x": f"G * tf.exp({powers} + {scale!r})"}


OPS = (
    elementwise(
        "polygamma",
        "tf.math.polygamma",
        "y = the derivative of order a of ψ, at x",
        family="special",
        domains={"x": POSITIVE},
        required=("a",),
        positions=("a", "x"),
        example=Example({"x": (3,)}, {"a": 1.0}),
        forward="polygamma(a, x)",
        x="G * polygamma(a + 1, x)",
        slope=(
            Step(
                "It is a derivative of ψ already, and its slope the next one.",
                "dout == polygamma(a + 1, x) * dx",
            ),
        ),
        undefined=("At 0, -1, -2, … it has poles.",),
        related=("digamma", "lgamma", "zeta"),
        pitfalls=(
            "The order comes first: polygamma(1, x) is the trigamma function of x.",
            "Its sign changes with the order, and so does that of the slope.",
        ),
    ),
    elementwise(
        "zeta",
        "tf.math.zeta",
        "y = Σ 1/(q + k)ˣ over k = 0, 1, 2, …",
        family="special",
        domains={"q": POSITIVE},
        required=("x",),
        positions=("x", "q"),
        example=Example({"q": (3,)}, {"x": 2.0}),
        forward="zeta(x, q)",
        q="-x * G * zeta(x + 1, q)",
        code=_zeta_code,
        slope=(
            Step(
                "Each term 1/(q + k)ˣ has the slope -x/(q + k)ˣ⁺¹; their sum is a zeta function "
                "again.",
                "dout == -x * zeta(x + 1, q) * dq",
            ),
        ),
        undefined=("x must lie above 1; at q = 0, -1, -2, … it has poles.",),
        related=("polygamma", "digamma"),
        pitfalls=(
            "x is the exponent here and q the place: the gradient is that by q.",
            "The factor is -x, and the exponent of what is left is one higher.",
        ),
    ),
    elementwise(
        "igamma",
        "tf.math.igamma",
        "y = P(a, x), the lower incomplete gamma function, regularised",
        family="special",
        domains={"x": POSITIVE},
        required=("a",),
        positions=("a", "x"),
        example=Example({"x": (3,)}, {"a": 2.0}),
        forward="gammainc(a, x)",
        x=f"G * {_GAMMA_DENSITY}",
        code=_gamma_code,
        slope=(
            Step(
                f"P is the integral of tᵃ⁻¹e⁻ᵗ/Γ(a) from 0 to x. {_INTEGRAL}.",
                f"dout == {_GAMMA_DENSITY} * dx",
            ),
        ),
        related=("igammac", "lgamma", "betainc"),
        pitfalls=(
            "The slope is the density of the gamma distribution: never negative.",
            _ORDERS_STAY,
        ),
    ),
    elementwise(
        "igammac",
        "tf.math.igammac",
        "y = Q(a, x), the upper incomplete gamma function, regularised",
        family="special",
        domains={"x": POSITIVE},
        required=("a",),
        positions=("a", "x"),
        example=Example({"x": (3,)}, {"a": 2.0}),
        forward="gammaincc(a, x)",
        x=f"-G * {_GAMMA_DENSITY}",
        code=lambda call: _gamma_code(call, "-"),
        slope=(
            Step(
                "Q = 1 - P, and P has the density of the gamma distribution as its slope.",
                f"dout == -{_GAMMA_DENSITY} * dx",
            ),
        ),
        related=("igamma", "lgamma"),
        pitfalls=("Q falls where P rises: the sign is the opposite of igamma's.", _ORDERS_STAY),
    ),
    elementwise(
        "betainc",
        "tf.math.betainc",
        "y = I(a, b, x), the incomplete beta function, regularised",
        family="special",
        domains={"x": _ZERO_TO_ONE},
        required=("a", "b"),
        positions=("a", "b", "x"),
        example=Example({"x": (3,)}, {"a": 2.0, "b": 1.5}),
        forward="betainc(a, b, x)",
        x=f"G * {_BETA_DENSITY}",
        code=_beta_code,
        slope=(
            Step(
                f"I is the integral of tᵃ⁻¹(1 - t)ᵇ⁻¹/B(a, b) from 0 to x. {_INTEGRAL}; the "
                "logarithm of B is log Γ(a) + log Γ(b) - log Γ(a + b).",
                f"dout == {_BETA_DENSITY} * dx",
            ),
        ),
        related=("igamma", "lbeta"),
        pitfalls=(
            "The slope is the density of the beta distribution, divided by B(a, b).",
            Seen(
                "At the ends the density is 0 or infinite: for a = ½ the slope at 0 is inf.",
                {"x": [0.0]},
                {"x": ["inf"]},
                args={"a": 0.5, "b": 2.0},
            ),
        ),
    ),
)
