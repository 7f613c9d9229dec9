"""Fourier transforms: products with a matrix of roots of unity, so that the adjoint says it all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.ops.declaration import Example, Kind, Op, Parameter, Step
from gradcheck.ops.rules import signal
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import COMPLEX_LOSS, LAST_IS_TRANSFORMED

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Call, Derivation, Formulas

_LAST_TWO = "Axes before the last two are batch axes."
_SYMMETRIC = "F is its own transpose"


def _rows(x: str, matrix: str) -> str:
    return f"matmul({x}, {matrix})"


def _line(name: str, summary: str, mistakes: tuple[str, ...], *, back: bool) -> Op:
    """The transform along one axis, or the way back."""

    def formula(call: Call) -> Formulas:
        n = signal(call)[-1]
        return {"input": f"fft(G) / {n}" if back else f"{n} * ifft(G)"}

    def derivation(call: Call) -> Derivation:
        n = signal(call)[-1]
        matrix = f"conj(F) / {n}" if back else "F"
        other = f"F / {n}" if back else "conj(F)"
        return (
            Step(
                f"Let F hold the roots of unity exp(-2πi·j·k/n), for n = {n}: each row of x is "
                f"multiplied by {'its conjugate, over n' if back else 'it'}.",
                f"F := fft_matrix({n})",
            ),
            Step("", f"out == {_rows('input', matrix)}"),
            Step("F is a constant, so", f"dout == {_rows('dinput', matrix)}"),
            Step(
                f"{COMPLEX_LOSS} {_SYMMETRIC}. Beside dx stands",
                f"sum(real(conj(G) * dout)) == sum(real(conj({_rows('G', other)}) * dinput))",
            ),
            Step(
                "which is the transform again, over n."
                if back
                else "which is the inverse transform without its 1/n.",
                f"{_rows('G', other)} == {formula(call)['input']}",
            ),
        )

    return Op(
        name=name,
        tf=f"tf.signal.{name}",
        family="signal",
        summary=summary,
        inputs=(Parameter("input", kind=Kind.COMPLEX),),
        formula=formula,
        forward=f"{name}(input)",
        tangent=f"{name}(dinput)",
        derivation=derivation,
        shape=signal,
        complex_out=True,
        axes={"input": "n", "out": "k"},
        batches=LAST_IS_TRANSFORMED,
        example=Example({"input": (4,)}),
        related=("ifft" if name == "fft" else "fft", "rfft", "fft2d", "dct"),
        pitfalls=mistakes,
    )


def _plane(name: str, summary: str, mistakes: tuple[str, ...], *, back: bool) -> Op:
    """The transform along two axes, or the way back."""

    def formula(call: Call) -> Formulas:
        size = math.prod(signal(call, 2)[-2:])
        return {"input": f"fft2d(G) / {size}" if back else f"{size} * ifft2d(G)"}

    def derivation(call: Call) -> Derivation:
        rows, columns = signal(call, 2)[-2:]
        first, second = ("conj(F)", "conj(H)") if back else ("F", "H")
        third, fourth = ("F", "H") if back else ("conj(F)", "conj(H)")
        over = f" / {rows * columns}" if back else ""
        turned = f"matmul(matmul({third}, G), {fourth}){over}"
        return (
            Step(
                f"Let F hold the roots of unity exp(-2πi·j·k/m) of the m = {rows} rows, and H "
                f"those of the n = {columns} columns.",
                f"F := fft_matrix({rows})",
            ),
            Step("", f"H := fft_matrix({columns})"),
            Step(
                "Both axes are transformed, one after the other.",
                f"out == matmul(matmul({first}, input), {second}){over}",
            ),
            Step(
                "Both are constants, so",
                f"dout == matmul(matmul({first}, dinput), {second}){over}",
            ),
            Step(
                f"{COMPLEX_LOSS} F and H are their own transposes. Beside dX stands",
                f"sum(real(conj(G) * dout)) == sum(real(conj({turned}) * dinput))",
            ),
            Step(
                "which is the transform again, over m·n."
                if back
                else "which is the inverse transform without its 1/(m·n).",
                f"{turned} == {formula(call)['input']}",
            ),
        )

    return Op(
        name=name,
        tf=f"tf.signal.{name}",
        family="signal",
        summary=summary,
        inputs=(Parameter("input", kind=Kind.COMPLEX),),
        formula=formula,
        forward=f"{name}(input)",
        tangent=f"{name}(dinput)",
        derivation=derivation,
        shape=lambda call: signal(call, 2),
        complex_out=True,
        axes={"input": "mn", "out": "jk"},
        symbols={"input": "X", "out": "Y"},
        batches=_LAST_TWO,
        example=Example({"input": (2, 3)}),
        related=("ifft2d" if name == "fft2d" else "fft2d", "fft", "rfft"),
        pitfalls=mistakes,
    )


OPS = (
    _line(
        "fft",
        "y = the Fourier transform of x, Σⱼ xⱼ·exp(-2πi·j·k/n)",
        (
            "The gradient is no inverse transform but n times one: the transform is not unitary.",
            Seen(
                "TensorFlow's gradient of a complex x is ∂L/∂Re x + i·∂L/∂Im x, so the conjugate "
                "of F appears, not F.",
                {"input": [1.0 + 0.0j, 2.0j, 1.0 + 1.0j]},
                {"input": [1.0 + 0.0j, -0.5 + 0.8660254037844386j, -0.5 - 0.8660254037844386j]},
                expr="tf.signal.fft(input)[1]",
            ),
            "Every number of x goes into every frequency: no element of the Jacobian is 0.",
        ),
        back=False,
    ),
    _line(
        "ifft",
        "y = the inverse Fourier transform of x, Σₖ xₖ·exp(2πi·j·k/n)/n",
        (
            "The 1/n of the way forward stands in the gradient too: it is fft(G)/n.",
            Seen(
                "Gradients that come through ifft shrink with the length, while those through fft "
                "grow with it.",
                {"input": [1.0 + 0.0j, 2.0j, 1.0 + 1.0j, 0.0j]},
                {"input": [1.0 + 0.0j, 0.0j, 0.0j, 0.0j]},
            ),
        ),
        back=True,
    ),
    _plane(
        "fft2d",
        "Y = the Fourier transform of X along its last two axes",
        (
            "The gradient is m·n times an inverse transform, for images of m rows and n columns.",
            "Both axes are transformed: a transform of each row alone is fft.",
        ),
        back=False,
    ),
    _plane(
        "ifft2d",
        "Y = the inverse Fourier transform of X along its last two axes",
        ("The 1/(m·n) of the way forward stands in the gradient too: it is fft2d(G)/(m·n).",),
        back=True,
    ),
)
