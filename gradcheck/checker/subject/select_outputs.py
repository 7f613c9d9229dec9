"""Which of a function's outputs are differentiated, where not all of them are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from gradcheck.errors import UsageError


def selected(returned: Any, wanted: Sequence[int | str]) -> list[Any]:
    """The wanted ones of what a function returned; raises UsageError where one is not there."""
    return [_one(returned, each) for each in wanted]


def _one(returned: Any, wanted: int | str) -> Any:
    there = _by_name(returned)
    if isinstance(wanted, str):
        if wanted in there:
            return there[wanted]
        names = ", ".join(there) or "none by name"
        raise UsageError(f"`outputs` names {wanted!r}, but the function returns {names}")
    items = list(there.values()) if there else returned
    if not isinstance(items, list | tuple):
        items = [items]
    if -len(items) <= wanted < len(items):
        return items[wanted]
    raise UsageError(f"`outputs` names output {wanted}, but the function returns {len(items)}")


def _by_name(returned: Any) -> dict[str, Any]:
    """The outputs that have names."""
    if isinstance(returned, Mapping):
        return {str(key): value for key, value in returned.items()}
    if isinstance(returned, tuple) and hasattr(returned, "_fields"):
        return dict(zip(returned._fields, returned, strict=True))
    if dataclasses.is_dataclass(returned) and not isinstance(returned, type):
        names = [field.name for field in dataclasses.fields(returned)]
        return {name: getattr(returned, name) for name in names}
    return {}
