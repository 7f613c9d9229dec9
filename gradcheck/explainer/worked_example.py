"""What pictures of a gradient are drawn from: the chain of values, and its numbers at one point.

A page says how its pictures are made (`Document.picture`); a format that draws asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.explainer.style import Style
    from gradcheck.model import Array, Shape

__all__ = ["Jacobian", "Numbers", "Picture", "Place", "Upstream", "element_name", "sizes"]


@dataclass(frozen=True, slots=True)
class Place:
    """A value on the way from the inputs to the loss."""

    name: str
    symbol: str
    """As it is written in Unicode."""
    shapes: tuple[Shape, ...]
    """One, but for an op with several outputs."""
    op: str = ""
    """What computes it; empty for an input."""
    sources: tuple[str, ...] = ()
    """The places that it is computed from, in the order of its operands."""
    returns: frozenset[str] = frozenset()
    """Those of them that a gradient goes back to."""
    forward: Callable[[Style], str] | None = None
    """What it is computed by; None for an input."""
    back: Callable[[Style], str] | None = None
    """The gradient that reaches it; None where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Upstream:
    """An output, and the gradient that comes from the loss to it."""

    symbol: str
    """Of the gradient: G."""
    output: str
    """Of the output."""
    value: Array
    result: Array
    """Of the output."""


@dataclass(frozen=True, slots=True, eq=False)
class Jacobian:
    """The derivative of all outputs by one input: a row for each element of the outputs."""

    name: str
    symbol: str
    shape: Shape
    matrix: Array
    made_of: Callable[[], Mapping[str, Array]]
    """By input: which of its elements (columns) each element of the gradient (rows) depends on;
    inputs that none depends on are not there."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Everything at one point."""

    given: bool
    """Whether the point was asked for; else it was drawn."""
    values: Mapping[str, Array]
    """By place."""
    gradients: Mapping[str, Array]
    """By place: what comes back to it."""
    upstreams: tuple[Upstream, ...]
    jacobians: tuple[Jacobian, ...]

    def weights(self) -> Array:
        """The upstream gradients in the order of the rows of a Jacobian."""
        return np.concatenate([np.ravel(one.value) for one in self.upstreams])

    def rows(self) -> list[tuple[Upstream, tuple[int, ...]]]:
        """Which element of which output each row of a Jacobian is of."""
        return [(one, at) for one in self.upstreams for at in np.ndindex(one.value.shape)]


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """The chain, and its numbers where there are any."""

    places: tuple[Place, ...]
    """Each behind those that it is computed from; the last one is the result."""
    loss: str
    numbers: Numbers | None = None
    missing: str = ""
    """Why there are no numbers."""


def element_name(symbol: str, at: tuple[int, ...]) -> str:
    """One element, as pages write it: `A[0,1]`; a plain number has no index."""
    return f"{symbol}[{','.join(map(str, at))}]" if at else symbol


def sizes(shape: Shape) -> str:
    """A shape beside an arrow."""
    return "×".join(map(str, shape)) if shape else "number"
