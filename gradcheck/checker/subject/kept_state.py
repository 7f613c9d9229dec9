"""What a function keeps from call to call: put back after each, so that every call is the first.

Averages, seeds, counters and caches belong to the user. A check that calls a function a thousand
times leaves them as they were; and a layer that draws its dropout from a seed that it advances is
the same function each time once the seed is put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.checker.subject.recording import Resource


class KeptState:
    """The variables that calls may change, and the attributes of the objects that are called.

    Without it `test_every_layer_is_left_as_it_was` fails.
    """

    def __init__(self, objects: Iterable[Any]) -> None:
        """Note the attributes of these; nothing has been called yet."""
        self._attributes: list[tuple[dict[str, Any], dict[str, tuple[Any, Any]]]] = []
        self._resources: dict[int, Resource] = {}
        self.attend(objects)

    def attend(self, objects: Iterable[Any]) -> None:
        """Note the attributes of these as they are now, and forget those of others."""
        self._attributes = [(vars(thing), _copied(vars(thing))) for thing in objects]

    def add(self, resources: Iterable[Resource]) -> None:
        """Take on what a call was seen to touch; what is known already keeps its first value."""
        for resource in resources:
            known = self._resources.setdefault(id(resource.handle), resource)
            if known.before is None:
                known.before = resource.before
            known.written |= resource.written

    def after_call(self) -> None:
        """Put back what a call changes."""
        for resource in self._resources.values():
            if resource.written:
                _assign(resource)
        self._put_attributes_back()

    def put_back(self) -> None:
        """Put back everything, whatever was done to it."""
        for resource in self._resources.values():
            _assign(resource)
        self._put_attributes_back()

    def _put_attributes_back(self) -> None:
        for own, before in self._attributes:
            if own.keys() != before.keys():
                for name in own.keys() - before.keys():
                    del own[name]
            for name, (value, copy) in before.items():
                if own.get(name, _ABSENT) is not value:
                    own[name] = value
                if copy is not None and not _same_items(_container(value), copy):
                    _refill(_container(value), copy)


_ABSENT = object()


def _assign(resource: Resource) -> None:
    import tensorflow as tf

    if resource.before is not None:
        tf.raw_ops.AssignVariableOp(resource=resource.handle, value=resource.before)


def _copied(attributes: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """By name: the object itself, and a copy of what it holds if it is a plain container."""
    return {name: (value, _copy(value)) for name, value in attributes.items()}


def _copy(value: Any) -> Any:
    container = _container(value)
    for kind in (list, dict, set):
        if isinstance(container, kind):
            return kind(container)
    return None


def _container(value: Any) -> Any:
    """The plain container behind those in which TensorFlow's modules wrap lists and dictionaries.

    To them a list that is refilled would be one that cannot be saved any more.
    """
    if type(value).__module__.startswith("tensorflow."):
        return getattr(value, "_storage", getattr(value, "__wrapped__", value))
    return value


def _same_items(one: Any, other: Any) -> bool:
    """Whether two containers of a kind hold the same objects."""
    if len(one) != len(other):
        return False
    if isinstance(one, dict):
        return all(one.get(key, _ABSENT) is value for key, value in other.items())
    if isinstance(one, set):
        return {id(item) for item in one} == {id(item) for item in other}
    return all(a is b for a, b in zip(one, other, strict=True))


def _refill(container: Any, items: Any) -> None:
    # (As the plain container that it is: Keras' own would take note of what it is given.)
    kind = type(items)
    kind.clear(container)
    (list.extend if kind is list else kind.update)(container, items)
