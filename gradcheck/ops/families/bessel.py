"""Bessel functions of each element."""

from __future__ import annotations

from gradcheck.ops.declaration import Step
from gradcheck.ops.domains import NONZERO
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.seen import Seen

OPS = (
    elementwise(
        "bessel_i0",
        "tf.math.bessel_i0",
        "y = I₀(x)",
        "tf.math.special.bessel_i0",
        family="special",
        forward="bessel_i0(x)",
        x="G * bessel_i1(x)",
        related=("bessel_i1", "bessel_i0e"),
        slope=(Step("From the power series of I₀, term by term:", "dout == bessel_i1(x) * dx"),),
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
        slope=(
            Step(
                "From the power series, term by term: x·I₁ has the slope x·I₀.",
                "dx * out + x * dout == x * bessel_i0(x) * dx",
            ),
        ),
        undefined=("At 0 the formula is 0/0, though the slope exists: ½.",),
        pitfalls=(
            Seen(
                "At 0 the quotient is 0/0 and its limit ½; TensorFlow gives 1.",
                {"x": [0.0]},
                {"x": [1.0]},
            ),
        ),
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
        slope=(
            Step(
                "By the product rule: e^(−|x|) has the slope −sign(x)·e^(−|x|), and I₀ the "
                "slope I₁.",
                "dout == (bessel_i1e(x) - sign(x) * out) * dx",
            ),
        ),
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
        slope=(
            Step(
                "By the product rule: e^(−|x|) has the slope −sign(x)·e^(−|x|), and I₁ the "
                "slope I₀ − I₁/x.",
                "dout == (bessel_i0e(x) - out * (sign(x) + 1 / x)) * dx",
            ),
        ),
        undefined=(
            Seen(
                "At 0 the formula is 0/0, though the slope exists, and TensorFlow gives it: ½.",
                {"x": [0.0]},
                {"x": [0.5]},
            ),
        ),
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
        slope=(Step("From the power series of J₀, term by term:", "dout == -bessel_j1(x) * dx"),),
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
        slope=(
            Step(
                "From the power series, term by term: x·J₁ has the slope x·J₀.",
                "dx * out + x * dout == x * bessel_j0(x) * dx",
            ),
        ),
        undefined=("At 0 the formula is 0/0, though the slope exists: ½.",),
        pitfalls=(
            Seen(
                "At 0 the quotient is 0/0; TensorFlow gives its limit, ½.",
                {"x": [0.0]},
                {"x": [0.5]},
            ),
        ),
    ),
)
