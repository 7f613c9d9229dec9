"""The numpy language in which formulas are written: the functions and constants a formula may use.

The ops declare their gradients in it and specs claim theirs in `gradient:`, so every function here
is harmless: it takes numbers, opens nothing, and refuses sizes that would hurt. Callers silence
numpy's floating-point warnings with `np.errstate` around a whole formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language import (
    adjoints,
    array_functions,
    decompositions,
    matrix_functions,
    recurrences,
    resampling,
    segment_sums,
    shares,
    sorting,
    transforms,
)
from gradcheck.ops.language.adjoints import unbroadcast
from gradcheck.ops.language.bounds import axes, bounded, numbers
from gradcheck.ops.language.special import SPECIAL
from gradcheck.ops.language.windows import unwindows, windows

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = ["CONSTANTS", "FUNCTIONS", "lookup", "unbroadcast"]

Function = Callable[..., Any]


def _unary(ufunc: Function, text: str) -> Function:
    """A function of one array, applied to each element."""

    def function(x: Any) -> Any:
        return ufunc(numbers(x))

    return _named(function, ufunc.__name__, text)


def _binary(ufunc: Function, text: str) -> Function:
    """A function of two arrays that broadcast against each other."""

    def function(x: Any, y: Any) -> Any:
        x, y = _together(x, y)
        return ufunc(x, y)

    return _named(function, ufunc.__name__, text)


def _reduction(reduce: Function, text: str) -> Function:
    """A function that combines the elements along an axis, a list of axes, or all of them."""

    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return reduce(numbers(x), axis=axes(axis), keepdims=bool(keepdims))

    return _named(function, reduce.__name__, f"{text} along an axis, several, or all.")


def _named(function: Function, name: str, text: str) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def _together(*values: Any) -> tuple[Array, ...]:
    """The values as arrays whose broadcast shape is not too large."""
    arrays = tuple(numbers(value) for value in values)
    bounded(np.broadcast_shapes(*(array.shape for array in arrays)))
    return arrays


def sign(x: Any) -> Array:
    """-1, 0 or 1; for a complex number x/|x|, and 0 at 0."""
    x = numbers(x)
    if x.dtype.kind != "c":
        return np.asarray(np.sign(x))
    size = np.abs(x)
    return np.asarray(x / np.where(size == 0, 1, size))


def power(x: Any, y: Any) -> Array:
    """The power x to the y; whole numbers too take negative exponents."""
    x, y = _together(x, y)
    return np.asarray(np.power(x.astype(np.float64) if x.dtype.kind in "biu" else x, y))


def sigmoid(x: Any) -> Array:
    """1/(1 + e⁻ˣ), the logistic function."""
    return np.asarray(1 / (1 + np.exp(-numbers(x))))


def float32(x: Any) -> Array:
    """The value rounded to float32, the precision in which TensorFlow keeps some arguments."""
    return numbers(x).astype(np.float32).astype(np.float64)


def where(condition: Any, x: Any, y: Any) -> Array:
    """The elements of x where the condition holds, those of y elsewhere."""
    condition, x, y = _together(condition, x, y)
    return np.asarray(np.where(condition, x, y))


_DEFINED: tuple[Function, ...] = (
    _unary(np.exp, "eˣ."),
    _unary(np.log, "The natural logarithm."),
    _unary(np.log1p, "log(1 + x), exact for small x."),
    _unary(np.expm1, "eˣ - 1, exact for small x."),
    _unary(np.sqrt, "The square root."),
    _unary(np.square, "x²."),
    _unary(np.sin, "The sine."),
    _unary(np.cos, "The cosine."),
    _unary(np.tan, "The tangent."),
    _unary(np.sinh, "The hyperbolic sine."),
    _unary(np.cosh, "The hyperbolic cosine."),
    _unary(np.tanh, "The hyperbolic tangent."),
    _unary(np.arcsin, "The inverse sine."),
    _unary(np.arccos, "The inverse cosine."),
    _unary(np.arctan, "The inverse tangent."),
    _unary(np.arcsinh, "The inverse hyperbolic sine."),
    _unary(np.arccosh, "The inverse hyperbolic cosine."),
    _unary(np.arctanh, "The inverse hyperbolic tangent."),
    _unary(np.floor, "The largest whole number not above x."),
    _unary(np.real, "The real part."),
    _unary(np.imag, "The imaginary part."),
    _unary(np.logical_not, "True where x is false or zero."),
    _unary(np.isfinite, "True where x is neither infinite nor nan."),
    _binary(np.maximum, "The larger of two, element by element."),
    _binary(np.minimum, "The smaller of two, element by element."),
    _binary(np.arctan2, "The angle of the point with first coordinate y and second x."),
    _binary(np.equal, "True where x equals y."),
    _binary(np.not_equal, "True where x differs from y."),
    _binary(np.less, "True where x is below y."),
    _binary(np.less_equal, "True where x is not above y."),
    _binary(np.greater, "True where x is above y."),
    _binary(np.greater_equal, "True where x is not below y."),
    _binary(np.logical_and, "True where both are."),
    _binary(np.logical_or, "True where one or both are."),
    _binary(np.logical_xor, "True where exactly one is."),
    _reduction(np.sum, "The sum"),
    _reduction(np.mean, "The mean"),
    _reduction(np.prod, "The product"),
    _reduction(np.max, "The largest element"),
    _reduction(np.min, "The smallest element"),
    _reduction(np.any, "Whether any element is true"),
    _reduction(np.all, "Whether all elements are true"),
    *(sign, power, sigmoid, float32, where),
    *(getattr(array_functions, name) for name in array_functions.__all__),
    *(getattr(matrix_functions, name) for name in matrix_functions.__all__),
    *SPECIAL,
    windows,
    unwindows,
    *(getattr(decompositions, name) for name in decompositions.__all__),
    *(getattr(adjoints, name) for name in adjoints.__all__),
    *(getattr(shares, name) for name in shares.__all__),
    *(getattr(segment_sums, name) for name in segment_sums.__all__),
    *(getattr(sorting, name) for name in sorting.__all__),
    *(getattr(transforms, name) for name in transforms.__all__),
    *(getattr(recurrences, name) for name in recurrences.__all__),
    *(getattr(resampling, name) for name in resampling.__all__),
)

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {function.__name__: function for function in _DEFINED}
    | {
        # numpy names these two after longer words.
        "abs": _named(_unary(np.absolute, ""), "abs", "The absolute value, or modulus."),
        "conj": _named(_unary(np.conjugate, ""), "conj", "The complex conjugate; real x stay."),
    }
)
"""By name, each with a one-line docstring that says what it computes."""

CONSTANTS: Mapping[str, Any] = MappingProxyType(
    {"pi": np.pi, "e": np.e, "inf": np.inf, "newaxis": None}
)
"""By name; an input or an argument of the same name hides a constant."""


def lookup(name: str) -> Any:
    """The function or the constant of this name; KeyError where there is none."""
    return FUNCTIONS[name] if name in FUNCTIONS else CONSTANTS[name]
