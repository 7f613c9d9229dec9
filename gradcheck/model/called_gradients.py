"""Which of TensorFlow's gradient functions a check went through."""

from __future__ import annotations

from dataclasses import dataclass

from gradcheck.model.cases import CheckKind


@dataclass(frozen=True, slots=True, order=True)
class GradientCall:
    """A gradient function that was called on the way back that a verdict is about."""

    op: str
    """The name that it is registered for: `MatMul`."""
    check: CheckKind = CheckKind.REVERSE
    """Of which derivative: a gradient's own gradient goes back through other functions."""
    dtypes: tuple[str, ...] = ()
    """The floating-point and complex dtypes of the op, sorted."""
    attributes: str = ""
    """What else the op was told, but its shapes and functions: `transpose_a=True`."""
