"""Functions of numpy with known derivatives, and the numeric side of a check on them alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.choose_coordinates import choose
from gradcheck.checker.numerics.differentiator import differentiate
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.numerics.noise import measure_noise
from gradcheck.checker.numerics.vectors import Layout
from gradcheck.model import Array

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate

Function = Callable[[Array], Array]


@dataclass(frozen=True)
class Known:
    """An elementwise function, its derivative, and where both are well conditioned."""

    name: str
    f: Function
    df: Function
    low: float = 1e-12
    high: float = 1e12
    """Sizes of x over which neither overflows or loses its digits to the argument's reduction."""
    signed: bool = True

    def __str__(self) -> str:
        return self.name

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        """Points of random magnitude and, where the function allows it, random sign."""
        x = np.exp(rng.uniform(np.log(self.low), np.log(self.high), size))
        return x * rng.choice([-1.0, 1.0], size) if self.signed else x

    def true(self, x: Array) -> Array:
        """The derivative, computed with more digits than a double has."""
        return np.asarray(self.df(x.astype(np.longdouble)))


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


KNOWN = (
    Known("linear", lambda x: 3 * x - 1, lambda x: 3 + 0 * x),
    Known("square", lambda x: x * x, lambda x: 2 * x),
    Known("cubic", lambda x: x**3 - 2 * x, lambda x: 3 * x**2 - 2, 1e-6, 1e6),
    Known("quintic", lambda x: x**5, lambda x: 5 * x**4, 1e-12, 1e12),
    Known("exp", np.exp, np.exp, 1e-12, 100.0),
    Known("exp of minus", lambda x: np.exp(-x), lambda x: -np.exp(-x), 1e-12, 100.0),
    Known("log", np.log, lambda x: 1 / x, signed=False),
    Known("sin", np.sin, np.cos, 1e-12, 1e3),
    Known("cos", np.cos, lambda x: -np.sin(x), 1e-3, 1e3),
    Known("tanh", np.tanh, lambda x: 1 / np.cosh(x) ** 2, 1e-12, 15.0),
    Known("sigmoid", _sigmoid, lambda x: _sigmoid(x) * _sigmoid(-x), 1e-12, 30.0),
    Known("reciprocal", lambda x: 1 / x, lambda x: -1 / x**2),
    Known("square root", np.sqrt, lambda x: 0.5 / np.sqrt(x), signed=False),
    Known("cube root", np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2)),
    Known("x log x", lambda x: x * np.log(x), lambda x: np.log(x) + 1, signed=False),
    Known("x exp(-x²)", lambda x: x * np.exp(-x * x), lambda x: (1 - 2 * x * x) * np.exp(-x * x),
          1e-12, 5.0),
    Known("sin of exp", lambda x: np.sin(np.exp(x)), lambda x: np.cos(np.exp(x)) * np.exp(x),
          1e-6, 5.0),
    Known("1/(1+x²)", lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
    Known("log(1+x²)", lambda x: np.log1p(x * x), lambda x: 2 * x / (1 + x * x)),
)  # fmt: skip


@dataclass(frozen=True)
class Input:
    """What is to be known of an input before it is moved."""

    low: float = -np.inf
    high: float = np.inf
    structure: str = "general"


class Counted:
    """A function that counts the points it is evaluated at."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.points = 0

    def __call__(self, points: Array) -> Array:
        """Rows of outputs for rows of points."""
        self.points += len(points)
        return self.function(points)


def estimate(function: Function, point: Array, *weights: Array, **options: Any) -> Estimate:
    """Differentiate `weights @ function(x)`; the function takes and returns rows."""
    return differentiate(mover(function, point, *weights, **options))


def mover(
    function: Function,
    point: Array,
    weights: Array | None = None,
    *,
    precision: np.dtype[np.generic] | None = None,
    low: float = -np.inf,
    high: float = np.inf,
    seed: int = 0,
) -> Mover:
    """What moves the elements of x to differentiate `weights @ function(x)`."""
    coordinates = choose([Input(low, high)], Layout.of([point]), point, seed, precision)
    with np.errstate(all="ignore"):
        base = function(point[np.newaxis])[0]
        noise = measure_noise(function, point, base, coordinates.scale, seed)
        weights = np.ones(len(base)) if weights is None else weights
        return Mover(function, base, weights, noise, coordinates.space)


def allowed(found: Estimate) -> Array:
    """What the comparison grants."""
    size = np.maximum(np.abs(found.numeric), found.scale)
    return np.asarray(tolerances.BOUND_SAFETY * found.bound + tolerances.ARITHMETIC * size)
