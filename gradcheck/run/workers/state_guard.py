"""Sees to it that a user's function leaves its worker as it found it, or is the last one in there.

Cases share a worker. A function that sets Keras' epsilon, patches `tf.tanh` or leaves an alarm
would change what is said of the cases after it. So the state that matters is looked at before and
after a user's function, and nothing of it for ops and expressions, which cannot change it.
"""

from __future__ import annotations

import dataclasses
import reprlib
import types
from typing import TYPE_CHECKING, Any

from gradcheck.model import LEFT_CHANGED, TargetKind
from gradcheck.run.workers import tensorflow_settings
from gradcheck.run.workers.around_case import seed_generators
from gradcheck.run.workers.process_settings import (
    disarm,
    namespaces_of_python,
    of_python,
    what_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.model import Case, Result

MOST_TOLD = 4
"""How many changes are told of one case; of more, their number."""

_GONE = "gone"


class StateGuard:
    """The state of this process, from before the first function of the user's."""

    def __init__(self, root: str) -> None:
        self._readers = {
            **of_python(root),
            **tensorflow_settings.of_tensorflow(),
            **tensorflow_settings.of_keras(),
        }
        named = {**namespaces_of_python(), **tensorflow_settings.namespaces_of_tensorflow()}
        self._namespaces = _Namespaces(named)
        self._read_all = tuple(self._readers.values())
        self._raw_ops = _Namespaces(tensorflow_settings.raw_ops())
        self._before: list[Any] | None = None
        self._put_seed_back: Callable[[], None] = lambda: None
        self._of_layer = False

    def begin(self, case: Case) -> None:
        """Look at everything, and let random numbers begin anew, whatever was drawn before."""
        seed_generators(case.seed)
        self._of_layer = case.target.kind is TargetKind.LAYER
        if self._of_layer:
            self._put_seed_back = tensorflow_settings.keep_seed()
        if self._before is None:
            self._before = self._read()

    def pass_by(self, case: Case) -> bool:
        """A case without code of the user's comes; False if it must not run here.

        It may load a library: what follows is looked at anew.
        """
        self._before = None
        named = "raw_ops" in case.target.text
        return not (named and self._raw_ops.changes())

    def changes(self) -> list[str]:
        """What is not as it was, in words. Timers are stopped, so that there is time to tell."""
        if self._of_layer:
            self._put_seed_back()
        before, after = self._before or [], self._read()
        found: list[str] = []
        if not _same(after, before):
            disarm()
            for name, old, new in zip(self._readers, before, after, strict=True):
                if not _same(what_counts(name, old), what_counts(name, new)):
                    found.append(f"{name}{_told(old, new)}")
            self._before = None
        return found + self._namespaces.changes()

    def _read(self) -> list[Any]:
        try:
            return [read() for read in self._read_all]
        except Exception:  # a folder that is gone, a thing that was patched
            return [_value(read) for read in self._read_all]


class _Namespaces:
    """Names and what they stand for, of modules and registries.

    What comes to one changes nothing for others, nor does a module that is loaded when it is first
    asked for. Without it `test_a_later_case_has_the_verdict_that_it_has_alone` fails.
    """

    def __init__(self, named: Mapping[str, Mapping[str, Any]]) -> None:
        self._named = dict(named)
        self._contents = tuple(named.values())
        self._keep()

    def _keep(self) -> None:
        self._names = [tuple(contents) for contents in self._contents]
        self._values = self._read()

    def _read(self) -> list[tuple[Any, ...]]:
        return [tuple(contents.values()) for contents in self._contents]

    def changes(self) -> list[str]:
        # A tuple compares its elements by identity first: a hundred take a microsecond.
        if _same(self._read(), self._values):
            return []
        found = []
        for space, names, values in zip(self._named, self._names, self._values, strict=True):
            contents = self._named[space]
            for name, old in zip(names, values, strict=True):
                new = contents.get(name, _GONE)
                if new is not old and not isinstance(old, types.ModuleType):
                    what = "is gone" if new is _GONE else "is another"
                    found.append(f"{space}: {_clipped(str(name))} {what}")
        self._keep()
        return found


def _value(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:
        return type(error).__name__


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # what was put there need not be comparable
        return False


def _told(old: Any, new: Any) -> str:
    simple = (bool, int, float, str)
    if isinstance(old, simple) and isinstance(new, simple):
        return f" ({_clipped(repr(old))} before, {_clipped(repr(new))} now)"
    return ""


def _clipped(text: str) -> str:
    return reprlib.repr(text)[1:-1]


def with_note(result: Result, changes: list[str]) -> Result:
    """The result of the case that made the changes, which says so."""
    told = "; ".join(changes[:MOST_TOLD]).replace("; ", ", ")
    more = len(changes) - MOST_TOLD
    told += f" and {more} more" if more > 0 else ""
    note = f"{LEFT_CHANGED}{told}"
    if result.message or not result.comparisons:
        separator = "; " if result.message else ""
        return dataclasses.replace(result, message=f"{result.message}{separator}{note}")
    first, *others = result.comparisons
    joined = f"{first.note}; {note}" if first.note else note
    return dataclasses.replace(
        result, comparisons=(dataclasses.replace(first, note=joined), *others)
    )
