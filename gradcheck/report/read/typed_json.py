"""JSON of unknown make, and its members by their kind: what does not fit is a sentence."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import StrEnum

    E = TypeVar("E", bound=StrEnum)

MOST_DIGITS = 400
"""Of a number: the largest float64 has 309."""
MOST_COUNTED = 2**53
"""Beyond this a program that reads JSON may take a whole number for another."""
LONGEST = 1e9
"""Seconds: thirty years."""

_NOT_FINITE = frozenset({"nan", "inf", "-inf"})


class DamagedError(ValueError):
    """A document is not what it should be."""


def parse(text: str | bytes, *, strict: bool = False) -> Any:
    """The value of a JSON text; ValueError or RecursionError where it is none.

    Python reads more than JSON has: NaN, and numbers of any length, some of which it then refuses
    in words of its own. `strict`: no key stands twice in an object.
    """
    pairs = _unique if strict else None
    return json.loads(text, parse_int=_whole, parse_constant=_refused, object_pairs_hook=pairs)


def text(data: Any, key: str) -> str:
    """A member that is a text."""
    value = member(data, key)
    return value if isinstance(value, str) else _misfit(key, value, "a text")


def texts(data: Any, key: str) -> tuple[str, ...]:
    """A member that is a list of texts."""
    value = items(data, key)
    return tuple(v if isinstance(v, str) else _misfit(key, v, "a list of texts") for v in value)


def named_texts(data: Any, key: str) -> dict[str, str]:
    """A member that is an object of texts."""
    held = mapping(member(data, key), key)
    return {n: v if isinstance(v, str) else _misfit(key, v, "texts") for n, v in held.items()}


def flag(data: Any, key: str) -> bool:
    """A member that is true or false."""
    value = member(data, key)
    return value if isinstance(value, bool) else _misfit(key, value, "true or false")


def count(data: Any, key: str) -> int:
    """A member that is a whole number, and not negative."""
    return _count(member(data, key), key)


def counts(data: Any, key: str) -> tuple[int, ...]:
    """A member that is a list of such numbers."""
    return tuple(_count(value, key) for value in items(data, key))


def seconds(data: Any, key: str) -> float:
    """A member that is a time."""
    value = real(member(data, key), key)
    return value if 0 <= value <= LONGEST else _misfit(key, value, "a time in seconds")


def real(value: Any, key: str) -> float:
    """A number, or one of the texts for those that JSON has not."""
    if isinstance(value, str) and value in _NOT_FINITE:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        _misfit(key, value, "a number")
    try:
        return float(value)
    except OverflowError:
        _misfit(key, value, "a number that float64 can hold")


def choice(kind: type[E], data: Any, key: str) -> E:
    """A member that is one of the words."""
    try:
        return kind(text(data, key))
    except ValueError as error:
        if isinstance(error, DamagedError):
            raise
        _misfit(key, member(data, key), f"one of {', '.join(kind)}")


def maybe(read: Callable[[Any, str], Any], data: Any, key: str) -> Any:
    """A member that may be null."""
    return None if member(data, key) is None else read(data, key)


def member(data: Any, key: str) -> Any:
    """What stands under a key."""
    if not isinstance(data, dict):
        _misfit(key, data, "inside of an object")
    if key not in data:
        raise DamagedError(f"`{key}` is missing")
    return data[key]


def items(data: Any, key: str) -> list[Any]:
    """A member that is a list."""
    value = member(data, key)
    return value if isinstance(value, list) else _misfit(key, value, "a list")


def mapping(value: Any, key: str) -> Mapping[str, Any]:
    """An object."""
    return value if isinstance(value, dict) else _misfit(key, value, "an object")


def _count(value: Any, key: str) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 0 <= value <= MOST_COUNTED:
        _misfit(key, value, "a whole number from 0 to 2⁵³")
    return int(value)


def _misfit(key: str, value: Any, wanted: str) -> NoReturn:
    kinds = {str: "a text", list: "a list", dict: "an object", bool: "a boolean"}
    found = kinds.get(type(value)) or ("null" if value is None else "a number")
    if isinstance(value, float) and not math.isfinite(value):
        found = str(value)
    raise DamagedError(f"`{key}` should be {wanted}, and {found} stands there")


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise DamagedError(f"a number of {len(digits):,} digits stands in it")
    return int(digits)


def _refused(word: str) -> NoReturn:
    raise DamagedError(f"{word} stands in it, which JSON has not")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DamagedError(f"the key {twice[:60]!r} stands twice in an object")
    return found
