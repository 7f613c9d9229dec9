"""One input of a function under test, at the point where its gradient is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradcheck.model import Array


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """An input: its name, its values and what may be done to them."""

    name: str
    value: Array
    """In the dtype of the case."""
    differentiate: bool = True
    variable: bool = False
    low: float = float("-inf")
    high: float = float("inf")
    """The domain, which numeric steps do not leave."""
    structure: str = "general"
    """`symmetric` and `lower` matrices are only moved to matrices of the same kind."""
