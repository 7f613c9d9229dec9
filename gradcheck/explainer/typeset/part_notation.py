"""Parts of arrays, set as programs write them: `pick(x, ':, 0')` is x[:,0]."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.explainer.typeset.notation import ATOM, Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.explainer.typeset.setter import Setter

__all__ = ["OF_PARTS"]


def _pick(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    parts = [setter.style.words(part) for part in _parts_of(args[1])]
    return setter.style.indexed(setter.inner(args[0], ATOM), parts), ATOM


def _put_slice(setter: Setter, name: str, args: list[ast.expr]) -> Text:
    """The index in brackets: its commas are none between arguments."""
    place = setter.style.words(f"[{','.join(_parts_of(args[1]))}]")
    return setter.style.call(name, [setter.inner(args[0]), place, setter.inner(args[2])]), ATOM


def _parts_of(index: ast.expr) -> list[str]:
    text = str(index.value) if isinstance(index, ast.Constant) else trees.text_of(index)
    return [part.strip() for part in text.strip("[]()").split(",")]


def _take(setter: Setter, _name: str, args: list[ast.expr]) -> Text | None:
    """One slice is a part like any other; of several it says which axis."""
    if len(args) != 3:
        return None
    place, axis = trees.text_of(args[1]), trees.text_of(args[2])
    if not place.isdigit() or not axis.isdigit():
        return None
    before = [setter.style.words(":")] * int(axis)
    return setter.style.indexed(setter.inner(args[0], ATOM), [*before, place]), ATOM


OF_PARTS: dict[str, Callable[[Setter, str, list[ast.expr]], Text | None]] = {
    "pick": _pick,
    "put_slice": _put_slice,
    "take": _take,
}
"""By function: its notation."""
