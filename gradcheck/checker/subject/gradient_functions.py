"""Which of the user's gradient functions run on the way back, and what they are the gradients of.

A gradient function is what a function under `tf.custom_gradient` returns beside its result, or what
is registered with `tf.RegisterGradient`. TensorFlow's machinery calls it, wherever it is nested: a
pass forward and back is watched with Python's profiler, with every tf.function run as Python, and
the calls of that machinery tell.

Without it `test_the_line_of_a_wrong_gradient_function` fails.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.subject.tensors import is_own_code
from gradcheck.model import CodePlace, Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class CustomCall:
    """One call of a function under `tf.custom_gradient`."""

    function: Callable[..., Any]
    """As the user wrote it: it returns its result and its gradient function."""
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    moves: tuple[bool, ...]
    """By number among the flat arguments: whether it depends on what is differentiated."""


@dataclass(frozen=True, eq=False)
class GradientFunction:
    """A gradient function of the user's that ran."""

    place: CodePlace
    call: CustomCall | None
    """What it is the gradient of; None where that is not known: a registered gradient."""


def gradient_functions(
    function: Callable[..., Any],
    operands: Sequence[Operand],
    upstream: Sequence[Array],
    name: str,
) -> list[GradientFunction]:
    """The user's gradient functions that the gradient of the input of this name goes through.

    In the order in which they run; empty where a profiler is at work already.
    """
    if sys.getprofile() is not None:
        return []
    return _run(function, operands, upstream, (name,)).found


def any_registered(kinds: Iterable[str]) -> bool:
    """Whether a gradient function of the user's is registered for any of these kinds of ops."""
    try:
        registry = private(Private.REGISTRY)
    except Absent:
        return True
    known = set(registry.list())
    return any(_place(registry.lookup(kind)) for kind in known.intersection(kinds))


def may_be_any(
    function: Callable[..., Any],
    operands: Sequence[Operand],
    upstream: Sequence[Array],
    names: Collection[str],
) -> bool:
    """Whether the gradient of any of the inputs of these names may go through one.

    Where a pass for all of them goes through none, none does for one of them. One that raises need
    not have come to all that it would go through. Without that
    `test_what_raises_for_one_input_hides_nothing_of_another` fails.
    """
    if sys.getprofile() is not None:
        return False
    watcher = _run(function, operands, upstream, names)
    return bool(watcher.found) or watcher.has_raised


def _run(
    function: Callable[..., Any],
    operands: Sequence[Operand],
    upstream: Sequence[Array],
    names: Collection[str],
) -> _Watcher:
    """What ran for the inputs of these names: as Python, and in a graph if there was none."""
    chosen = [replace(o, differentiate=o.differentiate and o.name in names) for o in operands]
    watcher = _Watcher()
    with as_python():
        _watch(watcher, Tape(function, chosen), chosen, upstream)
    if not watcher.found:
        _watch(watcher, Tape(function, chosen, Mode.GRAPH), chosen, upstream)
    return watcher


def _watch(
    watcher: _Watcher, tape: Tape, operands: Sequence[Operand], upstream: Sequence[Array]
) -> None:
    """Look at a pass forward and back; a gradient that raises has run too."""
    sys.setprofile(watcher)
    try:
        tape([operand.value for operand in operands], upstream)
    except Exception:  # whatever the user's function does
        watcher.has_raised = True
    finally:
        sys.setprofile(None)


def _code_of(name: Private) -> CodeType | None:
    """The code that stands there; None where nothing does: then nothing is found."""
    try:
        return getattr(private(name), "__code__", None)
    except Absent:
        return None


class _Watcher:
    """A profiler that looks at TensorFlow's machinery of gradients."""

    def __init__(self) -> None:
        self.found: list[GradientFunction] = []
        self.has_raised = False
        """Whether a pass that it looked at did not come to its end."""
        self._calls: dict[int, tuple[Any, CustomCall]] = {}
        """By id of a gradient function: itself, lest it goes, and what it belongs to."""
        self._forward, self._registered = _code_of(Private.CUSTOM), _code_of(Private.REGISTERED)
        self._machinery = None if self._forward is None else self._forward.co_filename

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Python calls this for every call and every return."""
        code = frame.f_code
        if event == "return" and code is self._forward:
            # (One that raised has no gradient function.)
            with suppress(KeyError, Absent):
                self._remember(frame.f_locals)
        elif event == "call" and code is self._registered:
            with suppress(LookupError, Absent):
                self._note(private(Private.REGISTRY).lookup(frame.f_locals["op_name"]))
        elif event == "call" and code.co_filename == self._machinery:
            self._note(frame.f_locals.get("grad_fn"))

    def _remember(self, called: dict[str, Any]) -> None:
        import tensorflow as tf

        is_recorded = private(Private.IS_RECORDED)
        gradient, arguments = called["grad_fn"], called["args"]
        leaves = tf.nest.flatten(arguments)
        # (A tape watches a variable by its handle.)
        watched = [leaf.handle if isinstance(leaf, tf.Variable) else leaf for leaf in leaves]
        moves = tuple(isinstance(leaf, tf.Tensor) and is_recorded([leaf]) for leaf in watched)
        call = CustomCall(called["f"], arguments, called["kwargs"], moves)
        self._calls[id(gradient)] = gradient, call

    def _note(self, gradient: Any) -> None:
        place = _place(gradient)
        if place is not None:
            _, call = self._calls.get(id(gradient), (None, None))
            self.found.append(GradientFunction(place, call))


def _place(function: Any) -> CodePlace | None:
    """Where a function stands, if that is the user's own code; what wraps it is looked through."""
    seen: set[int] = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        code = getattr(function, "__code__", None)
        code = code or getattr(type(function).__call__, "__code__", None)
        if isinstance(code, CodeType) and is_own_code(code.co_filename):
            return _of_code(code)
        # A partial, a tf.function, a decorator of a library.
        wrapped = ("func", "python_function", "__wrapped__")
        function = next((getattr(function, w) for w in wrapped if hasattr(function, w)), None)
    return None


def _of_code(code: CodeType) -> CodePlace:
    path = Path(code.co_filename).absolute()
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return CodePlace(str(shown), code.co_firstlineno, code.co_qualname.replace(".<locals>", ""))
