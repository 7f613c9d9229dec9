"""Which of TensorFlow's registered gradient functions are called on the way back.

Every one of them is looked up in a registry, by tapes and by graphs alike. While somebody watches,
what stands there hands out the same functions, each of which tells when it is called and for what
op. A function under `tf.custom_gradient` is not looked up there, nor is what the output does not
depend on: neither is seen, for neither was called.

A traced function has its gradient traced once, when it is first recorded, and that is long before
the way back that uses it: what is called then is kept by the name of the graph that it made, and
counts when that graph runs.
"""

from __future__ import annotations

import functools
import re
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.described_op import described_call
from gradcheck.checker.subject.private_names import (
    Absent,
    Private,
    private,
    replaced,
)
from gradcheck.checker.subject.recording import functions_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType

    from gradcheck.model.called_gradients import GradientCall

_BACKWARD = "__backward_"
"""How TensorFlow names the graph of the gradient of a traced function."""

_NAME = re.compile(rf"(?:__inference_)?({_BACKWARD}.*?)(?:_\d+)?")
"""And the function that is made of it, with a number behind."""

_MADE_UP = re.compile(r"-\d+$")
"""How names end under which TensorFlow registers gradients for its own use, as that of a function
under `tf.custom_gradient` in a graph: they are others in each run."""


class _WayBack:
    """What is called on one way back, and which of that its end depends on.

    A gradient that is handed to what passes nothing on (an op that is registered as not
    differentiable, a gradient function that returns None) ends there, and whoever made it has no
    part in what is judged. `test_a_gradient_that_leads_nowhere_does_not_count` fails without it.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[GradientCall | None, tuple[Any, ...], tuple[Any, ...]]] = []
        """What was called, if anything, what it took and what it gave."""
        self.before: set[GradientCall] = set()
        """What was called when a graph was made that ran on this way."""

    def add(self, call: GradientCall | None, taken: Iterable[Any], given: Any) -> None:
        """Go one step."""
        listed = given if isinstance(given, list | tuple) else (given,)
        passed_on = tuple(gradient for gradient in listed if gradient is not None)
        self._steps.append((call, tuple(taken), passed_on))

    def counted(self) -> set[GradientCall]:
        """What was called and has a part in the end."""
        found = set(self.before)
        # (One tensor may be the gradient of several inputs, and go several ways.)
        ways = Counter(id(gradient) for _, _, given in self._steps for gradient in given)
        leading: set[int] = set()
        for call, taken, given in reversed(self._steps):
            # (A way on which nobody was seen may lead to a source, or into a sum.)
            live = any(id(each) in leading or ways[id(each)] > 0 for each in given)
            for gradient in taken:
                if live:
                    leading.add(id(gradient))
                else:
                    ways[id(gradient)] -= 1
            if call is not None and (live or not given):
                found.add(call)
        return found


class _Watch:
    """What is seen while somebody watches; there is one at most."""

    def __init__(self) -> None:
        self.way_back: _WayBack | None = None
        """The one that is under way."""
        self._graphs: dict[str, _WayBack] = {}
        """By the name of a gradient's graph: how it was made, since this one watches."""
        self._wrapped: dict[str, tuple[Any, Callable[..., Any]]] = {}

    def noting(self, name: str, gradient: Callable[..., Any]) -> Callable[..., Any]:
        """The gradient function, which tells that it is called."""
        known = self._wrapped.get(name)
        if known is not None and known[0] is gradient:
            return known[1]

        @functools.wraps(gradient)
        def noted(op: Any, *upstream: Any) -> Any:
            # (Graphs that it makes while it runs have their own ways.)
            given = gradient(op, *upstream)
            made_up = _MADE_UP.search(name) is not None
            self.step(None if made_up else described_call(name, op), upstream, given)
            return given

        self._wrapped[name] = gradient, noted
        return noted

    def step(self, call: GradientCall | None, taken: Iterable[Any], given: Any) -> None:
        """A gradient function was called, or an op was passed that has none."""
        taken = [gradient for gradient in taken if gradient is not None]
        graph, in_branch = _graph_under_way()
        call = None if in_branch else call
        if self.way_back is not None:
            self.way_back.add(call, taken, given)
        if graph:
            self._graphs.setdefault(graph, _WayBack()).add(call, taken, given)

    def ran(self, name: str) -> None:
        """A function runs on the way back: what its gradient graphs were made of counts."""
        if self.way_back is not None:
            for function in functions_inside(name) or (name,):
                graph = _graph_of(function)
                made = self._graphs.get(graph)
                self.way_back.before |= _TRACED.get(graph, set()) | (
                    made.counted() if made else set()
                )

    def close(self) -> None:
        """Remember what graphs were made of, and not their tensors."""
        for graph, made in self._graphs.items():
            _TRACED.setdefault(graph, set()).update(made.counted())


_TRACED: dict[str, set[GradientCall]] = {}
"""By the name of a gradient's graph: what was called to make it. Kept as long as the process is: so
are the graphs of a library's functions, which other cases run too."""

_watch: _Watch | None = None


class _Registry:
    """Stands where TensorFlow's registry of gradients does."""

    def __init__(self, real: Any, watch: _Watch) -> None:
        self._real, self._watch = real, watch

    def lookup(self, name: str | bytes) -> Any:
        """The gradient function of that name, or None for an op that has none."""
        found = self._real.lookup(name)
        if found is not None:
            text = name.decode() if isinstance(name, bytes) else name
            return self._watch.noting(text, found)
        # (Nobody is called for such an op: what it is handed is known to who looks it up.)
        self._watch.step(None, _handed(sys._getframe(1)), ())
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _handed(frame: FrameType | None) -> Sequence[Any]:
    """The gradients that an op is handed for which somebody looks for a gradient function."""
    for _ in range(2):
        found = None if frame is None else frame.f_locals.get("out_grads")
        if isinstance(found, list | tuple):
            return found
        frame = None if frame is None else frame.f_back
    return ()


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
            watch.close()


def is_watched() -> bool:
    """Whether somebody watches."""
    return _watch is not None


@contextmanager
def going_back(calls: set[GradientCall]) -> Iterator[None]:
    """Within this, a way back adds what it calls, if anybody watches.

    Args:
        calls: to which it is added.
    """
    watch = _watch
    if watch is None or watch.way_back is not None:
        yield
        return
    import tensorflow as tf

    watch.way_back = way = _WayBack()
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
        watch.way_back = None
        calls |= way.counted()


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


def _graph_under_way() -> tuple[str, bool]:
    """The name of the gradient's graph that is being made, if one is; whether it is a branch there.

    Which branch of a condition runs is not known before it does, and the gradients of all are made:
    without this `test_the_gradient_of_a_branch_does_not_count` fails.
    """
    import tensorflow as tf

    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    in_branch = False
    while graph is not None:
        in_branch |= type(graph).__name__ == _BRANCH
        name = str(getattr(graph, "name", ""))
        if name.startswith(_BACKWARD):
            return name, in_branch
        graph = getattr(graph, "outer_graph", None)
    return "", in_branch


_BRANCH = "_CondGradFuncGraph"
"""The class of the graph that TensorFlow makes for the gradient of a branch."""
