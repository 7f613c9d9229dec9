"""Fourier transforms of real numbers: half of the frequencies, the others being conjugates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Kind, Op, Parameter, Step
from gradcheck.ops.rules import counts, signal
from gradcheck.ops.seen import Seen
from gradcheck.ops.sentences import COMPLEX_LOSS, LAST_IS_TRANSFORMED

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas


def _length(call: Call, default: int) -> int:
    """Of the real numbers."""
    given = call.args["fft_length"]
    if given is None:
        return default
    listed = counts(given, "fft_length")
    if len(listed) != 1 or not listed[0]:
        raise ShapeError(f"fft_length is a list of one number above 0, not {given!r}")
    return listed[0]


def _fitted(x: str, shape: Shape, size: int) -> str:
    """The last axis cut, or filled up with zeros."""
    if size == shape[-1]:
        return x
    if size < shape[-1]:
        return f"part({x}, -1, 0, {size})"
    return f"concatenate([{x}, zeros({[*shape[:-1], size - shape[-1]]})], -1)"


def _cut(x: str, axis: int, size: int, kept: int) -> str:
    """The first of so many slices along an axis."""
    return f"part({x}, {axis}, 0, {kept})" if kept < size else x


def _half_shape(call: Call) -> Shape:
    shape = signal(call)
    return (*shape[:-1], _length(call, shape[-1]) // 2 + 1)


def _half_forward(call: Call, x: str) -> str:
    shape = signal(call)
    return f"rfft({_fitted(x, shape, _length(call, shape[-1]))})"


def _half_formula(call: Call) -> Formulas:
    shape, out = signal(call), _half_shape(call)
    n = _length(call, shape[-1])
    whole = f"real({n} * ifft({_fitted('G', out, n)}))"
    return {"input_tensor": _fitted(whole, (*shape[:-1], n), shape[-1])}


def _half_derivation(call: Call) -> Derivation:
    shape, out = signal(call), _half_shape(call)
    n = _length(call, shape[-1])
    matrix = _cut(_cut(f"fft_matrix({n})", 0, n, shape[-1]), 1, n, out[-1])
    x, dx = (_fitted(name, shape, min(n, shape[-1])) for name in ("input_tensor", "dinput_tensor"))
    return (
        Step(
            f"Of the roots of unity exp(-2πi·j·k/n), n = {n}, the first {out[-1]} frequencies are "
            "kept: the others are the conjugates of these, as x is real.",
            f"F := {matrix}",
        ),
        Step("", f"out == matmul({x}, F)"),
        Step("F is a constant, so", f"dout == matmul({dx}, F)"),
        Step(
            f"{COMPLEX_LOSS} dx is real: only the real part of what stands beside it counts.",
            f"sum(real(conj(G) * dout)) == sum(real(matmul(G, conj(mT(F)))) * {dx})",
        ),
        Step(
            "A product with the conjugate of F is an inverse transform without its 1/n; the "
            "frequencies that were not kept stand in it with zeros.",
            f"sum(real(conj(G) * dout)) == sum({_half_formula(call)['input_tensor']} * "
            "dinput_tensor)",
        ),
    )


def _half_code(call: Call) -> dict[str, str]:
    shape, out = signal(call), _half_shape(call)
    n = _length(call, shape[-1])
    front = [[0, 0]] * (len(shape) - 1)
    padded = f"tf.pad(G, {[*front, [0, n - out[-1]]]})" if n > out[-1] else "G"
    found = f"{n} * tf.math.real(tf.signal.ifft({padded}))"
    if n > shape[-1]:
        found = f"({found})[..., :{shape[-1]}]"
    elif n < shape[-1]:
        found = f"tf.pad({found}, {[*front, [0, shape[-1] - n]]})"
    return {"input_tensor": found}


def _real_length(call: Call) -> int:
    return _length(call, 2 * (signal(call)[-1] - 1))


def _real_shape(call: Call) -> Shape:
    shape, n = signal(call), _real_length(call)
    if not n:
        raise ShapeError(f"input {list(shape)} is the transform of no number: give fft_length")
    return (*shape[:-1], n)


def _real_forward(call: Call, x: str) -> str:
    n = _real_shape(call)[-1]
    return f"irfft({_fitted(x, signal(call), n // 2 + 1)}, {n})"


def _real_formula(call: Call) -> Formulas:
    shape, n = signal(call), _real_shape(call)[-1]
    whole = f"occurrences({n}) * rfft(G) / {n}"
    return {"input_tensor": _fitted(whole, (*shape[:-1], n // 2 + 1), shape[-1])}


def _real_derivation(call: Call) -> Derivation:
    shape, n = signal(call), _real_shape(call)[-1]
    kept = min(n // 2 + 1, shape[-1])
    x, dx = (_fitted(name, shape, kept) for name in ("input_tensor", "dinput_tensor"))
    return (
        Step(
            f"x is the first half of the frequencies of n = {n} real numbers; the second half are "
            "the conjugates of these. So each stands in the sum twice, once as it is and once "
            "conjugated, but for frequency 0 and, where n is even, n/2. Let c count them, and F "
            "hold the roots of unity exp(-2πi·j·k/n) of those that x has.",
            f"c := {_cut(f'occurrences({n})', 0, n // 2 + 1, kept)}",
        ),
        Step("", f"F := {_cut(f'fft_matrix({n})', 1, n, kept)}"),
        Step(
            "A number and its conjugate add up to twice the real part.",
            f"out == real(matmul(c * {x}, conj(mT(F)))) / {n}",
        ),
        Step("c and F are constants, so", f"dout == real(matmul(c * {dx}, conj(mT(F)))) / {n}"),
        Step(
            "G is real. A factor moves over to the other side transposed and conjugated, c with "
            "it: beside dx stands G F times c, over n.",
            f"sum(G * dout) == sum(real(conj(c * matmul(G, F) / {n}) * {dx}))",
        ),
        Step(
            "G F is the transform of the real numbers in G.",
            f"sum(G * dout) == sum(real(conj({_real_formula(call)['input_tensor']}) * "
            "dinput_tensor))",
        ),
    )


def _real_code(call: Call) -> dict[str, str]:
    shape, n = signal(call), _real_shape(call)[-1]
    weights = [1 if 2 * k in (0, n) else 2 for k in range(n // 2 + 1)]
    found = f"tf.constant({weights}, tf.signal.rfft(G).dtype) * tf.signal.rfft(G) / {n}"
    if shape[-1] < len(weights):
        found = f"({found})[..., :{shape[-1]}]"
    elif shape[-1] > len(weights):
        found = f"tf.pad({found}, {[*[[0, 0]] * (len(shape) - 1), [0, shape[-1] - len(weights)]]})"
    return {"input_tensor": found}


OPS = (
    Op(
        name="rfft",
        tf="tf.signal.rfft",
        family="signal",
        summary="y = the first half of the Fourier transform of real x",
        inputs=(Parameter("input_tensor"),),
        formula=_half_formula,
        forward=lambda call: _half_forward(call, "input_tensor"),
        tangent=lambda call: _half_forward(call, "dinput_tensor"),
        derivation=_half_derivation,
        code=_half_code,
        shape=_half_shape,
        args={"fft_length": None},
        complex_out=True,
        axes={"input_tensor": "n", "out": "k"},
        batches=LAST_IS_TRANSFORMED,
        example=Example({"input_tensor": (4,)}),
        related=("irfft", "fft", "frame"),
        pitfalls=(
            "It is not n·irfft(G): that counts most frequencies twice, for the conjugates that "
            "were never kept.",
            Seen(
                "The imaginary part of frequency 0 is always 0: what G says of it is lost.",
                {"input_tensor": [1.0, 2.0, 0.5]},
                {"input_tensor": [0.0, 0.0, 0.0]},
                expr="tf.math.imag(tf.signal.rfft(input_tensor))[0]",
            ),
        ),
    ),
    Op(
        name="irfft",
        tf="tf.signal.irfft",
        family="signal",
        summary="y = the real numbers of which x is the first half of the transform",
        inputs=(Parameter("input_tensor", kind=Kind.COMPLEX),),
        formula=_real_formula,
        forward=lambda call: _real_forward(call, "input_tensor"),
        tangent=lambda call: _real_forward(call, "dinput_tensor"),
        derivation=_real_derivation,
        code=_real_code,
        shape=_real_shape,
        args={"fft_length": None},
        axes={"input_tensor": "k", "out": "n"},
        batches=LAST_IS_TRANSFORMED,
        example=Example({"input_tensor": (3,)}),
        related=("rfft", "ifft", "overlap_and_add"),
        pitfalls=(
            "It is not rfft(G)/n: frequencies that stand for their conjugates too count twice.",
            "Without fft_length an even number of values is made, 2·(k - 1) of k frequencies: the "
            "transform of an odd number needs it.",
            Seen(
                "The imaginary parts of frequency 0, and of n/2, are not looked at: their gradient "
                "is 0.",
                {"input_tensor": [1.0 + 5.0j, 2.0 - 1.0j, 0.5 + 3.0j]},
                {"input_tensor": [0.25 + 0.0j, 0.5 + 0.0j, 0.25 + 0.0j]},
                expr="tf.signal.irfft(input_tensor)[0]",
            ),
        ),
    ),
)
