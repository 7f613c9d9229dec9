"""One op of TensorFlow, run by itself, by its name: imports TensorFlow."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.private_names import definition_of_function, definition_of_op
from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["can_be_run", "run_op"]


def can_be_run(kind: str) -> bool:
    """Whether TensorFlow has a function for it."""
    import tensorflow as tf

    return hasattr(tf.raw_ops, kind) and definition_of_op(kind) is not None


def run_op(kind: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Any]:
    """What it makes of these inputs; raises UsageError where it cannot be run."""
    import tensorflow as tf

    if definition_of_function(kind) is not None:
        raise UsageError(
            f"{kind} is a traced function that cannot be looked into (it has a gradient of its own "
            "inside, or an op that cannot be called by itself): explain what it was traced from"
        )
    function = getattr(tf.raw_ops, kind, None)
    definition = definition_of_op(kind)
    if function is None or definition is None:
        raise UsageError(f"TensorFlow does not let {kind} be called by itself")
    taken = inspect.signature(function).parameters
    given: dict[str, Any] = {}
    place = 0
    # (Some have another name in Python: their place is the same.)
    tensors = [name for name in taken if name not in {a.name for a in definition.attr}]
    for argument, own in zip(definition.input_arg, tensors, strict=False):
        if argument.number_attr or argument.type_list_attr:
            fixed = sum(1 for a in definition.input_arg if not (a.number_attr or a.type_list_attr))
            count = int(attributes.get(argument.number_attr, len(inputs) - fixed))
            given[own] = list(inputs[place : place + count])
            place += count
        else:
            given[own] = inputs[place]
            place += 1
    more = {k: v for k, v in attributes.items() if k in taken and k not in given}
    found = function(**given, **more)
    if found is None or (hasattr(found, "type") and not hasattr(found, "dtype")):
        return []  # (What has no outputs gives nothing, or itself.)
    return found if isinstance(found, list | tuple) else [found]
