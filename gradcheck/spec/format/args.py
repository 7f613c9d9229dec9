"""The `args:` of a case: the arguments of the function that are not differentiated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.spec.expression import allowlist
from gradcheck.spec.format import fields
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Op
    from gradcheck.spec.yaml.nodes import Entries, Entry, Node


def read_args(source: Source, entries: Entries, place: Node, op: Op | None) -> dict[str, Any]:
    """Every argument that is right; without a declaration nothing is known of their kinds."""
    if op is None:
        return {
            name: fields.plain(entry.value)
            for name, entry in entries.items()
            if fields.name_is_good(source, name, entry.key, "an arg", {})
        }
    args: dict[str, Any] = {}
    for name, entry in entries.items():
        if not op.has_arg(name):
            _unknown_arg(source, name, entry, op)
        elif isinstance(op.args.get(name), bool):
            args[name] = fields.boolean(source, entry.value, f"the arg `{name}`")
        else:
            args[name] = fields.plain(entry.value)
    for name in op.required:
        if name not in entries:
            hint = f"write `args: {{{name}: …}}`"
            source.problem(place, f"`{op.name}` needs the arg `{name}`", hint)
    return args


def _unknown_arg(source: Source, name: str, entry: Entry, op: Op) -> None:
    known = [*op.required, *op.args]

    def hint() -> str:
        if any(p.name == name for p in op.inputs):
            return f"`{name}` is a tensor: put it under `inputs`"
        if op.tf in allowlist.ALLOWED and allowlist.parameters(op.tf).takes(name):
            return f"write `op: {op.tf}`, which takes it: our formula is for calls without it"
        listed = f"its args are: {', '.join(known)}" if known else "it takes none"
        return fields.did_you_mean(name, known) or listed

    source.problem(entry.key, f"`{op.name}` has no arg {shown(name)}", hint)
