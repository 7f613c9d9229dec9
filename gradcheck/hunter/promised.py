"""What a call must keep for anything to be promised: ends in their order, places in theirs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.hunter.drafts import Draft, array_of, tensors

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.model import Array

_ENDS = (("min", "max"), ("low", "high"), ("lower", "upper"))


@dataclass(frozen=True, slots=True)
class Triple:
    """The names of three parameters that are one sparse tensor, or lists of them."""

    places: str
    values: str
    shape: str


def triples(names: Collection[str]) -> list[Triple]:
    """The sparse tensors among parameters, by their names: `a_indices`, `a_values`, `a_shape`."""
    found = []
    for name in (name for name in names if name.endswith("indices")):
        start = name.removesuffix("indices")
        ends = ("shape", "shapes", "dense_shape")
        shape = next((start + end for end in ends if start + end in names), None)
        if shape is not None and f"{start}values" in names:
            found.append(Triple(name, f"{start}values", shape))
    return found


def is_in_order(draft: Draft) -> bool:
    """Whether lower ends lie below upper ones, and places of sparse tensors in their order.

    Both by their names: else nothing is promised.
    """
    named = {str(path[-1]): array_of(entry) for path, entry in tensors(draft)}
    return _ends_in_order(named) and _places_in_order(draft)


def _ends_in_order(named: dict[str, Array | None]) -> bool:
    for name, low in named.items():
        for one, other in _ENDS:
            high = named.get(name.replace(one, other)) if one in name else None
            if low is None or high is None or not low.size or not high.size:
                continue
            if np.max(np.real(low)) > np.min(np.real(high)):
                return False
    return True


def _places_in_order(draft: Draft) -> bool:
    """Each place once, row by row, and inside of the tensor."""
    if not isinstance(draft["inputs"], dict):
        return True
    known = {path: array_of(entry) for path, entry in tensors(draft)}
    for triple in triples(draft["inputs"].keys()):
        for path, array in known.items():
            if path[0] != triple.places or array is None or array.ndim != 2:
                continue
            rows = [tuple(row) for row in array.tolist()]
            if any(one >= other for one, other in itertools.pairwise(rows)):
                return False
            shape = known.get((triple.shape, *path[1:]))
            if shape is None or shape.shape != array.shape[1:]:
                continue
            if not ((array >= 0) & (array < shape)).all():
                return False
    return True
