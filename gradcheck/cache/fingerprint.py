"""A short text that changes when a case does, and only then."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from gradcheck.model import Case, Location, TargetKind

_LEAVES = frozenset({str, bytes, bool, int, float, complex, type(None)})
"""What `repr` tells apart from everything else, and by itself."""


def fingerprint(case: Case, sources: str) -> str:
    """The text of a case; `sources` stands for the code of the user's that it may run.

    Places do not count: a case that moves down its file is still the same.
    """
    parts = _plain(case)
    if case.target.kind in (TargetKind.FUNCTION, TargetKind.LAYER):
        parts = (parts, sources)
    # A whole suite is waiting: what is left to Python here is only what C cannot do.
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain(value: Any) -> Any:
    """Tuples of leaves, with a name in front where two kinds might otherwise look the same."""
    kind: Any = type(value)
    return _form(kind)(value)


def _all(values: Sequence[Any]) -> list[Any]:
    return [value if type(value) in _LEAVES else _plain(value) for value in values]


@functools.cache
def _form(kind: type) -> Callable[[Any], Any]:
    """How the values of a type are made plain."""
    name = kind.__name__
    if kind is Location:
        return lambda _: name
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        values = attrgetter(*names) if len(names) > 1 else lambda one: (getattr(one, names[0]),)
        return lambda value: (name, *_all(values(value)))
    if issubclass(kind, np.ndarray):
        return lambda array: (
            name,
            str(array.dtype),
            array.shape,
            np.ascontiguousarray(array).tobytes(),
        )
    if issubclass(kind, Mapping):
        return _mapping
    if issubclass(kind, Sequence) and not issubclass(kind, str | bytes):
        return lambda items: ("sequence", *_all(items))
    return lambda value: (name, repr(value))


def _mapping(value: Mapping[Any, Any]) -> Any:
    keys = sorted(value, key=repr)
    return ("mapping", *_all(keys), *_all([value[key] for key in keys]))
