"""Special functions of each element: gamma, Bessel, quantiles, integrals; and safe arithmetic."""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Op, Parameter
from gradcheck.ops.elementwise import BROADCASTING, NONZERO, elementwise
from gradcheck.ops.functions import POSITIVE, UNIT
from gradcheck.ops.rules import only

PROBABILITY = Domain(low=0.0, high=1.0, sample=Sample("uniform", (0.1, 0.9)))
TWICE_PROBABILITY = Domain(low=0.0, high=2.0, sample=Sample("uniform", (0.2, 1.8)))

_GAMMA = (
    elementwise(
        "lgamma",
        "tf.math.lgamma",
        "y = log |Γ(x)|",
        domains={"x": POSITIVE},
        family="special",
        forward="lgamma(x)",
        x="G * digamma(x)",
        related=("digamma", "lbeta"),
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
        related=("lgamma",),
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
        pitfalls=("Every element also moves the sum, which brings the second ψ.",),
    ),
)

_ERRORS = (
    elementwise(
        "erfcinv",
        "tf.math.erfcinv",
        "y = erfc⁻¹(x)",
        domains={"x": TWICE_PROBABILITY},
        family="special",
        forward="erfcinv(x)",
        x="-sqrt(pi) / 2 * G * exp(square(out))",
        related=("erfinv", "erfc"),
        pitfalls=("erfc falls, so the sign is negative, unlike that of erfinv.",),
    ),
    elementwise(
        "ndtri",
        "tf.math.ndtri",
        "y = the normal quantile of x",
        domains={"x": PROBABILITY},
        family="special",
        forward="ndtri(x)",
        x="sqrt(2 * pi) * G * exp(square(out) / 2)",
        related=("erfinv",),
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
        pitfalls=("At 1 the formula is 0/0, though the derivative is -1 there.",),
    ),
)

_BESSEL = (
    elementwise(
        "bessel_i0",
        "tf.math.bessel_i0",
        "y = I₀(x)",
        "tf.math.special.bessel_i0",
        family="special",
        forward="bessel_i0(x)",
        x="G * bessel_i1(x)",
        related=("bessel_i1", "bessel_i0e"),
        pitfalls=("I₁ without a minus sign: that one belongs to J₀.",),
    ),
    elementwise(
        "bessel_i1",
        "tf.math.bessel_i1",
        "y = I₁(x)",
        "tf.math.special.bessel_i1",
        domains={"x": NONZERO},
        family="special",
        forward="bessel_i1(x)",
        x="G * (bessel_i0(x) - out / x)",
        related=("bessel_i0", "bessel_i1e"),
        pitfalls=("At 0 the quotient is 0/0; its limit is 1/2.",),
    ),
    elementwise(
        "bessel_i0e",
        "tf.math.bessel_i0e",
        "y = e^(-|x|)·I₀(x)",
        "tf.math.special.bessel_i0e",
        domains={"x": NONZERO},
        family="special",
        forward="bessel_i0e(x)",
        x="G * (bessel_i1e(x) - sign(x) * out)",
        related=("bessel_i0", "bessel_i1e"),
        pitfalls=("The factor e^(-|x|) is differentiated too, which brings the sign.",),
    ),
    elementwise(
        "bessel_i1e",
        "tf.math.bessel_i1e",
        "y = e^(-|x|)·I₁(x)",
        "tf.math.special.bessel_i1e",
        domains={"x": NONZERO},
        family="special",
        forward="bessel_i1e(x)",
        x="G * (bessel_i0e(x) - out * (sign(x) + 1 / x))",
        related=("bessel_i1", "bessel_i0e"),
        pitfalls=("The factor e^(-|x|) is differentiated too, which brings the sign.",),
    ),
    elementwise(
        "bessel_j0",
        "tf.math.special.bessel_j0",
        "y = J₀(x)",
        family="special",
        forward="bessel_j0(x)",
        x="-G * bessel_j1(x)",
        related=("bessel_j1",),
        pitfalls=("The minus sign, as of the cosine.",),
    ),
    elementwise(
        "bessel_j1",
        "tf.math.special.bessel_j1",
        "y = J₁(x)",
        domains={"x": NONZERO},
        family="special",
        forward="bessel_j1(x)",
        x="G * (bessel_j0(x) - out / x)",
        related=("bessel_j0",),
        pitfalls=("At 0 the quotient is 0/0; its limit is 1/2.",),
    ),
)

_SAFE = (
    elementwise(
        "xlog1py",
        "tf.math.xlog1py",
        "z = x·log(1 + y), and 0 where x = 0",
        domains={"x": NONZERO, "y": UNIT},
        forward="x * log1p(y)",
        x="G * conj(log1p(y))",
        y="G * conj(x / (1 + y))",
        related=("xlogy", "log1p"),
        pitfalls=("Where x = 0 TensorFlow gives x no gradient, though log(1 + y) is its slope.",),
    ),
    elementwise(
        "xdivy",
        "tf.math.xdivy",
        "z = x/y, and 0 where x = 0",
        domains={"x": NONZERO, "y": NONZERO},
        forward="x / y",
        x="G / conj(y)",
        y="-G * conj(x / square(y))",
        related=("divide", "divide_no_nan"),
        pitfalls=(
            "Where x = 0 TensorFlow gives x no gradient, though 1/y is its slope.",
            BROADCASTING,
        ),
    ),
    elementwise(
        "divide_no_nan",
        "tf.math.divide_no_nan",
        "z = x/y, and 0 where y = 0",
        domains={"y": NONZERO},
        forward="where(equal(y, 0), 0, x / y)",
        x="where(equal(y, 0), 0, G / conj(y))",
        y="where(equal(y, 0), 0, -G * conj(x / square(y)))",
        related=("divide", "xdivy"),
        pitfalls=(
            "Where y = 0 both gradients are 0, so nothing pulls y away from there.",
            BROADCASTING,
        ),
    ),
    elementwise(
        "clip_by_value",
        "tf.clip_by_value",
        "y = x, held between two bounds",
        required=("clip_value_min", "clip_value_max"),
        example=Example({"t": (3,)}, {"clip_value_min": -0.5, "clip_value_max": 0.5}),
        domains={"t": Domain(sample=Sample("normal"), kinks=(-0.5, 0.5))},
        forward="minimum(maximum(t, clip_value_min), clip_value_max)",
        t="where(logical_or(t < clip_value_min, t > clip_value_max), 0, G)",
        related=("maximum", "minimum", "relu6"),
        pitfalls=("Outside the bounds the gradient is 0: a clipped value does not learn.",),
    ),
)

OPS = (*_GAMMA, *_ERRORS, *_BESSEL, *_SAFE)
