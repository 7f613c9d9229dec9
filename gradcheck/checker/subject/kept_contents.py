"""What containers and arrays hold, noted so that it can be put back into the very same objects."""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.subject.reachable import PLAIN_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """A list, dictionary, set or array, and what it held."""

    container: Any
    items: Any
    """A plain copy."""

    @property
    def is_changed(self) -> bool:
        """Whether it holds anything else by now."""
        if type(self.items) is np.ndarray:
            return bool(self.container.tobytes() != self.items.tobytes())
        return not _same_items(self.container, self.items)

    def now(self) -> Contents:
        """The same, with what it holds now."""
        if isinstance(self.container, np.ndarray):
            return Contents(self.container, self.container.copy())
        return Contents(self.container, type(self.items)(self.container))

    def put_back(self) -> None:
        """Give it back what it held, if it holds anything else."""
        if not self.is_changed:
            return
        if isinstance(self.container, np.ndarray):
            self.container[...] = self.items
        else:
            _refill(self.container, self.items)


def contents_of(values: Iterable[Any]) -> list[Contents]:
    """Of all the containers and small arrays among these values, and of those inside of them.

    Without it `test_containers_inside_of_containers` fails.
    """
    found: list[Contents] = []
    seen: set[int] = set()
    waiting = list(values)
    for value in waiting:
        if type(value) in PLAIN_TYPES:
            continue
        container = _plain(value)
        if id(container) in seen:
            continue
        items = _copy(container)
        if items is None:
            continue
        seen.add(id(container))
        found.append(Contents(container, items))
        if not isinstance(items, np.ndarray):
            waiting += list(items.values() if isinstance(items, dict) else items)
    return found


def _copy(container: Any) -> Any:
    """A plain copy; None of what is no container, or too large for settings and caches."""
    if isinstance(container, np.ndarray):
        small = container.size <= limits.REACHED_ITEMS and container.dtype != object
        return container.copy() if small and container.flags.writeable else None
    for kind in (list, dict, set):
        if isinstance(container, kind) and len(container) <= limits.REACHED_ITEMS:
            return kind(container)
    return None


def _plain(value: Any) -> Any:
    """The plain container behind those in which TensorFlow's modules wrap lists and dictionaries.

    To them a list that is refilled would be one that cannot be saved any more.
    """
    if type(value).__module__.startswith("tensorflow."):
        return getattr(value, "_storage", getattr(value, "__wrapped__", value))
    return value


_ABSENT = object()


def _same_items(one: Any, other: Any) -> bool:
    """Whether two containers of a kind hold the same objects."""
    if len(one) != len(other):
        return False
    if not other:
        return True
    if isinstance(one, dict):
        # (Mostly it is as it was, in its order too.)
        if all(map(is_, one, other)) and all(map(is_, one.values(), other.values())):
            return True
        return all(one.get(key, _ABSENT) is value for key, value in other.items())
    if isinstance(one, set):
        return {id(item) for item in one} == {id(item) for item in other}
    return all(map(is_, one, other))


def _refill(container: Any, items: Any) -> None:
    # (Keras' own containers take note of what they are given: they are refilled as what they are
    # made of. Those of the standard library, which may be ordered, in their own way.)
    kind = type(items)
    if type(container).__module__ in ("builtins", "collections"):
        kind = type(container)
    kind.clear(container)
    (kind.extend if isinstance(items, list) else kind.update)(container, items)
