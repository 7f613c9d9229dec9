"""A short text that changes when a case does, and only then."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradcheck.model import Case, Location, TargetKind

_PLAIN = (str, bytes, bool, int, float, complex, type(None))


def fingerprint(case: Case, sources: str) -> str:
    """The case's own; `sources` stands for the code of the user's that a function may call.

    Places do not count: a case that moves down its file is still the same.
    """
    parts: list[bytes] = []
    _add(case, parts)
    if case.target.kind is TargetKind.FUNCTION:
        parts.append(sources.encode())
    return hashlib.sha256(b"".join(parts)).hexdigest()[:32]


def _add(value: Any, parts: list[bytes]) -> None:
    """The value as bytes, each part closed by a zero byte so that no two values run together."""
    kind = type(value)
    if isinstance(value, _PLAIN):
        parts.append(f"{kind.__name__} {value!r}\0".encode())
    elif kind is Location:
        return
    elif dataclasses.is_dataclass(kind):
        parts.append(kind.__name__.encode() + b"\0")
        for name in _fields(kind):
            _add(getattr(value, name), parts)
    elif isinstance(value, np.ndarray):
        parts.append(f"{value.dtype} {value.shape}\0".encode())
        parts.append(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Mapping):
        parts.append(f"{{{len(value)}\0".encode())
        for key in sorted(value, key=repr):
            _add(key, parts)
            _add(value[key], parts)
    elif isinstance(value, Sequence):
        parts.append(f"[{len(value)}\0".encode())
        for item in value:
            _add(item, parts)
    else:
        parts.append(f"{kind.__name__} {value!r}\0".encode())


@functools.cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
