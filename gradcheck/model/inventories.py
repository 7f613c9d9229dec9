"""What there is to cover: the gradients that TensorFlow registers."""

from __future__ import annotations

from dataclasses import dataclass

from gradcheck.model.results import Result


@dataclass(frozen=True, slots=True)
class RegisteredGradient:
    """A gradient function that TensorFlow registers for an op."""

    op: str
    family: str
    is_float: bool
    """Whether the op is a pure function from floats to floats, among `tf.raw_ops`."""
    out_of_reach: str = ""
    """Why no tape can go back through it on this machine; empty where nothing is in the way."""


@dataclass(frozen=True, slots=True, eq=False)
class Inventory(Result):
    """What a worker found in TensorFlow; the message says so where that could not be done."""

    gradients: tuple[RegisteredGradient, ...] = ()
    no_gradient: tuple[str, ...] = ()
    """The ops that are registered as not differentiable."""
