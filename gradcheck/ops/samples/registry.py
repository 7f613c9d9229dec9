"""How the values of an input are drawn: seeded, inside the op's domain, well-conditioned.

Magnitudes are of order one, so that neither the gradient nor its numeric estimate suffers from
scale. Values keep a margin from the edges of the domain and from kinks, because a difference
across either says nothing about the derivative.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradcheck.errors import nearest
from gradcheck.model import Sample
from gradcheck.ops.samples import draws
from gradcheck.ops.samples.spread import fold_inside, keep_clear, squeeze_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.model import Array, Shape
    from gradcheck.ops.declaration import Domain

__all__ = ["SAMPLES", "SampleKind", "draw", "parse_sample"]

Structure = Literal[
    "general", "symmetric", "lower", "orthogonal", "invertible", "probability", "discrete"
]


@dataclass(frozen=True, slots=True)
class SampleKind:
    """One way to draw: its name, its parameters with their defaults, and what it gives."""

    name: str
    text: str
    draw: Callable[[np.random.Generator, Shape, Any], Array]
    """Takes the parameters last; a structured one takes whether the values are complex."""
    params: tuple[tuple[str, float], ...] = ()
    structure: Structure = "general"
    square: bool = False
    """Whether the last two axes must be equal."""

    @property
    def signature(self) -> str:
        """The name as a spec writes it: `uniform(low, high)`."""
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(name for name, _ in self.params)})"


def _fixed(low: float, high: float) -> Callable[[np.random.Generator, Shape, Any], Array]:
    """A uniform draw between bounds that the spec does not choose."""
    return lambda rng, shape, _: draws.uniform(rng, shape, (low, high))


def _bounds(low: float, high: float) -> tuple[tuple[str, float], ...]:
    return (("low", low), ("high", high))


_KINDS = (
    SampleKind("normal", "Standard normal.", draws.normal),
    SampleKind("uniform", "Evenly between low and high.", draws.uniform, _bounds(-1, 1)),
    SampleKind(
        "loguniform",
        "Between low and high (both positive), evenly in magnitude.",
        draws.loguniform,
        _bounds(0.1, 10),
    ),
    SampleKind("positive", "Between 0.5 and 2.", _fixed(0.5, 2.0)),
    SampleKind("above_one", "Between 1.25 and 3.", _fixed(1.25, 3.0)),
    SampleKind("unit", "Of size below 1, at most 0.8.", _fixed(-0.8, 0.8)),
    SampleKind("nonzero", "Of size 0.5 to 2, with a random sign.", draws.nonzero),
    SampleKind("distinct", "No two values close to each other, for max and sort.", draws.distinct),
    SampleKind(
        "integers",
        "Whole numbers from low up to, not including, high.",
        draws.integers,
        _bounds(0, 2),
        structure="discrete",
    ),
    SampleKind("boolean", "True or false.", draws.boolean, structure="discrete"),
    SampleKind(
        "probability",
        "Positive, and the last axis sums to one.",
        draws.probability,
        structure="probability",
    ),
    SampleKind(
        "symmetric",
        "Symmetric matrices with separate eigenvalues of size 0.5 to 2; Hermitian where complex.",
        draws.symmetric,
        structure="symmetric",
        square=True,
    ),
    SampleKind(
        "spd",
        "Symmetric positive definite matrices with separate eigenvalues in [0.5, 2].",
        draws.spd,
        structure="symmetric",
        square=True,
    ),
    SampleKind(
        "lower",
        "Lower triangular matrices with a positive diagonal.",
        draws.lower,
        structure="lower",
        square=True,
    ),
    SampleKind(
        "orthogonal",
        "Orthogonal matrices; unitary where complex.",
        draws.orthogonal,
        structure="orthogonal",
        square=True,
    ),
    SampleKind(
        "invertible",
        "Square matrices whose singular values lie in [0.5, 2].",
        draws.invertible,
        structure="invertible",
        square=True,
    ),
)

SAMPLES: Mapping[str, SampleKind] = MappingProxyType({kind.name: kind for kind in _KINDS})
"""By name, in the order in which they are shown."""


def parse_sample(text: str) -> Sample:
    """The Sample that a text such as `uniform(-1, 2)` means; ValueError says what is wrong."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a sample: write a name such as 'normal', or 'uniform(-1, 2)'"
        )
    name, inner = match[1], (match[2] or "").strip()
    kind = SAMPLES.get(name)
    if kind is None:
        near = nearest(name, SAMPLES)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(SAMPLES)}"
        raise ValueError(f"there is no sample {name!r}: {hint}")
    params = tuple(_number(part, kind) for part in inner.split(",")) if inner else ()
    _check_params(kind, params)
    return Sample(name, params)


def draw(
    sample: Sample,
    shape: Shape,
    dtype_is_complex: bool,
    rng: np.random.Generator,
    domain: Domain,
) -> Array:
    """Values of the shape, in float64, complex128, int64 or bool, inside the domain.

    Of complex values the real part lies in the domain. A structure (symmetric, triangular, …)
    wins over the domain, which would break it. Raises ValueError where sample and shape clash.
    """
    kind = SAMPLES[sample.name]
    if kind.square and (len(shape) < 2 or shape[-1] != shape[-2]):
        raise ValueError(
            f"sample {kind.name!r} draws square matrices, and the shape is {list(shape)}: "
            "its last two sizes must be equal"
        )
    if kind.structure == "probability" and not shape:
        raise ValueError(f"sample {kind.name!r} needs an axis to sum along, and the shape is []")
    params = sample.params or tuple(default for _, default in kind.params)
    if kind.structure == "discrete":
        return kind.draw(rng, shape, params)
    if kind.structure != "general":
        return kind.draw(rng, shape, dtype_is_complex)
    values = kind.draw(rng, shape, params)
    imaginary = kind.draw(rng, shape, params) if dtype_is_complex else None
    if imaginary is not None and kind.name == "unit":
        # Half of the square each, so that the modulus stays below one.
        values, imaginary = values / math.sqrt(2), imaginary / math.sqrt(2)
    place = squeeze_inside if kind.name == "distinct" else fold_inside
    values = keep_clear(place(values, domain), domain, _scale(kind, params))
    # Arithmetic turns an array without axes into a number: make it an array again.
    return np.asarray(values if imaginary is None else values + 1j * imaginary)


def _scale(kind: SampleKind, params: tuple[float, ...]) -> float:
    """What counts as far for this sample: a narrow or tiny one asks for values near an edge."""
    if kind.name == "uniform":
        return params[1] - params[0]
    return params[0] if kind.name == "loguniform" else 1.0


def _number(text: str, kind: SampleKind) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{kind.signature} takes numbers, not {text.strip()!r}")
    return number


def _check_params(kind: SampleKind, params: tuple[float, ...]) -> None:
    if not params:
        return
    if not kind.params:
        raise ValueError(f"sample {kind.name!r} takes no parameters")
    if len(params) != len(kind.params):
        raise ValueError(f"{kind.signature} takes {len(kind.params)} numbers, got {len(params)}")
    low, high = params
    if low >= high:
        raise ValueError(f"{kind.signature}: low must be below high, got {low:g} and {high:g}")
    if kind.name == "loguniform" and low <= 0:
        raise ValueError(f"{kind.signature}: low must be positive, got {low:g}")
    if kind.name == "integers":
        if not (low.is_integer() and high.is_integer()):
            raise ValueError(f"{kind.signature} takes whole numbers, got {low:g} and {high:g}")
        if max(abs(low), abs(high)) > 2**31:
            raise ValueError(f"{kind.signature}: the numbers must fit into 32 bits")
