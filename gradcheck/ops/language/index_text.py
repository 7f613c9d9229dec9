"""The text of an index, such as `0, 1:3, ..., newaxis`, as the tuple that it means."""

from __future__ import annotations

import re
from types import EllipsisType
from typing import Any

Item = int | slice | EllipsisType | None

# Eighteen digits fit into 64 bits.
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NAMED_ITEMS: dict[str, Item] = {
    "...": ...,
    "newaxis": None,
    "None": None,
    "np.newaxis": None,
    "tf.newaxis": None,
}


def parse_index(index: Any) -> tuple[Item, ...]:
    """The index that a text, a whole number or a list of whole numbers means.

    Raises ValueError with a text that names the part that is not understood.
    """
    if isinstance(index, bool):
        raise ValueError(f"an index is text such as '0, 1:3', not {index!r}")
    if isinstance(index, int):
        return (index,)
    if isinstance(index, list | tuple):
        parts = [str(part) for part in index]
    elif isinstance(index, str):
        parts = index.strip().removesuffix(",").split(",")
    else:
        raise ValueError(f"an index is text such as '0, 1:3', not {index!r}")
    items = tuple(_item(part.strip()) for part in parts)
    if sum(item is ... for item in items) > 1:
        raise ValueError(f"an index has at most one '...': {index!r}")
    return items


def _item(text: str) -> Item:
    if text in _NAMED_ITEMS:
        return _NAMED_ITEMS[text]
    parts = [part.strip() for part in text.split(":")]
    if len(parts) > 3 or not all(_WHOLE.fullmatch(part) for part in parts if part):
        raise ValueError(
            f"{text!r} is not an index: write a whole number, start:stop:step, '...' or newaxis"
        )
    if len(parts) == 1:
        if not parts[0]:
            raise ValueError("the index has an empty part: write ':' for a whole axis")
        return int(parts[0])
    bounds = [int(part) if part else None for part in parts]
    if len(bounds) == 3 and bounds[2] == 0:
        raise ValueError(f"the step of {text!r} is zero")
    return slice(*bounds)
