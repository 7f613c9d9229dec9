"""Structures of tensors as a flat list, each leaf with the path that leads to it, and back.

Dictionaries, lists, tuples, named tuples and data classes are looked into; so are ragged and sparse
tensors and slices, of which the values are the leaf. Whatever else stands in a structure (None,
texts, flags) stays where it is.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradcheck.model.frozen import frozen

Build = Callable[[Iterator[Any]], Any]
"""New leaves, in order, to the structure with these in the place of the old ones."""


@frozen(slots=True)
class Flat:
    """A structure taken apart."""

    paths: tuple[str, ...]
    leaves: tuple[Any, ...]
    build: Build

    @property
    def is_leaf(self) -> bool:
        """Whether the structure is nothing but its one leaf."""
        return self.build is next


def flatten(thing: Any, path: str) -> Flat:
    """The leaves of an argument; one that is no structure is a leaf itself."""
    parts = None if isinstance(thing, np.ndarray | np.generic) else _parts(thing, path)
    return _leaf(thing, path) if parts is None else parts


def _leaf(thing: Any, path: str) -> Flat:
    return Flat((path,), (thing,), next)


def _parts(thing: Any, path: str) -> Flat | None:
    """A structure taken apart; None where it is none."""
    composite = _composite(thing, path)
    if composite is not None:
        return composite
    if isinstance(thing, Mapping):
        # (In the order in which TensorFlow takes them.)
        keys = sorted(thing, key=str)
        items = [(key, _inner(thing[key], f"{path}[{key!r}]")) for key in keys]
        return _gathered(
            [flat for _, flat in items],
            lambda values: _like_mapping(thing, dict(zip(keys, values, strict=True))),
        )
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        fields = [_inner(getattr(thing, name), f"{path}.{name}") for name in thing._fields]
        return _gathered(fields, lambda values: type(thing)(*values))
    if isinstance(thing, list | tuple) and not _is_numbers(thing):
        inner = [_inner(item, f"{path}[{i}]") for i, item in enumerate(thing)]
        return _gathered(inner, type(thing))
    names = _fields(thing)
    if names is not None:
        inner = [_inner(getattr(thing, name), f"{path}.{name}") for name in names]
        return _gathered(inner, lambda values: _with_fields(thing, names, values))
    return None


def _fields(thing: Any) -> list[str] | None:
    """The fields of a data class, or of one that attrs made; None where this is none."""
    if isinstance(thing, type):
        return None
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    made = getattr(type(thing), "__attrs_attrs__", None)
    return None if made is None else [field.name for field in made]


def _with_fields(thing: Any, names: list[str], values: list[Any]) -> Any:
    """A copy with other values; set past whatever guards a frozen one."""
    other = copy.copy(thing)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(other, name, value)
    return other


def _inner(thing: Any, path: str) -> Flat:
    """A part of a structure: a leaf if it is a tensor, looked into if it is a structure."""
    parts = _parts(thing, path)
    if parts is not None:
        return parts
    if isinstance(thing, float | complex | np.ndarray | list | tuple) or hasattr(thing, "dtype"):
        return _leaf(thing, path)
    return Flat((), (), lambda _: thing)


def _gathered(parts: list[Flat], build: Callable[[list[Any]], Any]) -> Flat:
    return Flat(
        tuple(path for part in parts for path in part.paths),
        tuple(leaf for part in parts for leaf in part.leaves),
        lambda leaves: build([part.build(leaves) for part in parts]),
    )


def _like_mapping(thing: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """The mapping with other values, its keys in their own order."""
    if isinstance(thing, dict):
        filled = copy.copy(thing)
        for key in thing:
            filled[key] = values[key]
        return filled
    return type(thing)({key: values[key] for key in thing})  # type: ignore[call-arg]


def _composite(thing: Any, path: str) -> Flat | None:
    """A ragged or sparse tensor, or slices."""
    tf = sys.modules.get("tensorflow")
    if tf is None:
        return None
    if isinstance(thing, tf.RaggedTensor):
        name = "values" if thing.ragged_rank == 1 else "flat_values"
        return _values(thing.flat_values, f"{path}.{name}", thing.with_flat_values)
    if isinstance(thing, tf.SparseTensor):
        return _values(
            thing.values,
            f"{path}.values",
            lambda values: tf.SparseTensor(thing.indices, values, thing.dense_shape),
        )
    if isinstance(thing, tf.IndexedSlices):
        return _values(
            thing.values,
            f"{path}.values",
            lambda values: tf.IndexedSlices(values, thing.indices, thing.dense_shape),
        )
    return None


def _values(values: Any, path: str, build: Callable[[Any], Any]) -> Flat:
    return Flat((path,), (values,), lambda leaves: build(next(leaves)))


def _is_numbers(thing: Any) -> bool:
    """Whether this is a nest of plain numbers: then it is meant as one array."""
    if isinstance(thing, list | tuple):
        return bool(thing) and all(_is_numbers(item) for item in thing)
    return isinstance(thing, bool | int | float | complex | np.generic)
