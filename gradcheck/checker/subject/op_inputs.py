"""What eager ops are given: tensors, variables and attributes, by themselves or in lists."""

from __future__ import annotations

from functools import cache
from typing import Any

from gradcheck.checker.subject.private_names import definition_of_op

ATTRIBUTES: frozenset[type] = frozenset((str, bytes, int, bool, float, type(None)))
"""The classes of most of what an op is given beside tensors."""


@cache
def plain_inputs() -> frozenset[type]:
    """The classes of most of what an op is given; none of these is a variable, or a list."""
    import tensorflow as tf

    return ATTRIBUTES | {type(tf.constant(0))}


@cache
def precision_of(dtype: Any) -> str:
    """The floating-point dtype of what a tensor of this dtype holds; empty if that is no such."""
    return str(dtype.real_dtype.name) if dtype.is_floating or dtype.is_complex else ""


def listed(given: Any) -> Any:
    """What a list holds, and what is none."""
    return given if isinstance(given, list | tuple) else (given,)


@cache
def may_take_resources(kind: str | bytes) -> bool:
    """Whether an op of this kind may be given a variable, or runs others, which may be."""
    import tensorflow as tf

    found = definition_of_op(kind.decode() if isinstance(kind, bytes) else kind)
    if found is None:
        return True
    resource, known = (
        tf.resource.as_datatype_enum,
        {attribute.name: attribute for attribute in found.attr},
    )
    for given in found.input_arg:
        if given.type == resource or given.type_list_attr:
            return True
        allowed = known[given.type_attr].allowed_values.list.type if given.type_attr else (0,)
        if not allowed or resource in allowed:
            return True
    return any(attribute.type in ("func", "list(func)") for attribute in found.attr)
