"""Attributes that have other values in one thread, and their own in all others.

An object that is checked may be in use meanwhile, by a thread that trains it or serves it. So
nothing is written into it: for the time of a check the classes look such attributes up themselves,
and tell one thread something else.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_here = threading.local()
"""Its `attributes`: by the identity of an object, what this thread is told of it."""


class Seen:
    """Within this, this thread is told other attributes; it may be entered again inside."""

    def __init__(self, others: Iterable[tuple[Any, Mapping[str, Any]]]) -> None:
        """Nobody is told anything yet.

        Args:
            others: objects, which stay, and those of their attributes that are others within.
        """
        self._held = list(others)
        self._before: list[dict[int, dict[str, Any]]] = []

    def __enter__(self) -> None:
        before = _told()
        self._before.append(before)
        _here.attributes = {**before, **{id(each): dict(told) for each, told in self._held}}

    def __exit__(self, *_: object) -> None:
        _here.attributes = self._before.pop()


@contextmanager
def looked_up(classes: Iterable[type], names: Iterable[str]) -> Iterator[None]:
    """Within this, what `Seen` tells of objects of these classes is found.

    Without it `test_another_thread_has_the_layer_as_it_is` fails.

    Args:
        classes: have no such attributes themselves, only their objects.
        names: of the attributes.
    """
    wanted = [(kind, name) for kind in classes for name in names]
    # (A class that has been changed a thousand times is slow for good: not for every call.)
    with _lock:
        for place in wanted:
            _users[place] = _users.get(place, 0) + 1
            if _users[place] == 1:
                setattr(*place, _LookedUp(place[1]))
    try:
        yield
    finally:
        with _lock:
            for place in wanted:
                _users[place] -= 1
                if not _users[place]:
                    delattr(*place)


_lock = threading.Lock()
_users: dict[tuple[type, str], int] = {}
"""By class and name: how many look it up at present."""


class _LookedUp:
    """An attribute of a class's objects; without `Seen` it is what stands in them, as ever."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, thing: Any, _kind: type | None = None) -> Any:
        told = _told().get(id(thing))
        if told is not None and self._name in told:
            return told[self._name]
        try:
            return vars(thing)[self._name]
        except (KeyError, TypeError):  # (of the class itself: it has none)
            raise AttributeError(self._name) from None

    def __set__(self, thing: Any, value: Any) -> None:
        told = _told().get(id(thing), {})
        (told if self._name in told else vars(thing))[self._name] = value

    def __delete__(self, thing: Any) -> None:
        if vars(thing).pop(self._name, self) is self:
            raise AttributeError(self._name)


def _told() -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = getattr(_here, "attributes", {})
    return found
