"""What a function keeps from call to call: put back after each, so that every call is the first.

Averages, seeds, counters and caches belong to the user. A check that calls a function a thousand
times leaves them as they were; and a layer that draws its dropout from a seed that it advances is
the same function each time once the seed is put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.kept_contents import Contents, contents_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.checker.subject.recording import Resource


class KeptState:
    """The variables that calls may change, and the attributes of the objects that are called.

    Without it `test_every_layer_is_left_as_it_was` fails.
    """

    def __init__(self, objects: Iterable[Any]) -> None:
        """Note the attributes of these; nothing has been called yet."""
        self._attributes: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._contents: list[Contents] = []
        self._resources: dict[int, Resource] = {}
        self.attend(objects)

    def attend(self, objects: Iterable[Any]) -> None:
        """Note the attributes of these as they are now, and forget those of others."""
        self._attributes = [(vars(thing), dict(vars(thing))) for thing in objects]
        self._contents = contents_of(
            value for _, before in self._attributes for value in before.values()
        )

    def forget_since(self, earlier: KeptState) -> None:
        """Take the attributes for what they were when another state was noted."""
        self._attributes, self._contents = earlier._attributes, earlier._contents

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
            for name, value in before.items():
                if own.get(name, _ABSENT) is not value:
                    own[name] = value
        for contents in self._contents:
            contents.put_back()


_ABSENT = object()


def _assign(resource: Resource) -> None:
    import tensorflow as tf

    if resource.before is not None:
        tf.raw_ops.AssignVariableOp(resource=resource.handle, value=resource.before)
