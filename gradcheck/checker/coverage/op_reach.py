"""Which ops can be differentiated on this machine at all: their definitions and kernels tell."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.private_names import Absent, Private, definition_of_op, private

if TYPE_CHECKING:
    from collections.abc import Iterable

_RUN_HERE = frozenset({"CPU", "DEFAULT"})
"""Devices of kernels that run on a processor."""

_NO_ARRAYS = frozenset({"resource", "variant", "string"})

_REWRITTEN = frozenset({"AccumulateNV2"})
"""Ops without a kernel that graphs replace by others before they run."""

_LOOP = (
    "a loop of TensorFlow 1: its gradient wants the context of a `tf.compat.v1` graph, which no "
    "tape has"
)
_ARRAY = (
    "a TensorArray of TensorFlow 1: graphs make lists (`TensorList…`) of them, eager code Python's "
    "own, and its gradient raises under a tape"
)
_DECLARED = {
    **dict.fromkeys(("Enter", "Exit", "NextIteration"), _LOOP),
    **{f"TensorArray{what}V3": _ARRAY for what in ("Concat", "Gather", "Read", "Scatter")},
    **{f"TensorArray{what}V3": _ARRAY for what in ("Split", "Write")},
    "TensorArrayConcatV2": _ARRAY,
}
"""What no definition tells."""


def is_float_op(op: str) -> bool:
    """Whether it is a pure function from floats to floats, among `tf.raw_ops`.

    It takes and gives a floating-point or complex tensor at least; no resource, variant, string or
    reference; it takes no function, and keeps no state.
    """
    definition = definition_of_op(op)
    if definition is None or not _is_raw(op) or definition.is_stateful:
        return False
    if any(attribute.type in ("func", "list(func)") for attribute in definition.attr):
        return False
    arguments = [*definition.input_arg, *definition.output_arg]
    if any(argument.is_ref or _types(argument, definition) <= _NO_ARRAYS for argument in arguments):
        return False
    return _has_floats(definition.input_arg, op) and _has_floats(definition.output_arg, op)


def why_out_of_reach(op: str) -> str:
    """Why no tape can go back through it here; empty where nothing is in the way."""
    definition = definition_of_op(op)
    if definition is None:
        return "TensorFlow has no such op"
    if not _is_raw(op):
        return "not in `tf.raw_ops`: only TensorFlow's own machinery makes it"
    if any(argument.is_ref for argument in (*definition.input_arg, *definition.output_arg)):
        return "takes references, as graphs of TensorFlow 1 do"
    if definition.deprecation.version:
        told = definition.deprecation.explanation
        return f"removed from graphs of version {definition.deprecation.version} on: {told}"
    return _why_no_kernel(op) or _why_no_floats(op) or _DECLARED.get(op, "")


def _why_no_kernel(op: str) -> str:
    devices = {kernel.device_type for kernel in _kernels(op)}
    if devices & _RUN_HERE or op in _REWRITTEN or not _kernels_are_known():
        return ""
    others = ", ".join(sorted(devices))
    return f"no kernel for the CPU, but for {others}" if others else "no kernel in this TensorFlow"


def _why_no_floats(op: str) -> str:
    definition = definition_of_op(op)
    if not _has_floats(definition.output_arg, op, opaque=True):
        return "its outputs are no floats: no tape goes back through it"
    if not _has_floats(definition.input_arg, op, opaque=True):
        return "its inputs are no floats: no tape goes back through it"
    return ""


def _has_floats(arguments: Iterable[Any], op: str, *, opaque: bool = False) -> bool:
    """Whether any of these may be floating-point or complex, with a kernel for that.

    Args:
        arguments: inputs or outputs in a definition.
        op: whose they are.
        opaque: whether what may hold floats inside counts: resources and variants.
    """
    definition = definition_of_op(op)
    for argument in arguments:
        types = _types(argument, definition)
        if opaque and types & {"resource", "variant"}:
            return True
        if any(_is_float(name) for name in types & _kernel_types(op, argument.type_attr)):
            return True
    return False


def _types(argument: Any, definition: Any) -> frozenset[str]:
    """The dtypes that an argument may have."""
    if argument.type:
        return frozenset({_dtype_name(argument.type)})
    attribute = argument.type_attr or argument.type_list_attr
    told = next(each for each in definition.attr if each.name == attribute)
    return frozenset(map(_dtype_name, told.allowed_values.list.type)) or _ALL


def _kernel_types(op: str, attribute: str) -> frozenset[str]:
    """The dtypes that kernels of the processor have for an attribute of the op."""
    if not attribute or not _kernels_are_known():
        return _ALL
    found: set[str] = set()
    kernels = [kernel for kernel in _kernels(op) if kernel.device_type in _RUN_HERE]
    for kernel in kernels:
        told = [c.allowed_values.list.type for c in kernel.constraint if c.name == attribute]
        if not told:
            return _ALL
        found |= {_dtype_name(each) for types in told for each in types}
    return frozenset(found) if kernels else _ALL


_ALL = frozenset(
    {
        *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"),
        *_NO_ARRAYS,
    }
)
"""What an attribute that says nothing may be."""


def _is_float(name: str) -> bool:
    return name.startswith(("float", "bfloat", "complex"))


@cache
def _dtype_name(enum: int) -> str:
    import tensorflow as tf

    return str(tf.as_dtype(enum).base_dtype.name)


def _is_raw(op: str) -> bool:
    import tensorflow as tf

    return hasattr(tf.raw_ops, op)


@cache
def _kernels(op: str) -> tuple[Any, ...]:
    try:
        return tuple(private(Private.KERNELS)(op).kernel)
    except Absent:
        return ()


@cache
def _kernels_are_known() -> bool:
    return bool(_kernels("MatMul"))
