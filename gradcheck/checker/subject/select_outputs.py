"""The outputs that a case names, out of whatever a function returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection


def select(returned: Any, wanted: Collection[int | str]) -> Any:
    """The parts of what was returned, by position or by name; a tensor alone is the one output.

    Raises UsageError, which lists what there is, where one of them is not.
    """
    if not wanted:
        return returned
    parts = _parts(returned)
    found = []
    for name in wanted:
        if isinstance(name, int):
            if not -len(parts) <= name < len(parts):
                raise UsageError(f"`outputs` names {name}, and there {_listed(parts)}")
            found.append(list(parts.values())[name])
        else:
            if name not in parts:
                raise UsageError(f"`outputs` names `{name}`, and there {_listed(parts)}")
            found.append(parts[name])
    return found[0] if len(found) == 1 else found


def _parts(returned: Any) -> dict[str | int, Any]:
    """By key, field or position: what was returned, one level deep."""
    if isinstance(returned, Mapping):
        return dict(returned)
    if isinstance(returned, tuple) and hasattr(returned, "_fields"):
        return dict(zip(returned._fields, returned, strict=True))
    if isinstance(returned, list | tuple):
        return dict(enumerate(returned))
    fields = getattr(type(returned), "__dataclass_fields__", None) or getattr(
        type(returned), "__attrs_attrs__", None
    )
    if fields and not hasattr(returned, "dtype"):
        names = [getattr(field, "name", field) for field in fields]
        return {name: getattr(returned, name) for name in names}
    return {0: returned}


def _listed(parts: Mapping[str | int, Any]) -> str:
    if list(parts) == [0]:
        return "is one output, 0"
    return f"are {len(parts)}: {', '.join(str(name) for name in parts)}"
