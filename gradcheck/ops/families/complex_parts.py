"""The parts of complex numbers: each element by itself, and no derivative in the complex sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.rules import broadcast_call
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import BROADCAST_IS_SUMMED

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Derivation

_MEANS = (
    "The gradient of a complex x is ∂L/∂Re x + i·∂L/∂Im x, so that L changes by the real part of "
    "its conjugate times dx."
)


def _part(
    name: str,
    summary: str,
    gradient: str,
    moved: str,
    derivation: Derivation,
    pitfalls: tuple[str, ...],
    *,
    related: tuple[str, ...],
    complex_out: bool = False,
    domain: Domain = ANYWHERE,
    undefined: tuple[str, ...] = (),
    forward: str = "",
    code: str = "",
) -> Op:
    parameter = "x" if name == "conj" else "input"
    return Op(
        name=name,
        tf=f"tf.math.{name}",
        family="elementwise",
        summary=summary,
        inputs=(Parameter(parameter, domain, kind=Kind.COMPLEX),),
        formula={parameter: gradient},
        forward=forward or f"{name}({parameter})",
        tangent=moved,
        code={parameter: code} if code else {},
        derivation=derivation,
        shape=broadcast_call,
        complex_out=complex_out,
        undefined=undefined,
        example=Example({parameter: (3,)}),
        related=related,
        pitfalls=pitfalls,
    )


OPS = (
    _part(
        "real",
        "y = the real part of x",
        "G",
        "real(dinput)",
        (
            Step("The real part of a sum is the sum of the real parts.", "dout == real(dinput)"),
            Step(
                f"{_MEANS} G is real: it points along the real part.",
                "sum(G * dout) == sum(real(conj(G) * dinput))",
            ),
        ),
        ("The imaginary part of the gradient is 0: through y nothing moves Im x.",),
        related=("imag", "complex", "abs"),
        code="tf.complex(G, tf.zeros_like(G))",
    ),
    _part(
        "imag",
        "y = the imaginary part of x",
        "1j * G",
        "imag(dinput)",
        (
            Step("The imaginary part of a sum is the sum of theirs.", "dout == imag(dinput)"),
            Step(
                f"{_MEANS} The real part of -i·G·dx is G·Im dx: what is conjugated is i·G.",
                "sum(G * dout) == sum(real(conj(1j * G) * dinput))",
            ),
        ),
        (
            Seen(
                "The gradient is i·G, not -i·G and not G.",
                {"input": [1.0 + 2.0j]},
                {"input": [1.0j]},
            ),
        ),
        related=("real", "complex", "angle"),
        code="tf.complex(tf.zeros_like(G), G)",
    ),
    _part(
        "conj",
        "y = x conjugated",
        "conj(G)",
        "conj(dx)",
        (
            Step("The conjugate of a sum is the sum of the conjugates.", "dout == conj(dx)"),
            Step(
                f"{_MEANS} A product and its conjugate have the same real part, so "
                "conj(G)·conj(dx) may as well be G·dx.",
                "sum(real(conj(G) * dout)) == sum(real(conj(conj(G)) * dx))",
            ),
        ),
        (
            "It has no derivative in the complex sense: dy is no number times dx. The gradient is "
            "there all the same, as that of a real L.",
        ),
        related=("real", "imag", "adjoint"),
        complex_out=True,
    ),
    _part(
        "angle",
        "y = the angle of x in the complex plane",
        "1j * G * input / square(abs(input))",
        "imag(dinput / input)",
        (
            Step(
                "log x is log |x| + i·y, so y is its imaginary part, and log x changes by dx/x.",
                "dout == imag(dinput / input)",
            ),
            Step(
                f"{_MEANS} The imaginary part of dx/x is the real part of dx/(i·x), and 1/(i·x) is "
                "the conjugate of i·x/|x|².",
                "sum(G * dout) == sum(real(conj(1j * G * input / square(abs(input))) * dinput))",
            ),
        ),
        (
            "The gradient is perpendicular to x, and it is long where x is small: along x the "
            "angle does not change.",
            "At the negative real axis the angle jumps by 2π; the gradient does not.",
        ),
        related=("abs", "imag", "atan2"),
        domain=Domain(sample=Sample("nonzero")),
        undefined=("At 0 there is no angle; along the negative real axis it jumps.",),
        forward="arctan2(imag(input), real(input))",
        code="tf.complex(-G * tf.math.imag(input), G * tf.math.real(input)) / "
        "tf.cast(tf.square(tf.abs(input)), input.dtype)",
    ),
    Op(
        name="complex",
        tf="tf.complex",
        family="elementwise",
        summary="z = the complex numbers with these real and imaginary parts",
        inputs=(Parameter("real"), Parameter("imag")),
        formula={"real": "real(G)", "imag": "imag(G)"},
        forward="real + 1j * imag",
        tangent="dreal + 1j * dimag",
        derivation=(
            Step("Both parts go into z as they are.", "dout == dreal + 1j * dimag"),
            Step(
                "L is real: along a change it changes by the real part of conj(G) times dz. With G "
                "in its two parts that is a sum of two products of real numbers.",
                "sum(real(conj(G) * dout)) == sum(real(G) * dreal) + sum(imag(G) * dimag)",
            ),
        ),
        shape=broadcast_call,
        complex_out=True,
        example=Example({"real": (3,), "imag": (3,)}),
        related=("real", "imag"),
        pitfalls=(
            "Each part gets its own part of G, nothing of the other.",
            BROADCAST_IS_SUMMED,
        ),
    ),
)
