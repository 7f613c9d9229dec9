"""A case between text and Case: what its keys say, and how a case's keys lie over its file's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.spec.format import keys
from gradcheck.spec.yaml.nodes import Entry, MapNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import (
        Argument,
        Array,
        CheckKind,
        Input,
        Location,
        Mode,
        Tolerance,
        Upstream,
    )
    from gradcheck.spec.format.expectations import Expected
    from gradcheck.spec.format.target import Chosen
    from gradcheck.spec.yaml.nodes import Node


@dataclass(frozen=True, slots=True)
class Draft:
    """A case as written: right in all its keys, its axes not yet multiplied out."""

    location: Location
    name: str | None
    name_node: Node
    chosen: Chosen
    inputs: tuple[Input, ...]
    arguments: tuple[Argument, ...]
    by_position: bool
    args: Mapping[str, Any]
    init: Mapping[str, Any]
    variables: bool
    outputs: tuple[int | str, ...]
    dtypes: tuple[str, ...]
    modes: tuple[Mode, ...]
    seeds: tuple[int, ...] | None
    checks: tuple[CheckKind, ...]
    upstream: Upstream
    gradient: Mapping[str, str | Array]
    cdf: str
    expect: tuple[Expected, ...]
    """Of which the first counts whose conditions hold; nothing in particular where none does."""
    instead: str
    issue: str
    tolerance: Tolerance | None
    timeout: float | None
    budget: float | None
    tags: tuple[str, ...]


def merge(file: MapNode, case: MapNode | None) -> dict[str, Entry]:
    """The case's keys over the file's; a case's own target replaces that of the file."""
    merged = {name: entry for name, entry in file.entries.items() if name != "cases"}
    if case is None:
        return merged
    if any(target in case.items for target in keys.TARGETS):
        replaced = {*keys.TARGETS, "instead"}
        replaced |= set() if "layer" in case.items else {*keys.OF_A_LAYER}
        merged = {name: e for name, e in merged.items() if name not in replaced}
    for name, value in case.items.items():
        below = merged[name].value if name in merged else None
        if name in keys.MERGED and isinstance(below, MapNode) and isinstance(value, MapNode):
            both = MapNode(line=value.line, column=value.column)
            both.items = {**below.items, **value.items}
            both.keys = {**below.keys, **value.keys}
            merged[name] = Entry(case.keys[name], both)
        else:
            merged[name] = Entry(case.keys[name], value)
    return merged
