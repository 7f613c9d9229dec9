"""The special functions of the formula language; SciPy computes them, loaded on first use.

numpy has none of them, and a series of our own for each would be a library to maintain.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradcheck.ops.language.bounds import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SPECIAL"]

_TEXTS = {
    "erf": ("erf", "The error function."),
    "erfc": ("erfc", "1 - erf(x), exact for large x."),
    "erfinv": ("erfinv", "The inverse of erf."),
    "erfcinv": ("erfcinv", "The inverse of erfc."),
    "ndtri": ("ndtri", "The quantile function of the normal distribution."),
    "lgamma": ("gammaln", "The logarithm of |Γ(x)|."),
    "digamma": ("digamma", "The derivative of log Γ."),
    "polygamma": ("polygamma", "The derivative of order n of digamma; n comes first."),
    "zeta": ("zeta", "The Hurwitz zeta function Σ 1/(q + k)ˢ; s comes first."),
    "gammainc": ("gammainc", "The regularised lower incomplete gamma function."),
    "gammaincc": ("gammaincc", "The regularised upper incomplete gamma function."),
    "betainc": ("betainc", "The regularised incomplete beta function of a, b and x."),
    "bessel_i0": ("i0", "The modified Bessel function of order 0."),
    "bessel_i1": ("i1", "The modified Bessel function of order 1."),
    "bessel_i0e": ("i0e", "e^(-|x|) times the modified Bessel function of order 0."),
    "bessel_i1e": ("i1e", "e^(-|x|) times the modified Bessel function of order 1."),
    "bessel_j0": ("j0", "The Bessel function of order 0."),
    "bessel_j1": ("j1", "The Bessel function of order 1."),
    "dawsn": ("dawsn", "Dawson's integral."),
    "expint": ("expi", "The exponential integral Ei."),
    "spence": ("spence", "The dilogarithm of 1 - x."),
}


def _special(name: str, scipy_name: str, text: str) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        return getattr(import_module("scipy.special"), scipy_name)(*map(numbers, args))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


SPECIAL: tuple[Callable[..., Any], ...] = tuple(
    _special(name, scipy_name, text) for name, (scipy_name, text) in _TEXTS.items()
)
