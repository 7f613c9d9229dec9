"""Kernels that draw random numbers, by their definitions: this runs in a worker.

A kernel that draws takes a seed, or the state of a generator. What one makes of floating-point
numbers has no derivative that anybody could compare with, even where the seed is fixed; nor has
what only gradients of such kernels run.
"""

from __future__ import annotations

import functools
import inspect
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.private_names import (
    Absent,
    Private,
    called_back,
    definition_of_op,
    private,
)
from gradcheck.hunter.documented import snake
from gradcheck.hunter.drafts import target_of
from gradcheck.hunter.signatures import RAW
from gradcheck.spec.expression import allowlist

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

_SEED = re.compile(r"seed\d?")
_GENERATOR = {"key", "counter", "alg"}


def drawn_in(run: Callable[[], Any], about: str, request: dict[str, Any]) -> str:
    """Which kernel draws numbers among those that a call runs; empty where none does.

    Of code of a user's, numbers that are drawn of nothing are constants: those that are drawn of
    what is differentiated count. Without it `test_what_draws_with_a_fixed_seed` fails.
    """
    users = ":" in target_of(request["draft"])
    kinds: list[str] = [about] if about else []

    def watch(kind: str, inputs: Any, *_: Any, **_named: Any) -> None:
        if any(each.dtype.is_floating or each.dtype.is_complex for each in inputs) or not users:
            kinds.append(kind)

    with suppress(Exception), called_back(watch):
        run()
    for kind in dict.fromkeys(kinds):
        if draws(kind):
            return f"{kind} draws random numbers"
        if kind in _of_gradients():
            return f"{kind} is of the gradient of a kernel that draws random numbers"
    return ""


@functools.cache
def draws(op: str) -> bool:
    """Whether the definition of a kernel has a seed, or the state of a generator."""
    try:
        definition = definition_of_op(op)
    except (Absent, LookupError):
        return False
    if definition is None:
        return False
    names = {each.name for each in (*definition.attr, *definition.input_arg)}
    return any(map(_SEED.fullmatch, names)) or names >= _GENERATOR


@functools.cache
def _of_gradients() -> frozenset[str]:
    """The kernels that are named in gradient functions of kernels that draw, and nowhere else.

    (Those that public functions are named after serve others, too, as logarithms.)
    """
    try:
        registered = dict(private(Private.REGISTRY)._registry)
    except (Absent, AttributeError):
        return frozenset()
    named: dict[bool, set[str]] = {True: set(), False: set()}
    for op, entry in registered.items():
        code = getattr(entry.get("type"), "__code__", None)
        if code is not None:
            named[draws(op)] |= _names(code)
    public = {name.rpartition(".")[2] for name in allowlist.ALLOWED if not name.startswith(RAW)}
    only = named[True] - named[False] - public
    return frozenset(op for op in _all_ops() if snake(op) in only)


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if inspect.iscode(each))
    return {*code.co_names}.union(*map(_names, inner))


def _all_ops() -> list[str]:
    return [name for name in dir(look_up("tf.raw_ops")) if name[0].isupper()]
