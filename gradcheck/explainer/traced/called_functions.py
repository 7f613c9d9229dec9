"""Calls of declared functions while something runs: what each was given, and which ops it ran.

Told by Python of every call, so that it does not matter by which name a function was imported, and
what Keras or a user's own code calls is seen too. Imports TensorFlow.
"""

from __future__ import annotations

import inspect
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from gradcheck import ops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import CodeType, FrameType

__all__ = ["Called", "noting_calls"]


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """One call, from where it began in the list of ops to where it ended."""

    name: str
    """As a declaration has it: `tf.nn.moments`."""
    given: Mapping[str, Any]
    """By parameter, those left out that have their default."""
    begin: int
    end: int
    returned: Any


@contextmanager
def noting_calls(
    found: list[Called], ops_so_far: Callable[[], int]
) -> Iterator[Callable[[], bool]]:
    """Within this, every call of a function with a declaration is added, the inner ones first.

    What it gives tells whether one is running.
    """
    table = _declared("keras" in sys.modules)
    open_calls: list[tuple[FrameType, dict[str, Any], int]] = []

    def note(frame: FrameType, event: str, returned: Any) -> None:
        if event == "call" and frame.f_code in table:
            open_calls.append((frame, dict(frame.f_locals), ops_so_far()))
        elif event == "return" and open_calls and open_calls[-1][0] is frame:
            _, given, begin = open_calls.pop()
            for name, defaults in table[frame.f_code].items():
                kept = {k: v for k, v in given.items() if not _is_default(k, v, defaults)}
                found.append(Called(name, kept, begin, ops_so_far(), returned))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield lambda: bool(open_calls)
    finally:
        sys.setprofile(before)


def _is_default(name: str, value: Any, defaults: Mapping[str, Any]) -> bool:
    return name == "name" or (
        name in defaults
        and isinstance(value, int | float | str | bool | tuple | None)
        and value == defaults[name]
    )


@cache
def _declared(with_keras: bool) -> dict[CodeType, dict[str, dict[str, Any]]]:
    """By code: the names under which it is declared, and the defaults of its parameters."""
    import tensorflow as tf

    found: dict[CodeType, dict[str, dict[str, Any]]] = {}
    for op in ops.all_ops():
        if op.variadic or (op.tf.startswith("tf.keras.") and not with_keras):
            continue  # (Keras takes a second to be loaded: who does not use it does not wait.)
        function: Any = tf
        for part in op.tf.split(".")[1:]:
            function = getattr(function, part, None)
        if not callable(function) or inspect.isclass(function):
            continue
        function = inspect.unwrap(function)
        code = getattr(function, "__code__", None)
        if code is not None:
            parameters = inspect.signature(function).parameters.values()
            defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
            found.setdefault(code, {})[op.tf] = defaults
    return found
