"""What is asked of the explainer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Array, Case, Shape

__all__ = ["Directions", "Question"]


@dataclass(frozen=True, slots=True)
class Directions:
    """Which derivatives are wanted beside the gradient."""

    forward: bool = False
    second: bool = False

    def __bool__(self) -> bool:
        return self.forward or self.second


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is to be explained, and at what."""

    name: str | None = None
    """An op, a TensorFlow name, or a case of a spec."""
    expr: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    at: Mapping[str, Array] = field(default_factory=dict)
    """Values of inputs, and of G: the steps are then shown in numbers."""
    verify: bool = False
    function: str | None = None
    """In place of a name: `package.module:name`, which is run."""
    layer: str | None = None
    """In place of a name: a class of Keras' or of one's own; `args` are those of its class."""
    allow: tuple[str, ...] = ()
    """The packages whose code a case may run, besides those of the project's settings."""

    case: Case | None = None
    """A call of what is named, where its arguments had to be guessed."""
    unguessed: str = ""
    """Why no arguments were found for what is named."""
    forward: bool = False
    """How the output changes with the inputs, too."""
    second: bool = False
    """The Hessian times a direction, too."""

    @property
    def directions(self) -> Directions:
        """What is wanted beside the gradient."""
        return Directions(self.forward, self.second)

    @property
    def runs(self) -> bool:
        """Whether something is called to explain it."""
        return (
            self.verify
            or bool(self.function or self.layer or self.case)
            or "::" in (self.name or "")
        )
