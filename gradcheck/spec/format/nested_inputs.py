"""Inputs that are more than one tensor: dictionaries, lists, tuples, ragged and sparse tensors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from gradcheck.model import Group, Input, Ragged, Shape, Sparse, Template
from gradcheck.spec.format import fields
from gradcheck.spec.format.array_values import read_shape
from gradcheck.spec.format.keys import INPUT_KEYS, STRUCTURES
from gradcheck.spec.format.tensor_input import read_tensor
from gradcheck.spec.yaml.nodes import Entry, ListNode, MapNode, Node, ScalarNode

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Parameter
    from gradcheck.spec.yaml.source import Source

Read = tuple[list[Input], Template]
"""The tensors of an argument, and what they make up."""


def structure(node: Node) -> str:
    """Which kind of structure a value is; empty for a tensor."""
    held = node.items if isinstance(node, MapNode) else {}
    return next((kind for kind in STRUCTURES if kind in held), "")


def read_argument(
    source: Source, name: str, entry: Entry, parameter: Parameter | None
) -> Read | None:
    """One argument, whatever it is made of; None where something is wrong."""
    node, kind = entry.value, structure(entry.value)
    if not isinstance(node, MapNode) or not kind:
        tensor = read_tensor(source, name, entry, parameter)
        return None if tensor is None else ([tensor], name)
    if kind == "ragged":
        return _ragged(source, name, entry.key, node)
    if kind == "sparse":
        return _sparse(source, name, entry.key, node)
    fields.unknown_keys(source, node, f"the input `{name}`", (kind,))
    return _group(source, name, kind, node.items[kind])


def _group(source: Source, name: str, kind: str, node: Node) -> Read | None:
    parts: list[tuple[str, Entry]] = []
    keys: tuple[str, ...] = ()
    if kind == "dict":
        held = fields.mapping(source, node, f"`dict` of the input `{name}`")
        if held is None:
            return None
        keys = tuple(held.items)
        parts = [(f"{name}[{key!r}]", entry) for key, entry in held.entries.items()]
    elif isinstance(node, ListNode):
        parts = [(f"{name}[{i}]", Entry(_key(item, i), item)) for i, item in enumerate(node.items)]
    else:
        source.problem(node, f"`{kind}` of the input `{name}` must be a list")
        return None
    if not parts:
        source.problem(node, f"`{kind}` of the input `{name}` is empty")
        return None
    read = [read_argument(source, path, entry, None) for path, entry in parts]
    good = [part for part in read if part is not None]
    if len(good) < len(read):
        return None
    kinds: dict[str, Literal["dict", "list", "tuple"]] = {
        "dict": "dict",
        "list": "list",
        "tuple": "tuple",
    }
    template = Group(kinds[kind], tuple(template for _, template in good), keys)
    return [tensor for tensors, _ in good for tensor in tensors], template


def _key(place: Node, number: int) -> ScalarNode:
    """A number that the spec does not spell out, at the place where it comes from."""
    return ScalarNode(line=place.line, column=place.column, value=number, text=str(number))


def _ragged(source: Source, name: str, key: ScalarNode, node: MapNode) -> Read | None:
    what = f"the input `{name}`"
    fields.unknown_keys(source, node, what, ("ragged", "inner", *_OPTIONS))
    levels = _levels(source, node.items["ragged"], what)
    inner = _inner(source, node, what)
    if levels is None or inner is None:
        return None
    for above, below in pairwise(levels):
        if sum(above) != len(below):
            message = f"the rows of {what} are {sum(above)}, and {len(below)} lengths stand below"
            source.problem(node.items["ragged"], message)
            return None
    values = _values(source, name, key, node, node.items["ragged"], (sum(levels[-1]), *inner))
    return None if values is None else ([values], Ragged(values.name, tuple(levels)))


def _levels(source: Source, node: Node, what: str) -> list[tuple[int, ...]] | None:
    """The lengths of the rows, level by level."""
    rows: list[Node] = [node]
    if isinstance(node, ListNode) and node.items and all(map(_is_list, node.items)):
        rows = node.items
    levels: list[tuple[int, ...]] = []
    for row in rows:
        if not isinstance(row, ListNode) or not row.items:
            hint = "write [2, 0, 3]: rows of two, no and three elements"
            source.problem(row, f"`ragged` of {what} must be the lengths of its rows", hint)
            return None
        lengths = _whole_numbers(source, row, f"a length of {what}")
        if lengths is None:
            return None
        levels.append(lengths)
    return levels


def _inner(source: Source, node: MapNode, what: str) -> Shape | None:
    given = node.items.get("inner")
    if given is None:
        return ()
    if isinstance(given, ListNode):
        return read_shape(source, given, f"`inner` of {what}")
    source.problem(given, f"`inner` of {what} must be a shape, not {fields.found(given)}")
    return None


def _sparse(source: Source, name: str, key: ScalarNode, node: MapNode) -> Read | None:
    what = f"the input `{name}`"
    fields.unknown_keys(source, node, what, ("sparse", "indices", *_OPTIONS))
    given, where = node.items["sparse"], node.items.get("indices")
    if not isinstance(given, ListNode):
        source.problem(given, f"`sparse` of {what} must be its shape, as in [3, 4]")
        return None
    shape = read_shape(source, given, what)
    if not isinstance(where, ListNode):
        hint = "write `indices: [[0, 1], [2, 3]]`: where the values stand"
        source.problem(where or key, f"{what} is sparse, and needs a list of `indices`", hint)
        return None
    if shape is None:
        return None
    indices: list[tuple[int, ...]] = []
    for item in where.items:
        index = _index(source, item, shape, what)
        if index is None:
            return None
        if indices and index <= indices[-1]:
            source.problem(item, f"the indices of {what} must grow, row by row")
            return None
        indices.append(index)
    values = _values(source, name, key, node, where, (len(indices),))
    return None if values is None else ([values], Sparse(values.name, tuple(indices), shape))


def _index(source: Source, node: Node, shape: Shape, what: str) -> tuple[int, ...] | None:
    index = _whole_numbers(source, node, f"an index of {what}") if _is_list(node) else None
    if index is None or len(index) != len(shape):
        message = f"an index of {what} must be a list of {len(shape)} whole numbers"
        source.problem(node, message)
        return None
    if any(i >= size for i, size in zip(index, shape, strict=True)):
        source.problem(node, f"{list(index)} lies outside of {what}, of the shape {list(shape)}")
        return None
    return index


def _is_list(node: Node) -> bool:
    return isinstance(node, ListNode)


def _whole_numbers(source: Source, node: Node, what: str) -> tuple[int, ...] | None:
    items = node.items if isinstance(node, ListNode) else []
    numbers = [fields.whole(source, item, what, 0, 2**31 - 1) for item in items]
    good = [number for number in numbers if number is not None]
    return tuple(good) if len(good) == len(numbers) else None


_OPTIONS = tuple(key for key in INPUT_KEYS if key != "shape")


def _values(
    source: Source, name: str, key: ScalarNode, node: MapNode, place: Node, shape: Shape
) -> Input | None:
    """The values of a ragged or sparse tensor, of this shape: given, or drawn."""
    plain = MapNode(line=place.line, column=place.column, length=place.length)
    plain.items = {k: v for k, v in node.items.items() if k in _OPTIONS}
    plain.keys = {k: node.keys[k] for k in plain.items}
    if "values" not in plain.items:
        sizes: list[Node] = [_key(place, size) for size in shape]
        plain.items["shape"] = ListNode(line=place.line, column=place.column, items=sizes)
        plain.keys["shape"] = key
    tensor = read_tensor(source, f"{name}.values", Entry(key, plain), None)
    if tensor is not None and tensor.shape != shape:
        message = f"the values of `{name}` have the shape {list(tensor.shape)}, not {list(shape)}"
        source.problem(node.items["values"], message)
        return None
    return tensor
