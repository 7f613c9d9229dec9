"""Python that runs inside of an op: called in its place, so that its own ops are seen.

`tf.py_function` runs a function of the user's within one op, and its tape goes through the ops of
that function; `tf.vectorized_map` makes one graph of a function for all rows. What they call is
called as it is: without that `test_python_inside_of_an_op_is_seen` fails.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.private_names import Absent, Private, private, replaced
from gradcheck.checker.subject.tensors import is_own_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

__all__ = ["is_users", "python_inside", "users_line"]


@contextmanager
def python_inside() -> Iterator[None]:
    """Within this, functions that TensorFlow runs inside of an op are called as they are."""
    with ExitStack() as doors:
        for name, make in ((Private.PY_FUNCTION, _py_function), (Private.PFOR, _rows)):
            with suppress(Absent):
                doors.enter_context(replaced(name, make(private(name))))
        yield


def _py_function(own: Callable[..., Any]) -> Callable[..., Any]:
    import tensorflow as tf

    def called(
        func: Callable[..., Any], inp: Sequence[Any], types: Any = None, *args: Any, **more: Any
    ) -> Any:
        types = more.pop("Tout", types)
        several = isinstance(types, list | tuple)
        wanted = list(types) if several else [types]
        plain = all(isinstance(each, tf.DType | str) for each in wanted)
        if not (more.get("use_eager_py_func") and plain and tf.executing_eagerly()):
            return own(func, inp, types, *args, **more)
        returned = func(*(tf.convert_to_tensor(each) for each in inp))
        if returned is None:
            return []
        listed = returned if isinstance(returned, list | tuple) else [returned]
        pairs = zip(listed, wanted, strict=False)
        found = [tf.convert_to_tensor(each, dtype=dtype) for each, dtype in pairs]
        return found if several else found[0]

    return called


def _rows(own: Callable[..., Any]) -> Callable[..., Any]:
    import tensorflow as tf

    def called(loop_fn: Callable[[Any], Any], iters: Any, *args: Any, **more: Any) -> Any:
        if not tf.executing_eagerly():
            return own(loop_fn, iters, *args, **more)
        rows = [loop_fn(tf.constant(row)) for row in range(int(iters))]
        return (
            tf.nest.map_structure(lambda *each: tf.stack(each), *rows)
            if rows
            else own(loop_fn, iters, *args, **more)
        )

    return called


def users_line() -> str:
    """The innermost line of the user's code that is running: `losses.py:12`; empty if none is."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


@cache
def is_users(filename: str) -> bool:
    """Whether a file is the user's own."""
    return is_own_code(filename)
