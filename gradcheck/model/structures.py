"""Arguments that are more than one tensor: how they are made of the inputs of a case.

An input is always one tensor, named by its path: `x['a']`, `x[0]`, `x.values`. A template says how
such tensors make up what the function takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from gradcheck.model.arrays import Shape


@dataclass(frozen=True, slots=True)
class Group:
    """A dictionary, a list or a tuple."""

    kind: Literal["dict", "list", "tuple"]
    parts: tuple[Template, ...]
    keys: tuple[str, ...] = ()
    """Of a dictionary: the key of each part."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """A ragged tensor, made of its flat values."""

    values: str
    """The name of the input that holds them."""
    row_lengths: tuple[tuple[int, ...], ...]
    """By level, the outermost first."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse tensor, made of the values that it stores."""

    values: str
    """The name of the input that holds them."""
    indices: tuple[tuple[int, ...], ...]
    shape: Shape


Template = str | Group | Ragged | Sparse
"""A text is the name of an input, which is handed over as it is."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of the function under test."""

    name: str
    template: Template
