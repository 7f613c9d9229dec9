"""What a case claims: gradients, the upstream, its tolerance."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ExpressionError
from gradcheck.model import (
    Argument,
    Array,
    Input,
    Shape,
    Tolerance,
    Upstream,
)
from gradcheck.spec.expression.expression import parse_formula
from gradcheck.spec.format import fields
from gradcheck.spec.format.array_values import read_array, scalars
from gradcheck.spec.format.keys import TOLERANCE_KEYS, UPSTREAMS
from gradcheck.spec.yaml.nodes import ListNode, MapNode, Node, ScalarNode, place_of
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gradcheck.ops.declaration import Op
    from gradcheck.spec.yaml.nodes import Entries


def expression_problem(source: Source, node: Node, error: ExpressionError) -> None:
    """Note a problem inside of an expression, at the very character where that can be told."""
    hint = error.hint
    if isinstance(node, ScalarNode):
        line = source.lines[node.line - 1] if node.line <= len(source.lines) else ""
        place = place_of(node, error.offset, line)
        rest = line[node.column - 1 + node.length :].lstrip()
        if "never closed" in str(error) and node.style is None and rest.startswith((",", "#")):
            hint = f"quote the text: unquoted, it ends before the `{rest[0]}`"
        if place is not None:
            source.problem_at(*place, str(error), hint, error.length)
            return
    source.problem(node, str(error), hint)


def formula_names(
    op: Op | None, arguments: Iterable[Argument], args: Mapping[str, Any]
) -> frozenset[str]:
    """What a formula may name: the arguments, differentiated or not, `G` and `out`."""
    declared = {} if op is None else op.args
    return frozenset({*(a.name for a in arguments), *declared, *args, "G", "out"})


def read_gradient(
    source: Source, entries: Entries, inputs: Collection[Input], names: Collection[str]
) -> dict[str, str | Array]:
    """The claims by input; `names` are those that a formula may use."""
    differentiated = {i.name: i for i in inputs if i.grad}
    claims: dict[str, str | Array] = {}
    for name, entry in entries.items():
        claimed = differentiated.get(name)
        if claimed is None:
            message = f"`gradient` names {shown(name)}, which is no differentiated input"
            hint = partial(_unclaimable, name, inputs, differentiated)
            source.problem(entry.key, message, hint)
            continue
        claim: str | Array | None
        if isinstance(entry.value, ScalarNode) and isinstance(entry.value.value, str):
            claim = _claimed_formula(source, entry.value, entry.value.value, names)
        else:
            claim = _claimed_values(source, entry.value, claimed)
        if claim is not None:
            claims[name] = claim
    return claims


def _unclaimable(name: str, inputs: Collection[Input], known: Collection[str]) -> str:
    """What would be right where a claim is about no differentiated input."""
    if name.endswith(")"):
        return "quote a formula that holds a comma: inside of { } it ends the value"
    if any(i.name == name for i in inputs):
        return "it has `grad: false`, or holds integers or booleans"
    return fields.did_you_mean(name, known)


def _claimed_formula(
    source: Source, node: ScalarNode, formula: str, names: Collection[str]
) -> str | None:
    try:
        parse_formula(formula, names)
    except ExpressionError as error:
        expression_problem(source, node, error)
        return None
    return formula


def _claimed_values(source: Source, node: Node, claimed: Input) -> Array | None:
    name, values = claimed.name, read_array(source, node, f"the gradient of `{claimed.name}`")
    if values is not None and values.shape != claimed.shape:
        source.problem(
            node,
            f"the gradient of `{name}` has the shape {list(values.shape)}, and `{name}` itself "
            f"{list(claimed.shape)}",
            "a gradient has the shape of its input",
        )
        return None
    return values


def read_upstream(source: Source, node: Node, output: Shape | None) -> Upstream:
    """The cotangent; `output` is the shape of the one output where it is known."""
    if isinstance(node, ScalarNode) and isinstance(node.value, str):
        if node.value == "random":
            return "random"
        if node.value == "ones":
            return "ones"
        if not node.value.rstrip(") ").endswith(("j", "J")):
            fields.choice(source, node, "`upstream`", (*UPSTREAMS, "the values"))
            return "random"
    if isinstance(node, MapNode):
        return _upstream_by_output(source, node)
    values = read_array(source, node, "`upstream`")
    if values is None:
        return "random"
    _must_be_finite(source, node, values)
    _must_weigh(source, node, [values])
    if output is not None and values.shape != output:
        source.problem(
            node,
            f"`upstream` has the shape {list(values.shape)}, and the output {list(output)}",
            "there is one upstream value for each element of the output",
        )
    return (values,)


def _must_be_finite(source: Source, node: Node, values: Array) -> None:
    """What is infinite or no number weighs nothing either: all it is multiplied with is lost."""
    if np.isfinite(values).all():
        return
    place = next(
        scalar
        for scalar, value in zip(scalars(node), values.flat, strict=True)
        if not np.isfinite(value)
    )
    message = f"`upstream` must hold finite numbers, not {fields.found(place)}"
    source.problem(place, message, "write `random`, `ones` or values that are finite")


def _must_weigh(source: Source, node: Node, values: Iterable[Array]) -> None:
    """An upstream of zeros hides every fault."""
    if not any(array.any() for array in values):
        message = "an upstream of zeros weighs nothing: there is nothing to check"
        source.problem(node, message, "write `random`, `ones` or values that are not all zero")


def _upstream_by_output(source: Source, node: MapNode) -> Upstream:
    """The values under `outputs`, for each of several."""
    outputs = node.items.get("outputs")
    if outputs is not None:
        fields.unknown_keys(source, node, "`upstream`", ("outputs",))
    if not isinstance(outputs, ListNode) or not outputs.items:
        hint = "write the values themselves, or {outputs: [values, values]} for several outputs"
        source.problem(outputs or node, "`upstream` needs a list of `outputs`", hint)
        return "random"
    arrays = [read_array(source, item, "`upstream`") for item in outputs.items]
    for item, array in zip(outputs.items, arrays, strict=True):
        if array is not None:
            _must_be_finite(source, item, array)
    known = tuple(array for array in arrays if array is not None)
    if len(known) == len(arrays):
        _must_weigh(source, outputs, known)
    return known


def _nearest_part(name: str) -> str:
    return fields.did_you_mean(name, TOLERANCE_KEYS) or "known are: rtol, atol"


def read_tolerance(source: Source, entries: Entries, place: Node) -> Tolerance | None:
    """A tolerance that can fail."""
    parts: dict[str, float] = {}
    for name, entry in entries.items():
        if name not in TOLERANCE_KEYS:
            message = f"`tolerance` has no key {shown(name)}"
            source.problem(entry.key, message, partial(_nearest_part, name))
            continue
        value = fields.number(source, entry.value, f"`{name}`")
        if value is None:
            continue
        if value < 0:
            source.problem(entry.value, f"`{name}` cannot be negative")
        elif name == "rtol" and value >= 1:
            message = "a relative tolerance of 1 or more could not fail: even zeros would pass"
            source.problem(entry.value, message, "choose one below 1, such as 1e-6")
        else:
            parts[name] = value
    if not any(parts.values()) and len(parts) == len(entries):
        hint = "give `rtol` or `atol`, or leave `tolerance` out: the error bars are the default"
        source.problem(place, "the tolerance is zero: nothing computed could pass", hint)
    return Tolerance(**parts)
