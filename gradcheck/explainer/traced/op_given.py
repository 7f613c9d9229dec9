"""An op that ran, as the rules see it that write it as a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer.traced.read_texts import NoRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.explainer.traced.ran_ops import Ran
    from gradcheck.model import Shape

__all__ = ["Given"]


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """An op, and how what it is given is written."""

    ran: Ran
    written: Callable[[Any], str]
    depends: Callable[[Any], bool]
    """Whether a tensor depends on the inputs."""

    @property
    def count(self) -> int:
        """How many inputs it has."""
        return len(self.ran.inputs)

    def x(self, place: int) -> str:
        """An input: a name, or a constant that is written out."""
        return self.written(self.ran.inputs[place])

    def plain(self, place: int) -> Any:
        """An input's value, as plain numbers and lists; NoRule where it depends on inputs."""
        given = self.ran.inputs[place]
        if self.depends(given):
            raise NoRule("an argument that depends on the inputs")
        return np.asarray(given.numpy()).tolist()

    def moves(self, place: int) -> bool:
        """Whether an input depends on the inputs of the function."""
        return self.depends(self.ran.inputs[place])

    def shape(self, place: int) -> Shape:
        """The shape of an input."""
        return tuple(self.ran.inputs[place].shape)

    def out_shape(self, place: int) -> Shape:
        """The shape of an output."""
        return tuple(self.ran.outputs[place].shape)

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the op."""
        return self.ran.attributes.get(name, default)
