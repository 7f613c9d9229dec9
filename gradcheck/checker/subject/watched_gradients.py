"""Which of TensorFlow's registered gradient functions are called on the way back.

Every one of them is looked up in a registry, by tapes and by graphs alike. While somebody watches,
what stands there hands out the same functions, each of which tells when it is called and for what
op. A function under `tf.custom_gradient` is not looked up there, nor is what its output does not
depend on: neither is seen, for neither was called.

A traced function has its gradient traced once, when it is first recorded, and that is long before
the way back that uses it: what is called then is kept by the name of the graph that it made, and
counts when that graph runs.
"""

from __future__ import annotations

import functools
import re
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.private_names import (
    Absent,
    Private,
    definition_of_op,
    private,
    replaced,
)
from gradcheck.checker.subject.recording import functions_inside
from gradcheck.model.called_gradients import GradientCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST_ATTRIBUTES = 200
"""How many characters of an op's attributes are kept."""

_TOLD = ("int", "float", "bool", "string", "list(int)", "list(float)", "list(bool)", "list(string)")
"""The kinds of attributes that are a few words long."""

_BACKWARD = "__backward_"
"""How TensorFlow names the graph of the gradient of a traced function."""

_NAME = re.compile(rf"(?:__inference_)?({_BACKWARD}.*?)(?:_\d+)?")
"""And the function that is made of it, with a number behind."""


class _Watch:
    """What is seen while somebody watches; there is one at most."""

    def __init__(self) -> None:
        self.going_back: set[GradientCall] | None = None
        """What was called on the way back that is under way; None while there is none."""
        self._wrapped: dict[str, tuple[Any, Callable[..., Any]]] = {}

    def noting(self, name: str, gradient: Callable[..., Any]) -> Callable[..., Any]:
        """The gradient function, which tells that it is called."""
        known = self._wrapped.get(name)
        if known is not None and known[0] is gradient:
            return known[1]

        @functools.wraps(gradient)
        def noted(op: Any, *rest: Any) -> Any:
            self._note(_call(name, op))
            return gradient(op, *rest)

        self._wrapped[name] = gradient, noted
        return noted

    def ran(self, name: str) -> None:
        """A function runs on the way back: what its gradient graphs were made of counts."""
        if self.going_back is not None:
            for function in functions_inside(name) or (name,):
                self.going_back |= _TRACED.get(_graph_of(function), set())

    def _note(self, call: GradientCall) -> None:
        if self.going_back is not None:
            self.going_back.add(call)
        graph = _backward_graph()
        if graph:
            _TRACED.setdefault(graph, set()).add(call)


_TRACED: dict[str, set[GradientCall]] = {}
"""By the name of a gradient's graph: what was called to make it. Kept as long as the process is: so
are the graphs of a library's functions, which other cases run too."""

_watch: _Watch | None = None


class _Registry:
    """Stands where TensorFlow's registry of gradients does."""

    def __init__(self, real: Any, watch: _Watch) -> None:
        self._real, self._watch = real, watch

    def lookup(self, name: str) -> Any:
        """The gradient function of that name, or None for an op that has none."""
        found = self._real.lookup(name)
        return found if found is None else self._watch.noting(str(name), found)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@contextmanager
def watching() -> Iterator[None]:
    """Within this, every `going_back` knows what it called; nothing where TensorFlow hides it."""
    global _watch  # noqa: PLW0603  (TensorFlow's registry is one for the process, too)
    watch = _Watch()
    with ExitStack() as stack:
        try:
            for name in (Private.REGISTRY, Private.GRAPH_REGISTRY):
                stack.enter_context(replaced(name, _Registry(private(name), watch)))
        except Absent:
            yield
            return
        _watch = watch
        try:
            yield
        finally:
            _watch = None


@contextmanager
def going_back(calls: set[GradientCall]) -> Iterator[None]:
    """Within this, a way back adds what it calls, if anybody watches.

    Args:
        calls: to which it is added.
    """
    watch = _watch
    if watch is None or watch.going_back is not None:
        yield
        return
    import tensorflow as tf

    watch.going_back = calls
    try:
        if tf.executing_eagerly():
            with _functions_noted(watch):
                yield
        else:
            graph = tf.compat.v1.get_default_graph()
            before = {op.name for op in graph.get_operations()}
            yield
            for op in graph.get_operations():
                if op.name not in before and op.type in _CALLS:
                    watch.ran(op.get_attr("f").name)
    finally:
        watch.going_back = None


_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


@contextmanager
def _functions_noted(watch: _Watch) -> Iterator[None]:
    """Within this, the watch hears of every traced function that runs."""
    try:
        slow = private(Private.SLOW)
    except Absent:
        yield
        return

    def noted(context: Any, device: Any, kind: Any, *rest: Any) -> Any:
        name = kind.decode() if isinstance(kind, bytes) else str(kind)
        if _BACKWARD in name:
            watch.ran(name)
        return slow(context, device, kind, *rest)

    with replaced(Private.SLOW, noted):
        yield


def _graph_of(function: str) -> str:
    found = _NAME.fullmatch(function)
    return found[1] if found else function


def _backward_graph() -> str:
    """The name of the gradient's graph that is being made; empty where none is."""
    import tensorflow as tf

    if tf.executing_eagerly():
        return ""
    graph = tf.compat.v1.get_default_graph()
    while graph is not None:
        name = str(getattr(graph, "name", ""))
        if name.startswith(_BACKWARD):
            return name
        graph = getattr(graph, "outer_graph", None)
    return ""


def _call(name: str, op: Any) -> GradientCall:
    """What is known of the op whose gradient function is called; no more than that may be."""
    with suppress(Exception):
        given = getattr(op, "attrs", None)
        if isinstance(given, tuple):
            return _described(name, tuple(zip(map(_text, given[::2]), given[1::2], strict=True)))
        told = {a.name: op.get_attr(a.name) for a in definition_of_op(op.type).attr}
        return _described(name, tuple((k, _hashable(value)) for k, value in told.items()))
    return GradientCall(name)


@functools.lru_cache(maxsize=4096)
def _described(name: str, given: tuple[tuple[str, Any], ...]) -> GradientCall:
    import tensorflow as tf

    kinds = {attribute.name: attribute.type for attribute in definition_of_op(name).attr}
    dtypes: set[str] = set()
    words: list[str] = []
    for key, value in given:
        kind = kinds.get(key, "")
        if kind in ("type", "list(type)"):
            listed = value if isinstance(value, list | tuple) else (value,)
            types = [tf.as_dtype(each) for each in listed]
            dtypes |= {d.base_dtype.name for d in types if d.is_floating or d.is_complex}
        elif kind in _TOLD:
            words.append(f"{key}={_text(value)}")
    text = " ".join(sorted(words))
    return GradientCall(name, dtypes=tuple(sorted(dtypes)), attributes=text[:LONGEST_ATTRIBUTES])


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    return str(value)
