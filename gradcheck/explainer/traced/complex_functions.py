"""Functions of a complex number, as their real and imaginary parts say them: z = a + ib.

Powers are taken in polar form, r and φ, of which roots and logarithms have one branch as
TensorFlow's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer.traced.pair_texts import difference, negative, part, product, total
from gradcheck.explainer.traced.read_texts import must

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.explainer.traced.pair_texts import Half, Pair, Pairs
    from gradcheck.model import Array

__all__ = ["COMPLEX_FUNCTIONS", "angle", "modulus", "square_of", "times"]

ONE = "1.0"
LARGEST_PRODUCT = 4
"""Whole powers up to this are products, which hold at 0 too."""


def times(first: Pair, second: Pair, by: Callable[[str, str], str] | None = None) -> Pair:
    """The product, of numbers or of whatever else multiplies so."""
    (a, b), (c, d) = first, second

    def of(x: Half, y: Half) -> Half:
        return _by(x, y) if by is None else product(x, y, by)

    return difference(of(a, c), of(b, d)), total(of(a, d), of(b, c))


def square_of(pair: Pair) -> str:
    """|z|²; of a number that is written out it is one too."""
    try:
        return repr(sum(float(half) ** 2 for half in pair if half is not None))
    except ValueError:
        found = total(*(part(half, "tf.square({})") for half in pair))
    must(found is not None)
    return str(found)


def modulus(pair: Pair) -> str:
    """|z|."""
    a, b = pair
    must(a is not None or b is not None)
    return f"tf.abs({a or b})" if a is None or b is None else f"tf.sqrt({square_of(pair)})"


def _by(first: Half, second: Half) -> Half:
    if first is None or second is None:
        return None
    if ONE in (first, second):
        return second if first == ONE else first
    return f"({first} * {second})"


def _even(name: str, half: Half) -> Half:
    """A function that is 1 at 0."""
    return ONE if half is None else f"{name}({half})"


def _odd(name: str, half: Half) -> Half:
    """A function that is 0 at 0."""
    return part(half, f"{name}({{}})")


def _sin(op: Pairs) -> Pair:
    a, b = op.pair(0)
    real = _by(_odd("tf.sin", a), _even("tf.cosh", b))
    return real, _by(_even("tf.cos", a), _odd("tf.sinh", b))


def _cos(op: Pairs) -> Pair:
    a, b = op.pair(0)
    real = _by(_even("tf.cos", a), _even("tf.cosh", b))
    return real, negative(_by(_odd("tf.sin", a), _odd("tf.sinh", b)))


def _sinh(op: Pairs) -> Pair:
    a, b = op.pair(0)
    real = _by(_odd("tf.sinh", a), _even("tf.cos", b))
    return real, _by(_even("tf.cosh", a), _odd("tf.sin", b))


def _cosh(op: Pairs) -> Pair:
    a, b = op.pair(0)
    real = _by(_even("tf.cosh", a), _even("tf.cos", b))
    return real, _by(_odd("tf.sinh", a), _odd("tf.sin", b))


def _tanh_of(a: Half, b: Half) -> Pair:
    """With t = tanh a and u = tan b: (t·(1 + u²) + i·u·(1 − t²)) / (1 + t²·u²)."""
    t, u = _odd("tf.tanh", a), _odd("tf.tan", b)
    if t is None or u is None:
        return t, u
    below = f"({ONE} + tf.square({t}) * tf.square({u}))"
    real = f"({t} * ({ONE} + tf.square({u})) / {below})"
    return real, f"({u} * ({ONE} - tf.square({t})) / {below})"


def _tanh(op: Pairs) -> Pair:
    return _tanh_of(*op.pair(0))


def _tan(op: Pairs) -> Pair:
    a, b = op.pair(0)
    imaginary, real = _tanh_of(b, a)  # i·tan z = tanh iz
    return real, imaginary


def _sigmoid(op: Pairs) -> Pair:
    """(1 + tanh(z/2)) / 2."""
    real, imaginary = _tanh_of(*(part(half, "({} / 2.0)") for half in op.pair(0)))
    ones = f"tf.ones({list(op.out_shape(0))}, G.dtype)"
    above = ones if real is None else f"({ONE} + {real})"
    return f"({above} / 2.0)", part(imaginary, "({} / 2.0)")


def angle(op: Pairs, pair: Pair, value: Array) -> Half:
    """φ; of real numbers on the side of the cut where the sign of their zeros has them.

    Args:
        op: whose number it is.
        pair: its parts.
        value: itself, of which a cast leaves other zeros than a minus.
    """
    a, b = pair
    zeros = f"tf.zeros({list(op.shape(0))}, G.dtype)"
    if b is not None:
        return f"tf.atan2({b}, {a or zeros})"
    below = np.signbit(value.imag)
    must(bool(below.all()) or not below.any())
    return f"{'-' * bool(below.any())}tf.atan2({zeros}, {a or zeros})"


def _log_of(op: Pairs, pair: Pair, value: Array) -> Pair:
    if pair[0] is None or pair[1] is None:
        return f"tf.math.log({modulus(pair)})", angle(op, pair, value)
    return f"(0.5 * tf.math.log({square_of(pair)}))", angle(op, pair, value)


def _log(op: Pairs) -> Pair:
    return _log_of(op, op.pair(0), op.value(0))


def _log1p(op: Pairs) -> Pair:
    a, b = op.pair(0)
    ones = f"tf.ones({list(op.shape(0))}, G.dtype)"
    return _log_of(op, (ones if a is None else f"({ONE} + {a})", b), 1 + op.value(0))


def _exp_of(pair: Pair) -> Pair:
    a, b = pair
    if b is None:
        return part(a, "tf.exp({})"), None
    turn: Pair = (f"tf.cos({b})", f"tf.sin({b})")
    return turn if a is None else times((f"tf.exp({a})", None), turn)


def _expm1(op: Pairs) -> Pair:
    a, b = op.pair(0)
    if b is None:
        return part(a, "tf.math.expm1({})"), None
    real, imaginary = _exp_of((a, b))
    return f"({real} - {ONE})", imaginary


def _to_the(power: float) -> Callable[[Pairs], Pair]:
    """A power that is a number: rᵖ·(cos pφ + i·sin pφ)."""

    def rule(op: Pairs) -> Pair:
        pair = op.pair(0)
        size, turned = f"({modulus(pair)} ** {power!r})", angle(op, pair, op.value(0))
        turned = f"({power!r} * {turned})"
        return f"({size} * tf.cos({turned}))", f"({size} * tf.sin({turned}))"

    return rule


def _power(op: Pairs) -> Pair:
    if not op.moves(1):
        value = np.unique(np.asarray(op.plain(1)))
        must(value.size == 1 and op.shape(0) == op.out_shape(0))
        if value[0].imag == 0:
            power = float(value[0].real)
            if power not in range(1, LARGEST_PRODUCT + 1):
                return _to_the(power)(op)
            found = op.pair(0)
            for _ in range(int(power) - 1):
                found = times(found, op.pair(0))
            return found
    must(op.shape(0) == op.shape(1))
    return _exp_of(times(op.pair(1), _log(op)))


def _sign(op: Pairs) -> Pair:
    a, b = op.pair(0)
    if a is None or b is None:
        return _odd("tf.sign", a), _odd("tf.sign", b)
    size = modulus((a, b))
    return f"({a} / {size})", f"({b} / {size})"


def _apart(op: Pairs) -> Pair:
    (a, b), (c, d) = op.pair(0), op.pair(1)
    return square_of((difference(a, c), difference(b, d))), None


COMPLEX_FUNCTIONS: dict[str, Callable[[Pairs], Pair]] = {
    "Cos": _cos,
    "Cosh": _cosh,
    "Exp": lambda op: _exp_of(op.pair(0)),
    "Expm1": _expm1,
    "Log": _log,
    "Log1p": _log1p,
    "Pow": _power,
    "Rsqrt": _to_the(-0.5),
    "Sigmoid": _sigmoid,
    "Sign": _sign,
    "Sin": _sin,
    "Sinh": _sinh,
    "Sqrt": _to_the(0.5),
    "SquaredDifference": _apart,
    "Tan": _tan,
    "Tanh": _tanh,
}
"""By kind of op: its rule."""
