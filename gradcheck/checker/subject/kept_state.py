"""What a function keeps from call to call: put back after each, so that every call is the first.

Averages, seeds, counters and caches belong to the user. A check that calls a function a thousand
times leaves them as they were; and a layer that draws its dropout from a seed that it advances is
the same function each time once the seed is put back.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.kept_contents import Contents, contents_of
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gradcheck.checker.subject.recording import Resource


@frozen(slots=True)
class Changes:
    """What calls changed, and was put back."""

    variables: list[tuple[Any, Any]]
    """Handles, and the values that were left."""
    attributes: list[tuple[dict[str, Any], dict[str, Any]]]
    """Those of objects, and what they were left as."""
    contents: list[Contents]

    def redo(self) -> None:
        """Change it again."""
        for handle, value in self.variables:
            _assign(handle, value)
        for own, left in self.attributes:
            _refit(own, left)
        for contents in self.contents:
            contents.put_back()


class KeptState:
    """The variables that calls may change, and the attributes of the objects that are called.

    Without it `test_every_layer_is_left_as_it_was` fails.
    """

    def __init__(self, objects: Iterable[Any]) -> None:
        """Note the attributes of these; nothing has been called yet."""
        self._attributes: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._contents: list[Contents] = []
        self._resources: dict[int, Resource] = {}
        self.is_watched = False
        """Whether it is known what a way back writes."""
        self.attend(objects)

    def attend(self, objects: Iterable[Any]) -> None:
        """Note the attributes of these as they are now, and forget those of others."""
        self._attributes = [(vars(thing), dict(vars(thing))) for thing in objects]
        self._contents = contents_of(
            value for _, before in self._attributes for value in before.values()
        )

    def copy(self) -> KeptState:
        """What is noted of attributes by now."""
        noted = KeptState(())
        noted.forget_since(self)
        return noted

    def forget_since(self, earlier: KeptState) -> None:
        """Take the attributes for what they were when another state was noted."""
        self._attributes, self._contents = earlier._attributes, earlier._contents

    def take_for_uncalled(self, earlier: KeptState) -> bool:
        """Take what a further call changes again for what it was in another state; if anything.

        What a first call builds stays; what every call changes is counted or kept for its own sake.
        Without it `test_what_is_built_is_kept_and_what_is_counted_is_not` fails.

        Args:
            earlier: noted before the first call.
        """
        then = {id(own): before for own, before in earlier._attributes}
        attributes = [
            (own, _uncalled(own, before, then.get(id(own), before)))
            for own, before in self._attributes
        ]
        held = {id(each.container): each for each in earlier._contents}
        contents = [
            held.get(id(each.container), each) if each.is_changed else each
            for each in self._contents
        ]
        before = self._attributes, self._contents
        self._attributes, self._contents = attributes, contents
        return any(a[1] is not b[1] for a, b in zip(attributes, before[0], strict=True)) or any(
            a is not b for a, b in zip(contents, before[1], strict=True)
        )

    def add(self, resources: Iterable[Resource]) -> None:
        """Take on what a call was seen to touch; what is known already keeps its first value."""
        for resource in resources:
            known = self._resources.setdefault(id(resource.handle), resource)
            if known.before is None:
                known.before = resource.before
            known.written |= resource.written

    def write_all(self) -> None:
        """Any variable may be written, and nobody sees it."""
        for resource in self._resources.values():
            resource.written = True

    def changes(self, touched: Collection[int] = ()) -> Changes:
        """What a call has changed that is not put back yet.

        Args:
            touched: the identities of the handles of further variables, which others may move.
        """
        known = [(key, r) for key, r in self._resources.items() if r.before is not None]
        return Changes(
            [
                (r.handle, _read(r) if r.written else r.before)
                for key, r in known
                if r.written or key in touched
            ],
            [(own, dict(own)) for own, _ in self._changed_attributes()],
            [each.now() for each in self._contents if each.is_changed],
        )

    def after_call(self) -> None:
        """Put back what a call changes."""
        for resource in self._resources.values():
            if resource.written:
                _assign(resource.handle, resource.before)
        self._put_attributes_back()

    def put_back(self) -> None:
        """Put back everything, whatever was done to it."""
        for resource in self._resources.values():
            _assign(resource.handle, resource.before)
        self._put_attributes_back()

    def _changed_attributes(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Those that may not be as they were, and what they were."""
        for own, before in self._attributes:
            # (In another order they may be the same: whoever looks finds nothing to do.)
            same = own.keys() == before.keys() and all(map(is_, own.values(), before.values()))
            if not same:
                yield own, before

    def _put_attributes_back(self) -> None:
        for own, before in self._changed_attributes():
            _refit(own, before)
        for contents in self._contents:
            contents.put_back()


_ABSENT = object()


def _uncalled(own: dict[str, Any], built: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    """What was built, but for that which was changed then and has changed again."""
    counted = {
        name
        for name in own.keys() | built.keys()
        if _differ(own, built, name) and _differ(built, first, name)
    }
    if not counted:
        return built
    kept = {name: value for name, value in built.items() if name not in counted}
    return kept | {name: first[name] for name in counted if name in first}


def _differ(one: dict[str, Any], other: dict[str, Any], name: str) -> bool:
    return one.get(name, _ABSENT) is not other.get(name, _ABSENT)


def _refit(own: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Give an object these attributes, and no others."""
    for name in own.keys() - wanted.keys():
        del own[name]
    for name, value in wanted.items():
        if own.get(name, _ABSENT) is not value:
            own[name] = value


def _assign(handle: Any, value: Any) -> None:
    import tensorflow as tf

    if value is not None:
        tf.raw_ops.AssignVariableOp(resource=handle, value=value)


def _read(resource: Resource) -> Any:
    import tensorflow as tf

    return tf.raw_ops.ReadVariableOp(resource=resource.handle, dtype=resource.before.dtype)
