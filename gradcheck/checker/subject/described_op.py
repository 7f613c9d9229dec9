"""The op whose gradient function is called, in a few words."""

from __future__ import annotations

import functools
from contextlib import suppress
from typing import Any

from gradcheck.checker import limits
from gradcheck.checker.subject.private_names import definition_of_op
from gradcheck.model.called_gradients import GradientCall

_TOLD = ("int", "float", "bool", "string", "list(int)", "list(float)", "list(bool)", "list(string)")
"""The kinds of attributes that are a few words long."""


def described_call(name: str, op: Any) -> GradientCall:
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
    return GradientCall(
        name, dtypes=tuple(sorted(dtypes)), attributes=text[: limits.LONGEST_ATTRIBUTES]
    )


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    return str(value)
