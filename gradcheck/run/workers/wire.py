"""Results as data on the way from a worker: what arrives is read by its type, and never executed.

A pickle runs whatever its sender wants, and the sender is a process in which a user's function ran.
This is JSON: a list for each dataclass, its fields in their order. The types that the model has for
them say how each is written and read; anything else is refused.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import math
import re
import types
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from gradcheck.model import Array, Case, CloseUp, GradientCall, Scalar, Shape, Verdict

Converter = Callable[[Any], Any]

_NAMES = {
    "Array": Array,
    "Case": Case,
    "CloseUp": CloseUp,
    "GradientCall": GradientCall,
    "Scalar": Scalar,
    "Shape": Shape,
    "Verdict": Verdict,
}
"""What the model's modules import for types alone."""

_KINDS = "fciub"
"""Kinds of numpy's own numbers; others, as bfloat16, come as float64."""

_DTYPE = re.compile(rf"[<>|][{_KINDS}][0-9]{{1,2}}")
"""How numpy writes them, whole: one letter alone may mean dates, texts or Python's objects."""

_MADE: dict[Any, tuple[Converter, Converter]] = {}


class WireError(ValueError):
    """What came is not what was to be sent."""


def codec(kind: Any) -> tuple[Converter, Converter]:
    """How values of a type are written and read; TypeError for a type that has no way."""
    if kind not in _MADE:
        _MADE[kind] = _make(kind)
    return _MADE[kind]


def _make(kind: Any) -> tuple[Converter, Converter]:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == Array:
        return _pack_array, _unpack_array
    if kind == Scalar:
        return _pack_scalar, _unpack_scalar
    if kind is Case:
        return _never, _never
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda value: kind(value).value, kind
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _of_dataclass(kind)
    arguments = typing.get_args(kind)
    if isinstance(kind, types.UnionType) and len(arguments) > 1 and type(None) in arguments:
        return _optional(
            functools.reduce(lambda a, b: a | b, (a for a in arguments if a is not type(None)))
        )
    if typing.get_origin(kind) is tuple and arguments[1:] == (...,):
        return _of_tuple(arguments[0])
    raise TypeError(f"{kind} has no way through a channel")


def _of_dataclass(kind: type) -> tuple[Converter, Converter]:
    hints = typing.get_type_hints(kind, localns=_NAMES)
    fields = [(field.name, codec(hints[field.name])) for field in dataclasses.fields(kind)]
    writers = [(name, write) for name, (write, _) in fields]
    readers = [read for _, (_, read) in fields]

    def write(value: Any) -> list[Any]:
        if type(value) is not kind:
            raise WireError(f"{type(value).__name__} in place of {kind.__name__}")
        return [write(getattr(value, name)) for name, write in writers]

    def read(data: Any) -> Any:
        if type(data) is not list or len(data) != len(readers):
            raise WireError(f"no {kind.__name__}")
        return kind(*[read(item) for read, item in zip(readers, data, strict=True)])

    return write, read


def _optional(kind: Any) -> tuple[Converter, Converter]:
    write, read = codec(kind)
    return (
        lambda value: None if value is None else write(value),
        lambda data: None if data is None else read(data),
    )


def _of_tuple(kind: Any) -> tuple[Converter, Converter]:
    write, read = codec(kind)

    def unpack(data: Any) -> tuple[Any, ...]:
        if type(data) is not list:
            raise WireError("no list")
        return tuple([read(item) for item in data])

    return lambda values: [write(value) for value in values], unpack


def _exactly(kind: type) -> Converter:
    def read(data: Any) -> Any:
        if type(data) is not kind:
            raise WireError(f"{type(data).__name__} in place of {kind.__name__}")
        return data

    return read


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise WireError(f"{type(value).__name__} in place of a text")
    # What is no text in any encoding (half a pair of surrogates) could not be printed either.
    return value.encode(errors="replace").decode() if not value.isascii() else str(value)


def _whole(value: Any) -> int:
    return int(value.__index__())


def _number(data: Any) -> float:
    if type(data) is not float and type(data) is not int:
        raise WireError(f"{type(data).__name__} in place of a number")
    return float(data)


def _never(value: Any) -> None:
    """The case stays with the parent, which has it."""
    if value is not None:
        raise WireError("a case in a result")


def _pack_scalar(value: Any) -> Any:
    if isinstance(value, complex | np.complexfloating):
        return [float(value.real), float(value.imag)]
    return float(value)


def _unpack_scalar(data: Any) -> Scalar:
    if type(data) is list and len(data) == 2:
        return complex(_number(data[0]), _number(data[1]))
    return _number(data)


def _pack_array(value: Any) -> list[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in _KINDS:
        array = array.astype(np.float64)
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [array.dtype.str, list(array.shape), data]


def _unpack_array(data: Any) -> Array:
    if type(data) is not list or len(data) != 3:
        raise WireError("no array")
    kind, shape, content = _exactly(str)(data[0]), data[1], _exactly(str)(data[2])
    if not _DTYPE.fullmatch(kind) or type(shape) is not list:
        raise WireError("no array of numbers")
    sizes = [_exactly(int)(size) for size in shape]
    raw = base64.b64decode(content, validate=True)
    dtype = np.dtype(kind)
    if (
        min(sizes, default=0) < 0
        or len(sizes) > 32
        or math.prod(sizes) * dtype.itemsize != len(raw)
    ):
        raise WireError("an array of another size")
    return np.frombuffer(raw, dtype).reshape(sizes).copy()


_PLAIN: dict[Any, tuple[Converter, Converter]] = {
    str: (_text, _exactly(str)),
    int: (_whole, _exactly(int)),
    bool: (bool, _exactly(bool)),
    float: (float, _number),
}
