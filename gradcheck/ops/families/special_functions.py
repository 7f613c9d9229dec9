"""Special functions of each element: error functions, gamma functions, quantiles, integrals."""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter, Step
from gradcheck.ops.domains import POSITIVE, UNIT
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.rules import only
from gradcheck.ops.seen import Seen

_ZERO_TO_ONE = Domain(low=0.0, high=1.0, sample=Sample("uniform", (0.1, 0.9)))
_ZERO_TO_TWO = Domain(low=0.0, high=2.0, sample=Sample("uniform", (0.2, 1.8)))

_ERROR_FUNCTIONS = (
    elementwise(
        "erf",
        "tf.math.erf",
        "y = erf x",
        forward="erf(x)",
        x="2 / sqrt(pi) * G * exp(-square(x))",
        slope=(
            Step(
                "erf x is 2/√π times the integral of exp(−t²) from 0 to x, and the derivative "
                "of an integral by its end is the integrand there.",
                "dout == 2 / sqrt(pi) * exp(-square(x)) * dx",
            ),
        ),
        related=("erfc", "erfinv", "gelu"),
        pitfalls=("The factor 2/√π belongs to erf; without it one has the plain Gaussian.",),
    ),
    elementwise(
        "erfc",
        "tf.math.erfc",
        "y = 1 - erf x",
        forward="erfc(x)",
        x="-2 / sqrt(pi) * G * exp(-square(x))",
        slope=(Step("erfc x is 1 − erf x.", "dout == -2 / sqrt(pi) * exp(-square(x)) * dx"),),
        related=("erf", "erfcinv"),
        pitfalls=("erfc falls: the sign is the opposite of erf's.",),
    ),
    elementwise(
        "erfinv",
        "tf.math.erfinv",
        "y = erf⁻¹(x)",
        forward="erfinv(x)",
        domains={"x": UNIT},
        x="sqrt(pi) / 2 * G * exp(square(out))",
        slope=(
            Step(
                "erf y = x; differentiate both sides.",
                "2 / sqrt(pi) * exp(-square(out)) * dout == dx",
            ),
        ),
        related=("erf", "erfcinv", "ndtri"),
        pitfalls=(
            "The square in the exponent is that of the output, and its sign is plus.",
            Seen("At ±1 the derivative is infinite.", {"x": [-1.0, 1.0]}, {"x": ["inf", "inf"]}),
        ),
    ),
    elementwise(
        "erfcinv",
        "tf.math.erfcinv",
        "y = erfc⁻¹(x)",
        domains={"x": _ZERO_TO_TWO},
        family="special",
        forward="erfcinv(x)",
        x="-sqrt(pi) / 2 * G * exp(square(out))",
        related=("erfinv", "erfc"),
        slope=(
            Step(
                "erfc y = x; differentiate both sides.",
                "-2 / sqrt(pi) * exp(-square(out)) * dout == dx",
            ),
        ),
        pitfalls=("erfc falls, so the sign is negative, unlike that of erfinv.",),
    ),
)

_GAMMA = (
    elementwise(
        "lgamma",
        "tf.math.lgamma",
        "y = log |Γ(x)|",
        domains={"x": POSITIVE},
        family="special",
        forward="lgamma(x)",
        x="G * digamma(x)",
        undefined=("At 0, -1, -2, … it has poles.",),
        related=("digamma", "lbeta"),
        slope=(Step("ψ is the name of the slope of log Γ.", "dout == digamma(x) * dx"),),
        pitfalls=(
            "The derivative is ψ(x) = Γ′(x)/Γ(x), not 1/Γ(x).",
            "At 0, -1, -2, … both the function and its derivative have poles.",
        ),
    ),
    elementwise(
        "digamma",
        "tf.math.digamma",
        "y = ψ(x), the derivative of log Γ",
        domains={"x": POSITIVE},
        family="special",
        forward="digamma(x)",
        x="G * polygamma(1, x)",
        undefined=("At 0, -1, -2, … it has poles.",),
        related=("lgamma",),
        slope=(
            Step(
                "The trigamma function is the name of the slope of ψ.",
                "dout == polygamma(1, x) * dx",
            ),
        ),
        pitfalls=("The derivative is the trigamma function, which is positive everywhere.",),
    ),
    Op(
        name="lbeta",
        tf="tf.math.lbeta",
        family="special",
        summary="y = log B(x), over the last axis",
        inputs=(Parameter("x", POSITIVE),),
        forward="sum(lgamma(x), -1) - lgamma(sum(x, -1))",
        formula={"x": "expand_dims(G, -1) * (digamma(x) - digamma(sum(x, -1, True)))"},
        tangent="sum((digamma(x) - digamma(sum(x, -1, True))) * dx, -1)",
        shape=lambda call: only(call)[:-1],
        example=Example({"x": (2, 3)}),
        related=("lgamma", "digamma"),
        batches="Every axis but the last is a batch axis.",
        pitfalls=("Every element also moves the sum, which brings the second ψ.",),
    ),
)

_QUANTILES_AND_INTEGRALS = (
    elementwise(
        "ndtri",
        "tf.math.ndtri",
        "y = the normal quantile of x",
        domains={"x": _ZERO_TO_ONE},
        family="special",
        forward="ndtri(x)",
        x="sqrt(2 * pi) * G * exp(square(out) / 2)",
        related=("erfinv",),
        slope=(
            Step(
                "The normal distribution at y is x; its slope is the density.",
                "exp(-square(out) / 2) / sqrt(2 * pi) * dout == dx",
            ),
        ),
        pitfalls=("One over the density at the output, not at the input.",),
    ),
    elementwise(
        "dawsn",
        "tf.math.special.dawsn",
        "y = exp(-x²) ∫ exp(t²) dt from 0 to x",
        family="special",
        forward="dawsn(x)",
        x="G * (1 - 2 * x * out)",
        related=("erf",),
        slope=(
            Step(
                "By the product rule: exp(−x²) has the slope −2·x·exp(−x²), and the integral "
                "exp(x²), which exp(−x²) cancels.",
                "dout == (1 - 2 * x * out) * dx",
            ),
        ),
        pitfalls=("A product: the factor exp(-x²) is differentiated too.",),
    ),
    elementwise(
        "expint",
        "tf.math.special.expint",
        "y = Ei(x)",
        domains={"x": POSITIVE},
        family="special",
        forward="expint(x)",
        x="G * exp(x) / x",
        slope=(
            Step(
                "Ei x is an integral of eᵗ/t up to x, and the derivative of an integral by its "
                "end is the integrand there.",
                "dout == exp(x) / x * dx",
            ),
        ),
        related=("exp", "log"),
        pitfalls=("At 0 there is a pole.",),
    ),
    elementwise(
        "spence",
        "tf.math.special.spence",
        "y = Li₂(1 - x)",
        domains={"x": Domain(low=0.0, sample=Sample("positive"), kinks=(1.0,))},
        family="special",
        forward="spence(x)",
        x="G * log(x) / (1 - x)",
        slope=(
            Step(
                "Li₂(1 − x) is the integral of log t/(1 − t) from 1 to x, and the derivative of "
                "an integral by its end is the integrand there.",
                "dout == log(x) / (1 - x) * dx",
            ),
        ),
        undefined=("Not defined below 0; at 1 the formula is 0/0, though the slope exists: −1.",),
        related=("log",),
        pitfalls=(
            Seen(
                "At 1 the formula is 0/0, though the derivative is -1 there; TensorFlow gives it.",
                {"x": [1.0]},
                {"x": [-1.0]},
            ),
        ),
    ),
)

OPS = (*_ERROR_FUNCTIONS, *_GAMMA, *_QUANTILES_AND_INTEGRALS)
