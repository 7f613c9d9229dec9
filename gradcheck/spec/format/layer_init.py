"""The `init:` of a layer: plain data, and layers inside of it.

Keras makes objects of mappings that name a class (`class_name`, `module`, `config`), and would
import whatever they name: a mapping is refused unless it is one of our own, which the list of
layers vouches for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.ops.language.bounds import MAX_ELEMENTS
from gradcheck.spec.expression import allowlist
from gradcheck.spec.format import fields
from gradcheck.spec.format.target import layer_allowed
from gradcheck.spec.yaml.nodes import ListNode, MapNode, Node, ScalarNode

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.spec.yaml.nodes import Entries
    from gradcheck.spec.yaml.source import Source


def read_init(
    source: Source, entries: Entries, place: Node, layer: str, allow: Collection[str]
) -> dict[str, Any]:
    """The arguments of a layer's class; those of a user's are judged when it is made."""
    if layer in allowlist.LAYERS:
        parameters = allowlist.layer_parameters(layer).init
        for misfit in parameters.named_misfits(f"`{layer}`", (), entries):
            key = entries[misfit.name].key if misfit.name else place
            message = misfit.message.replace(" has no arg ", " has no `init` ")
            source.problem(key, message, misfit.hint)
    return {
        name: _value(source, entry.value, f"`init` of `{layer}`", allow)
        for name, entry in entries.items()
        if fields.name_is_good(source, name, entry.key, "an argument", {})
    }


def _value(source: Source, node: Node, what: str, allow: Collection[str]) -> Any:
    if isinstance(node, ListNode):
        return [_value(source, item, what, allow) for item in node.items]
    if isinstance(node, MapNode):
        return _layer(source, node, what, allow)
    if not isinstance(node, ScalarNode):
        return None
    if isinstance(node.value, str):
        return fields.text(source, node, f"a text in {what}")
    if type(node.value) is int and abs(node.value) > MAX_ELEMENTS:
        source.problem(node, f"a number in {what} is too large: at most {MAX_ELEMENTS:,}")
    return node.value


def _layer(source: Source, node: MapNode, what: str, allow: Collection[str]) -> Any:
    """`{layer: …, init: {…}}`, kept as such: whoever builds the outer layer builds this one."""
    hint = "write {layer: keras.layers.LSTM, init: {units: 3}}"
    if "layer" not in node.items:
        source.problem(node, f"a mapping in {what} must be a layer: it has no key `layer`", hint)
        return None
    fields.unknown_keys(source, node, f"a layer in {what}", ("layer", "init"))
    name = fields.text(source, node.items["layer"], "`layer`")
    if name is None or not layer_allowed(source, node.items["layer"], name, allow):
        return None
    given = node.items.get("init")
    inside = None if given is None else fields.mapping(source, given, "`init`")
    entries = {} if inside is None else inside.entries
    return {"layer": name, "init": read_init(source, entries, node.keys["layer"], name, allow)}
