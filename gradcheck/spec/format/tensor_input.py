"""One tensor among the `inputs:` of a case: a shape, a number or values into an Input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.model import Array, Input, Sample, Shape
from gradcheck.ops.declaration import Kind, Parameter
from gradcheck.ops.samples.registry import SAMPLES, parse_sample
from gradcheck.spec.format import fields
from gradcheck.spec.format.array_values import read_array, read_shape
from gradcheck.spec.format.keys import INPUT_DTYPES, INPUT_KEYS, INTEGER_DTYPES, STRUCTURES
from gradcheck.spec.yaml.nodes import Entry, ListNode, MapNode, Node, ScalarNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.spec.yaml.source import Source


@dataclass(frozen=True, slots=True)
class _Content:
    """What fills an input, a shape or values, and where that stands in the spec."""

    place: Node
    shape: Shape | None = None
    values: Array | None = None
    options: Mapping[str, Node] = field(default_factory=dict)
    """The keys beside it, where the input is a mapping."""


def read_tensor(
    source: Source, name: str, entry: Entry, parameter: Parameter | None
) -> Input | None:
    """What the entry says about a tensor of this name; None where something is wrong."""
    what = f"the input `{name}`"
    before = source.count
    content = _content(source, entry, what)
    if content is None:
        return None
    options, shape, values = content.options, content.shape, content.values
    sample = _sample(source, options, shape)
    dtype = _dtype(source, options, parameter, values, name)
    grad = _grad(source, options, dtype, what)
    variable = False
    if "variable" in options:
        variable = bool(fields.boolean(source, options["variable"], "`variable`"))
    if values is not None:
        given, place = values, content.place
        # (Cases share what they do not change, the numbers themselves included.)
        values = source.once(
            place, ("values", dtype), lambda: _fit_values(source, place, given, dtype, what)
        )
        shape = None if values is None else values.shape
    if source.count != before or shape is None:
        return None
    return Input(name, shape, source.location(entry.key), values, sample, dtype, grad, variable)


def _content(source: Source, entry: Entry, what: str) -> _Content | None:
    """What the entry holds: a mapping, a bare list, which is a shape, or a bare number."""
    node = entry.value
    if isinstance(node, MapNode):
        return _mapped_content(source, entry.key, node, what)
    if isinstance(node, ListNode):
        return _Content(node, shape=_bare_list(source, node, what))
    if isinstance(node, ScalarNode) and type(node.value) in (int, float):
        return _Content(node, values=read_array(source, node, what))
    message = f"{what} must be a shape, a number or a mapping, not {fields.found(node)}"
    source.problem(node, message, "write [3, 4], 2.0, {shape: [3, 4]} or {values: [1, 2]}")
    return None


def _mapped_content(source: Source, key: Node, node: MapNode, what: str) -> _Content | None:
    """What stands under the one of `shape` and `values` that the mapping has."""
    before = source.count
    fields.unknown_keys(source, node, what, (*INPUT_KEYS, *STRUCTURES))
    given = [name for name in ("shape", "values") if name in node.items]
    if source.count == before and len(given) != 1:
        which = "both `shape` and `values`" if given else "neither `shape` nor `values`"
        source.problem(key, f"{what} has {which}", "give one of them")
    if len(given) != 1:
        return None
    place = node.items[given[0]]
    if given == ["values"]:
        values = read_array(source, place, f"`values` of {what}")
        return _Content(place, values=values, options=node.items)
    if isinstance(place, ListNode):
        return _Content(place, shape=read_shape(source, place, what), options=node.items)
    message = f"`shape` must be a list of whole numbers, not {fields.found(place)}"
    source.problem(place, message, "write [3, 4], or [] for a single number")
    return _Content(place, options=node.items)


def _bare_list(source: Source, node: ListNode, what: str) -> Shape | None:
    """A list is a shape; one that cannot be is probably meant as values."""
    for item in node.items:
        whole = isinstance(item, ScalarNode) and type(item.value) is int
        if not whole:
            message = f"a list is a shape, and {what} holds {fields.found(item)}"
            source.problem(item, message, "for values write {values: […]}")
            return None
    return read_shape(source, node, what)


def _sample(source: Source, options: Mapping[str, Node], shape: Shape | None) -> Sample | None:
    node = options.get("sample")
    if node is None:
        return None
    text = fields.text(source, node, "`sample`", ".{1,200}", "write it as in `uniform(0, 1)`")
    if text is None:
        return None
    if "values" in options:
        source.problem(node, "`sample` goes with `shape`: with `values` nothing is drawn")
        return None
    try:
        sample = parse_sample(text)
    except ValueError as error:
        source.problem(node, str(error))
        return None
    square = SAMPLES[sample.name].square
    if square and shape is not None and (len(shape) < 2 or shape[-1] != shape[-2]):
        message = f"the sample `{sample.name}` draws square matrices, not the shape {list(shape)}"
        source.problem(options["shape"], message, "make the last two sizes equal")
    return sample


def _dtype(
    source: Source,
    options: Mapping[str, Node],
    parameter: Parameter | None,
    values: Array | None,
    name: str,
) -> str | None:
    kind = parameter.kind if parameter is not None else Kind.REAL
    if "dtype" in options:
        node = options["dtype"]
        given = fields.choice(source, node, "`dtype` of an input", INPUT_DTYPES)
        fitting = _FITTING.get(kind, INPUT_DTYPES)
        if given is not None and given not in fitting:
            message = f"`{name}` holds {_PLURALS[kind]}: its dtype cannot be `{given}`"
            source.problem(node, message, f"possible are: {', '.join(fitting)}")
        return given
    if kind is Kind.INTEGER:
        return "int32"
    if kind is Kind.BOOLEAN or (values is not None and values.dtype == np.bool_):
        return "bool"
    return None


_FITTING = {
    Kind.INTEGER: INTEGER_DTYPES,
    Kind.BOOLEAN: ("bool",),
    Kind.COMPLEX: ("complex64", "complex128"),
}
_PLURALS = {
    Kind.REAL: "numbers",
    Kind.COMPLEX: "complex numbers",
    Kind.INTEGER: "whole numbers",
    Kind.BOOLEAN: "booleans",
}


def _grad(source: Source, options: Mapping[str, Node], dtype: str | None, what: str) -> bool:
    differentiable = dtype is None or dtype not in (*INTEGER_DTYPES, "bool")
    if "grad" not in options:
        return differentiable
    grad = fields.boolean(source, options["grad"], "`grad`")
    if grad and not differentiable:
        message = f"{what} is of dtype {dtype}: it has no gradient"
        source.problem(options["grad"], message, "leave `grad` out, or choose a floating dtype")
    return bool(grad)


def _fit_values(
    source: Source, node: Node, values: Array, dtype: str | None, what: str
) -> Array | None:
    """The values in the widest dtype of the input's kind."""
    if (dtype == "bool") != (values.dtype == np.bool_):
        kind = "booleans" if dtype == "bool" else f"numbers of dtype {dtype}"
        source.problem(node, f"{what} must hold {kind}")
        return None
    if dtype == "bool":
        return values
    if dtype in INTEGER_DTYPES:
        if values.size and values.dtype != np.int64:
            source.problem(node, f"{what} must hold whole numbers: its dtype is {dtype}")
            return None
        limits = np.iinfo(dtype)
        if values.size and (values.min() < limits.min or values.max() > limits.max):
            source.problem(node, f"{what} holds a number that does not fit into {dtype}")
            return None
        return values.astype(np.int64)
    if values.dtype == np.complex128:
        if dtype is not None and not dtype.startswith("complex"):
            source.problem(node, f"{what} holds complex numbers, and its dtype is {dtype}")
        return values
    return values.astype(np.float64)
