"""What is called, and how a flat list of tensors becomes its arguments.

Everything behind this takes one tensor per operand, by position. What people bring takes keywords,
dictionaries, ragged tensors, and returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcheck.model.frozen import frozen

Arguments = tuple[Sequence[Any], dict[str, Any]]
"""Positional arguments and keyword arguments."""


def by_position(tensors: Sequence[Any]) -> Arguments:
    """The tensors as they are, one argument each."""
    return tensors, {}


def everything(returned: Any) -> Any:
    """All that was returned."""
    return returned


@frozen(slots=True)
class Callee:
    """A function of one tensor per operand, whatever the target takes and returns."""

    target: Callable[..., Any]
    """A function, a layer, a model, a module: what the user brought."""
    arrange: Callable[[Sequence[Any]], Arguments] = by_position
    """Tensors, one per operand, to the arguments of the target."""
    select: Callable[[Any], Any] = everything
    """What the target returns to that part of it which is differentiated."""

    def __call__(self, *tensors: Any) -> Any:
        """What the target returns for these, or the part of it that counts."""
        positional, named = self.arrange(tensors)
        return self.select(self.target(*positional, **named))
