"""A short text that changes when a case does, and only then."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradcheck.model import Case, Location, TargetKind

_PLAIN = (str, bytes, bool, int, float, complex, type(None))


def fingerprint(case: Case, sources: str) -> str:
    """The case's own; `sources` stands for the code of the user's that a function may call.

    Places do not count: a case that moves down its file is still the same.
    """
    digest = hashlib.sha256()
    for part in _parts(case):
        digest.update(part)
    if case.target.kind is TargetKind.FUNCTION:
        digest.update(sources.encode())
    return digest.hexdigest()[:32]


def _parts(value: Any) -> Iterator[bytes]:
    """The value as bytes, each part closed by a zero byte so that no two values run together."""
    if isinstance(value, _PLAIN):
        yield f"{type(value).__name__} {value!r}\0".encode()
    elif isinstance(value, Location):
        return
    elif dataclasses.is_dataclass(value):
        yield type(value).__name__.encode() + b"\0"
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}\0".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Mapping):
        yield f"{{{len(value)}\0".encode()
        for key in sorted(value, key=repr):
            yield from _parts(key)
            yield from _parts(value[key])
    elif isinstance(value, Sequence):
        yield f"[{len(value)}\0".encode()
        for item in value:
            yield from _parts(item)
    else:
        yield f"{type(value).__name__} {value!r}\0".encode()
