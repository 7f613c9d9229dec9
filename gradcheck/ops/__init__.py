"""The declared operations, and how to find one by name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gradcheck.ops.declaration import (
    ANYWHERE,
    Call,
    Derivation,
    Domain,
    Example,
    Formulas,
    Kind,
    Op,
    Parameter,
    Step,
)
from gradcheck.ops.families import (
    activations,
    bessel,
    cumulative,
    elementwise,
    factorisations,
    functions,
    guarded,
    images,
    indexing,
    joining,
    linalg,
    losses,
    moments,
    normalisation,
    products,
    reductions,
    reshaping,
    slicing,
    solving,
    special_functions,
    trigonometry,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ANYWHERE",
    "Call",
    "Derivation",
    "Domain",
    "Example",
    "Formulas",
    "Kind",
    "Op",
    "Parameter",
    "Step",
    "all_ops",
    "find",
    "find_part",
    "names",
]

_FAMILIES = (
    elementwise,
    functions,
    trigonometry,
    special_functions,
    bessel,
    guarded,
    reductions,
    moments,
    cumulative,
    linalg,
    products,
    solving,
    factorisations,
    reshaping,
    indexing,
    slicing,
    joining,
    activations,
    losses,
    normalisation,
    images,
)


@cache
def all_ops() -> tuple[Op, ...]:
    """Every declared op, family by family."""
    return tuple(op for family in _FAMILIES for op in family.OPS)


def names() -> tuple[str, ...]:
    """The ops' own names, in the order of `all_ops`."""
    return tuple(op.name for op in all_ops())


def find(name: str) -> Op | None:
    """The op with this name: its own, TensorFlow's, or another that TensorFlow has for it."""
    return _by_name().get(name)


def find_part(name: str, place: int) -> Op | None:
    """The op that is one of several outputs of a TensorFlow function."""
    return next((op for op in all_ops() if op.part_of == (name, place)), None)


@cache
def _by_name() -> Mapping[str, Op]:
    return {key: op for op in all_ops() for key in _names_of(op)}


def _names_of(op: Op) -> tuple[str, ...]:
    return (op.name,) if op.is_part else (op.name, op.tf, *op.aliases)
