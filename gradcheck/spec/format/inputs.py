"""The `inputs:` of a case: its arguments and their tensors, as the function takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.model import Argument, Input
from gradcheck.spec.format import fields
from gradcheck.spec.format.nested_inputs import read_argument
from gradcheck.spec.yaml.nodes import Entry, ListNode, MapNode, Node, ScalarNode
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.ops.declaration import Op, Parameter
    from gradcheck.spec.expression.parameters import Parameters
    from gradcheck.spec.yaml.nodes import Entries


@dataclass(frozen=True, slots=True)
class Inputs:
    """The tensors of a case, and the arguments that they make up."""

    tensors: tuple[Input, ...] = ()
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """What stands under `inputs:`, each with a name."""

    entries: Entries
    by_position: bool = False
    """Whether the names are ours, and the order counts."""


def list_inputs(
    source: Source, node: Node, op: Op | None, parameters: Parameters | None
) -> Listed | None:
    """A mapping as it is; the items of a list by the function's own names where we know them."""
    if isinstance(node, MapNode):
        return Listed(node.entries)
    if not isinstance(node, ListNode):
        message = f"`inputs` must be a mapping, or a list, not {fields.found(node)}"
        source.problem(node, message, "write `name: value` lines, or {name: value}")
        return None
    for item in node.items:
        if isinstance(item, ScalarNode) and type(item.value) is int:
            hint = "a shape is a list of its own, [[3]]; a number is {values: 3}"
            message = "`inputs` must be a mapping, or a list of inputs, not a shape"
            source.problem(item, message, hint)
            return None
    count = len(node.items)
    known: tuple[str, ...] = ()
    if op is not None and not op.variadic:
        known = tuple(p.name for p in op.inputs)
    elif op is None and parameters is not None:
        known = tuple(n for n in parameters.by_position if n in parameters.by_name)
    named = 0 < count <= len(known)
    names = known[:count] if named else tuple(f"input{i}" for i in range(count))
    keys = [
        ScalarNode(line=i.line, column=i.column, length=i.length, value=name, text=name)
        for name, i in zip(names, node.items, strict=True)
    ]
    entries = {k.text: Entry(k, item) for k, item in zip(keys, node.items, strict=True)}
    return Listed(entries, by_position=not named and op is None)


def read_inputs(
    source: Source, entries: Entries, place: Node, op: Op | None, reserved: Mapping[str, str]
) -> Inputs:
    """Every input that is right, in the order of the call; `reserved`: names and what they mean."""
    parameters = {} if op is None or op.variadic else {p.name: p for p in op.inputs}
    tensors: dict[str, list[Input]] = {}
    arguments: dict[str, Argument] = {}
    for name, entry in entries.items():
        if op is not None and parameters and name not in parameters:
            _unknown_input(source, name, entry, op)
            continue
        if not fields.name_is_good(source, name, entry.key, "an input", reserved):
            continue
        parameter = op.inputs[0] if op is not None and op.variadic else parameters.get(name)
        read = read_argument(source, name, entry, parameter)
        if read is not None:
            tensors[name] = read[0]
            arguments[name] = Argument(name, read[1])
    if op is not None:
        _missing_inputs(source, parameters, entries, place, op)
    # A declared op is called in its own order, whatever that of the spec.
    order = [name for name in (parameters or entries) if name in tensors]
    return Inputs(
        tuple(tensor for name in order for tensor in tensors[name]),
        tuple(arguments[name] for name in order),
    )


def _missing_inputs(
    source: Source, parameters: Mapping[str, Parameter], entries: Entries, place: Node, op: Op
) -> None:
    missing = [p.name for p in parameters.values() if p.name not in entries]
    strangers = [name for name in entries if parameters and name not in parameters]
    # A wrong name explains a missing one: it is said once.
    for name in missing[len(strangers) :]:
        hint = f"its inputs are: {', '.join(parameters)}"
        source.problem(place, f"`{op.name}` needs the input `{name}`", hint)


def _unknown_input(source: Source, name: str, entry: Entry, op: Op) -> None:
    inputs = [p.name for p in op.inputs]

    def hint() -> str:
        if name in op.args or name in op.required:
            return f"`{name}` is not a tensor: put it under `args`"
        return fields.did_you_mean(name, inputs) or f"its inputs are: {', '.join(inputs)}"

    source.problem(entry.key, f"`{op.name}` has no input {shown(name)}", hint)
