"""What numeric differentiation asks of a function under test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gradcheck.checker.subject.stacking import Stacking
    from gradcheck.model import Array


class OneByOne(Exception):  # noqa: N818  (it tells the way to go)
    """The function does not take many points at once."""


class RowFunction(Protocol):
    """What differentiates asks of a function on rows of points."""

    @property
    def is_batched(self) -> bool:
        """Whether many points share a call."""

    @property
    def is_traced(self) -> bool:
        """Whether points go through a loop in a graph, for calls of the function are dear."""

    @property
    def stacking(self) -> Stacking | None:
        """How operands get a leading axis of points; None where the function takes none."""

    @property
    def raised(self) -> str:
        """What the function raised last beside the point, if it did."""

    def __call__(self, points: Array) -> Array:
        """Rows of outputs for rows of points."""

    def together(self, points: Array) -> Array:
        """Rows of outputs for rows of points; raises OneByOne where each costs a call."""

    def probe(self) -> None:
        """Find out, once, whether many points can share a call."""

    def expect(self, points: int) -> None:
        """So many points will be asked for: get ready, if it is worth that."""

    def vouches(self) -> bool:
        """Whether points that share a call get what single calls give; else none share any more."""

    def must_repeat(self, calls: int) -> None:
        """End the check unless the function gives the same at the point each time."""
