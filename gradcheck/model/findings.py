"""What is found in somebody's package: things with a gradient, and what a call of each takes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gradcheck.model.results import Result


class FoundKind(StrEnum):
    """What has a gradient; the text is how a list of them calls it."""

    CUSTOM_GRADIENT = "custom gradient"
    LAYER = "layer"
    MODEL = "model"
    LOSS = "loss"
    REGULARIZER = "regularizer"
    MODULE = "tf.Module"
    LOSS_FUNCTION = "loss function"
    TENSOR_FUNCTION = "function of tensors"
    """A plain function whose signature says that it takes tensors."""
    FUNCTION = "function"
    """One of which that is not known: it may do anything."""

    @property
    def is_class(self) -> bool:
        """Whether an object of it is made first: `layer:` in a spec, else `function:`."""
        return self in _CLASSES


_CLASSES = frozenset(
    {
        FoundKind.LAYER,
        FoundKind.MODEL,
        FoundKind.LOSS,
        FoundKind.REGULARIZER,
        FoundKind.MODULE,
    }
)


@dataclass(frozen=True, slots=True)
class Taken:
    """A parameter of a function or a class."""

    name: str
    required: bool = True
    annotation: str = ""
    """As it is written; empty where there is none."""
    by_position: bool = False
    """Whether it can be given by position alone."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something with a gradient, by the name that a spec would have for it."""

    kind: FoundKind
    target: str
    """`package.module:name`, or a name of TensorFlow's or Keras'."""
    call: tuple[Taken, ...] = ()
    init: tuple[Taken, ...] = ()
    """What its class takes, if it is one."""
    place: str = ""
    """Where it is defined: `mypkg/layers.py:12`."""
    home: str = ""
    """The module that defines it."""


@dataclass(frozen=True, slots=True, eq=False)
class Sighting(Result):
    """What a module offers, once it was imported; an `error` where that cannot be done."""

    found: tuple[Found, ...] = ()
    unnamed: tuple[Found, ...] = ()
    """What has a gradient, and a name that no spec can give: a private one, or other letters."""
