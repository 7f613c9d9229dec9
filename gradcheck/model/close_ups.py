"""What a check saw around one element, gathered for pictures and where somebody asks for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CloseUp:
    """How the checked scalar moves with one element of an input.

    The numbers have as many digits as a picture needs.
    """

    index: tuple[int, ...]
    """The element."""
    imaginary: bool
    """Of a complex one: whether it is its imaginary part that moves."""
    analytic: float
    numeric: float
    bound: float
    """The gradient, the numeric derivative and its bound, along this move."""
    chosen: float
    """The smallest step that the numeric derivative was made of."""
    steps: tuple[float, ...]
    """How far the element is moved, the longest first."""
    errors: tuple[float, ...]
    """By step: how far the central difference quotient is from the numeric derivative."""
    right: tuple[float, ...]
    left: tuple[float, ...]
    """By step: how the scalar changes to either side; NaN where that leaves the domain."""
