"""Indices of arrays, and whole numbers computed from them: `i + 1`, `2·h + a`, `ids[i]`.

An index is a text that says how far it runs: `_7:3` goes from 0 to 2. Along an axis of size 1 the
number 0 stands in its place. Ops that move elements read `x[i + 1]` where a sum of products reads
`x[i]`: such a place is a linear form of indices, and of what is not linear, which are remainders
and elements of an array of whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.model import Shape

__all__ = [
    "LETTERS",
    "Atom",
    "Form",
    "Index",
    "Lookup",
    "Place",
    "Remainder",
    "Space",
    "extent",
    "form",
    "letters_for",
    "named",
    "value_of",
]

Index: TypeAlias = str | int

LETTERS = "ijklmnpqrstuvwabcdefgh"
"""Names for indices, in the order in which people take them."""


def extent(index: str) -> int:
    """How far an index runs: its name says so."""
    return int(index.partition(":")[2])


@dataclass
class Space:
    """Gives out the indices of one derivation, each new."""

    used: int = 0

    def fresh(self, size: int, letter: str = "") -> Index:
        """A new index, to be shown as the letter if that is free; an axis of size 1 needs none."""
        if size == 1:
            return 0
        self.used += 1
        return f"{letter}_{self.used}:{size}"

    def axes(self, shape: Shape, letters: str = "") -> tuple[Index, ...]:
        """A new index for each axis."""
        shown = letters if len(letters) == len(shape) else [""] * len(shape)
        return tuple(self.fresh(size, letter) for size, letter in zip(shape, shown, strict=True))


def named(indices: tuple[Index, ...], names: Mapping[Index, str]) -> list[str]:
    """The names of indices; a number stands for itself."""
    return [names[index] if isinstance(index, str) else str(index) for index in indices]


def letters_for(indices: tuple[Index, ...], taken: str = "") -> dict[Index, str]:
    """A letter for each index, none of those taken."""
    names: dict[Index, str] = {}
    for index in indices:
        if isinstance(index, str) and index not in names:
            used = {*taken, *names.values()}
            # An index may come with the letter that an equation gives it.
            own = index.partition("_")[0]
            spare = [letter for letter in (own, *LETTERS) if letter and letter not in used]
            names[index] = next(iter(spare), f"z{len(names)}")
    return names


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left of a form after division."""

    form: Form
    by: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """An element of an array of whole numbers, none of which reaches `below`."""

    name: str
    indices: tuple[Index, ...]
    below: int


Atom: TypeAlias = str | Remainder | Lookup


@dataclass(frozen=True, slots=True)
class Form:
    """`offset + Σ factor·atom`; an index that cancels is not there."""

    terms: tuple[tuple[Atom, int], ...] = ()
    offset: int = 0

    def __add__(self, other: Form | int) -> Form:
        more = form(other)
        factors = dict(self.terms)
        for atom, factor in more.terms:
            factors[atom] = factors.get(atom, 0) + factor
        kept = tuple((atom, factor) for atom, factor in factors.items() if factor)
        return Form(kept, self.offset + more.offset)

    def __mul__(self, factor: int) -> Form:
        terms = tuple((atom, own * factor) for atom, own in self.terms) if factor else ()
        return Form(terms, self.offset * factor)

    def __sub__(self, other: Form | int) -> Form:
        return self + form(other) * -1

    @property
    def index(self) -> str | None:
        """The index that this form is, if it is nothing more."""
        if len(self.terms) == 1 and not self.offset:
            atom, factor = self.terms[0]
            return atom if factor == 1 and isinstance(atom, str) else None
        return None

    @property
    def names(self) -> dict[str, None]:
        """Every index on which the value depends, in the order in which they are met."""
        found: dict[str, None] = {}
        for atom, _ in self.terms:
            if isinstance(atom, str):
                found[atom] = None
            elif isinstance(atom, Lookup):
                found |= {i: None for i in atom.indices if isinstance(i, str)}
            else:
                found |= atom.form.names
        return found

    @property
    def range(self) -> tuple[int, int]:
        """Bounds of the value over all indices."""
        low = high = self.offset
        for atom, factor in self.terms:
            ends = [factor * end for end in _atom_range(atom)]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def with_names(self, names: Mapping[str, Form]) -> Form:
        """Forms put in the place of indices."""
        result = Form((), self.offset)
        for atom, factor in self.terms:
            result += _atom_with(atom, names) * factor
        return result

    def solved(self, name: str) -> Form | None:
        """What the index must be for the form to be 0; None where that is not one linear form."""
        factors = dict(self.terms)
        factor = factors.pop(name, 0)
        rest = Form(tuple(factors.items()), self.offset)
        if factor not in (1, -1) or name in rest.names:
            return None
        return rest * -factor


Place: TypeAlias = Form | Index
"""Where an element lies along one axis."""


def form(value: Place) -> Form:
    """An index or a number as a form."""
    if isinstance(value, Form):
        return value
    return Form((), value) if isinstance(value, int) else Form(((value, 1),))


def _atom_range(atom: Atom) -> tuple[int, int]:
    if isinstance(atom, str):
        return 0, extent(atom) - 1
    if isinstance(atom, Remainder):
        return 0, atom.by - 1
    return 0, atom.below - 1


def _atom_with(atom: Atom, names: Mapping[str, Form]) -> Form:
    if isinstance(atom, str):
        return names.get(atom, form(atom))
    if isinstance(atom, Lookup):
        indices = []
        for index in atom.indices:
            new = names.get(index) if isinstance(index, str) else None
            plain = index if new is None else new.index if new.terms else new.offset
            if plain is None:
                raise ValueError("an array of whole numbers is read at plain indices only")
            indices.append(plain)
        return Form(((Lookup(atom.name, tuple(indices), atom.below), 1),))
    return Form(((Remainder(atom.form.with_names(names), atom.by), 1),))


def value_of(
    place: Form, at: Mapping[str, Any], lookup: Callable[[str, tuple[Index, ...]], Any]
) -> Any:
    """The values of a form, given an array of values for each index."""
    total: Any = np.asarray(place.offset)
    for atom, factor in place.terms:
        if isinstance(atom, str):
            value = at[atom]
        elif isinstance(atom, Lookup):
            value = lookup(atom.name, atom.indices)
        else:
            value = value_of(atom.form, at, lookup) % atom.by
        total = total + factor * value
    return total
