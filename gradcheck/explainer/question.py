"""What is asked of the explainer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.errors import ExpressionError
    from gradcheck.model import Array, Case, Shape

__all__ = [
    "Directions",
    "Question",
    "as_named",
    "checked_shape",
    "checked_value",
    "is_case",
    "with_caret",
]


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
            or is_case(self.name or "")
        )


def is_case(name: str) -> bool:
    """Whether this names a case of a spec: `x[:, ::-1]` has two colons too."""
    return re.search(r"\.ya?ml(::|$)", name) is not None


def as_named(question: Question) -> Question:
    """A function of TensorFlow's or Keras' is a name, whichever option it is given by."""
    from gradcheck import ops
    from gradcheck.spec.expression import allowlist

    own = (question.function or "").strip()
    if not own or ":" in own or question.name is not None:
        return question
    listed = own in allowlist.ALLOWED or own.removeprefix("tf.") in allowlist.LAYERS
    known = listed or ops.find(own) is not None
    return replace(question, name=own, function=None) if known else question


def checked_shape(name: str, sizes: tuple[int, ...]) -> Shape:
    """The shape; UsageError where no input can have it."""
    from gradcheck.spec.format.array_values import size_problem

    if any(size < 0 for size in sizes):
        raise UsageError(f"--shape {name}: sizes are not negative, and {sizes} are given")
    if problem := size_problem(sizes):
        raise UsageError(f"--shape {name}: {problem}")
    return sizes


def checked_value(name: str, array: Array, text: str) -> Array:
    """The value; UsageError, which shows the text, where it is no numbers."""
    from gradcheck.spec.format.array_values import size_problem

    if array.dtype.kind not in "iufb":
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        raise UsageError(f"--at {name}={shown}: a value is numbers, such as [[1, 2], [3, 4]]")
    if problem := size_problem(array.shape):
        raise UsageError(f"--at {name}: {problem}")
    return array.astype(np.float64) if name == "G" else array


def with_caret(question: Question, text: str, error: ExpressionError) -> UsageError:
    """What is wrong, under the place where it stands."""
    caret = " " * error.offset + "^" * max(1, error.length)
    hint = f"\n  = {error.hint}" if error.hint else ""
    if not question.shapes:
        hint = "\n  = give each input with --shape NAME=3,4 (a plain --shape NAME= is a number)"
    flat = text.replace("\n", " ")
    return UsageError(f"{error}\n  {flat}\n  {caret}{hint}")
