"""What a function takes, learnt from what is installed: this runs in a worker.

Of a kernel the definition of its op tells all: which inputs are tensors of which types, how many of
them a list holds, which values an attribute may have. Of a Python function the names, defaults and
annotations tell most; of an op of ours its declaration.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gradcheck import ops
from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.private_names import definition_of_op
from gradcheck.checker.subject.user_code import import_object
from gradcheck.hunter.drafts import COMPLEX, FLOATS
from gradcheck.model.findings import Taken
from gradcheck.ops.declaration import Kind
from gradcheck.start.guesses import UNKNOWN, data_for, is_tensor, special_input

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RAW = "tf.raw_ops."
DTYPES: tuple[str, ...] = (*FLOATS, *COMPLEX)

_ENUMERATED = {1: "float32", 2: "float64", 3: "int32", 8: "complex64", 9: "int64", 10: "bool"}
_ENUMERATED |= {14: "bfloat16", 18: "complex128", 19: "float16", 4: "uint8", 5: "int16", 6: "int8"}
"""TensorFlow's numbers for types, those that a spec may have."""

_TEXTS = {
    "padding": ("VALID", "SAME", "valid", "same", "CONSTANT"),
    "mode": ("constant", "reflect", "symmetric", "CONSTANT", "REFLECT", "SYMMETRIC", "full"),
    "method": ("linear", "bilinear", "nearest", "bicubic", "lanczos3", "gaussian", "area"),
    "interpolation": ("nearest", "bilinear", "bicubic"),
    "reduction": ("sum", "mean", "none"),
    "ord": ("euclidean", "fro", "nuc"),
    "norm": ("ortho", "backward", "forward"),
    "merge_mode": ("sum", "mul", "concat", "ave"),
    "activation": ("tanh", "relu", "softmax", "elu"),
    "data_format": ("channels_last",),
    "equation": ("ij,jk->ik", "ij->ji", "ii->i", "...i,...i->..."),
    "subscripts": ("ij,jk->ik", "ij->ji", "ii->i"),
}
"""Texts that functions take, by the name of the parameter; others keep their default."""

_LISTS = frozenset({"inputs", "values", "tensors", "arrays", "xs", "tensor_list", "matrices"})
"""Names by which functions take several tensors at once."""


class Role(StrEnum):
    """What goes where a parameter is."""

    TENSOR = "tensor"
    LIST = "list"
    """Several tensors of one type."""
    SOME = "one or several"
    """A tensor or a list of them: nothing tells which."""
    WHOLE = "whole numbers"
    WHOLES = "several tensors of whole numbers"
    BOOLEANS = "booleans"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter."""

    name: str
    role: Role
    required: bool = True
    into: str = "inputs"
    """The key of the spec: `inputs`, `args`, `init` or `call`."""
    dtype: str | None = None
    """A type of its own; None for that of the case."""
    choices: tuple[Any, ...] = ()
    """Of data: what it may be, the usual first."""
    number: str = ""
    """Of a list: what stands for its length; lists of one call may share it."""
    scalar: bool = False
    """Of whole numbers: whether it takes one alone."""


@dataclass(frozen=True, slots=True)
class Signature:
    """All that a call takes."""

    target: str
    key: str
    slots: tuple[Slot, ...]
    dtypes: tuple[str, ...] = DTYPES
    by_position: bool = False
    outputs: tuple[int, ...] = ()
    """Which outputs are differentiated; all of them if none is named."""
    samples: tuple[tuple[str, str], ...] = ()
    """Of inputs whose values have a form of their own (symmetric, …): how a spec draws them."""


def signature_of(target: str, key: str, *, allow: Sequence[str], root: str) -> Signature:
    """What the target takes, as far as it can be known."""
    if target.startswith(RAW):
        return _of_kernel(target)
    op = ops.find(target) if key == "op" else None
    if op is not None and not target.startswith(("tf.", "keras.")):
        return _of_declaration(target, op)
    if key == "layer":
        return _of_layer(target, allow, root)
    function = import_object(target, allow, root) if key == "function" else look_up(target)
    parameters = _parameters(function)
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters) and len(parameters) <= 2
    if variadic or not parameters:
        slots = tuple(Slot(f"input{n}", Role.TENSOR, required=n == 0) for n in range(2))
        return Signature(target, key, slots, by_position=True)
    plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    by_position = any(p.kind is p.POSITIONAL_ONLY for p in plain)
    slots = tuple(slot for p in plain for slot in _of_parameter(p, "args"))
    return Signature(target, key, slots, by_position=by_position, samples=_samples(target))


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _samples(target: str) -> tuple[tuple[str, str], ...]:
    """How the declaration of an op of this TensorFlow name draws matrices of a kind."""
    op = ops.find(target)
    inputs = () if op is None else op.inputs
    return tuple((p.name, str(p.domain.sample)) for p in inputs if p.domain.sample.name != "normal")


def _of_declaration(target: str, op: Any) -> Signature:
    roles = {Kind.INTEGER: Role.WHOLE, Kind.BOOLEAN: Role.BOOLEANS}
    slots = [Slot(p.name, roles.get(p.kind, Role.TENSOR), dtype=_own(p.kind)) for p in op.inputs]
    slots += [_data(name, required=True, default=None, into="args") for name in op.required]
    slots += [_data(n, required=False, default=d, into="args") for n, d in op.args.items()]
    samples = tuple((p.name, str(p.domain.sample)) for p in op.inputs)
    return Signature(target, "op", tuple(slots), samples=samples)


def _own(kind: Kind) -> str | None:
    own = {Kind.INTEGER: "int32", Kind.BOOLEAN: "bool", Kind.COMPLEX: "complex128"}
    return own.get(kind)


def _of_layer(target: str, allow: Sequence[str], root: str) -> Signature:
    made = import_object(target, allow, root) if ":" in target else look_up(target)
    init = [p for p in _parameters(made) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    slots = [
        _data(p.name, required=p.default is p.empty, default=p.default, into="init") for p in init
    ]
    call = getattr(made, "call", None) or made.__call__
    for p in _parameters(call)[1:]:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.name in ("mask", "training"):
            continue
        slots += [s for s in _of_parameter(p, "call") if s.required or s.into == "call"]
    return Signature(target, "layer", tuple(slots))


def _of_parameter(parameter: inspect.Parameter, into: str) -> Iterator[Slot]:
    """What may be given for a parameter of a Python function."""
    name, default = parameter.name, parameter.default
    required = default is parameter.empty
    annotation = "" if parameter.annotation is parameter.empty else str(parameter.annotation)[:80]
    # (Of kernels the annotation tells the types that a tensor may have.)
    taken = Taken(name, required, "Tensor" if "Annotated" in annotation else annotation)
    if name in ("name", "dtype", "out", "seed", "training", "kwargs"):
        return
    if not required and default is not None:
        yield _data(name, required=False, default=default, into=into)
    elif name in _LISTS:
        yield Slot(name, Role.SOME, required)
    elif not is_tensor(taken) or (default is None and _is_whole(name)):
        yield _data(name, required=required, default=default, into=into)
    elif special := special_input(taken, [1]):
        role = Role.BOOLEANS if special["dtype"] == "bool" else Role.WHOLE
        yield Slot(name, role, required, dtype=special["dtype"])
    else:
        yield Slot(name, Role.TENSOR, required)


def _is_whole(name: str) -> bool:
    return any(word in name for word in ("axis", "axes", "shape", "perm", "size", "num_", "dim"))


def _data(name: str, *, required: bool, default: Any, into: str) -> Slot:
    """A parameter that takes plain data: whole numbers are drawn, others chosen."""
    if isinstance(default, bool):
        return Slot(name, Role.DATA, required, into, choices=(default, not default))
    if isinstance(default, float):
        return Slot(name, Role.DATA, required, into, choices=(default, 0.5, 2.0, 0.0))
    if name in _TEXTS:
        usual = (default,) if isinstance(default, str) else ()
        return Slot(name, Role.DATA, required, into, choices=(*usual, *_TEXTS[name]))
    if isinstance(default, str):
        return Slot(name, Role.DATA, required, into, choices=(default,))
    if into != "init" and (isinstance(default, int) or _is_whole(name)):
        return Slot(name, Role.WHOLE, required, into)
    if not required:
        return Slot(name, Role.DATA, required, into)
    guessed = data_for(Taken(name))
    return Slot(name, Role.DATA, required, into, choices=() if guessed is UNKNOWN else (guessed,))


def _of_kernel(target: str) -> Signature:
    """What the definition of the op says."""
    definition = definition_of_op(target.removeprefix(RAW))
    attributes = {attribute.name: attribute for attribute in definition.attr}
    inferred = {a.type_attr or a.type_list_attr for a in definition.input_arg}
    inferred |= {a.number_attr for a in definition.input_arg}
    slots: list[Slot] = []
    dtypes = DTYPES
    for argument in definition.input_arg:
        allowed = _allowed(argument, attributes)
        if not set(allowed) & set(DTYPES):
            whole = next(
                (t for t in allowed if t in ("int32", "int64")), allowed[0] if allowed else ""
            )
            role = Role.BOOLEANS if whole == "bool" else Role.WHOLE
            if argument.number_attr and role is Role.WHOLE:
                role = Role.WHOLES
            length = argument.number_attr
            slots.append(Slot(argument.name, role, dtype=whole or None, number=length))
            continue
        if argument.type_attr:
            dtypes = tuple(t for t in dtypes if t in allowed) or dtypes
        own = None if argument.type_attr or argument.type_list_attr else allowed[0]
        listed = argument.number_attr or argument.type_list_attr
        role, length = Role.LIST if listed else Role.TENSOR, argument.number_attr
        slots.append(Slot(argument.name, role, dtype=own, number=length))
    slots += [_attribute(a) for a in definition.attr if a.name not in inferred]
    if not any(s.role in (Role.TENSOR, Role.LIST) and s.dtype is None for s in slots):
        dtypes = ("float64",)
    names = python_names(target.removeprefix(RAW), [slot.name for slot in slots])
    named = tuple(replace(slot, name=names[slot.name]) for slot in slots)
    return Signature(target, "op", named, dtypes, outputs=_public_outputs(definition))


def python_names(op: str, names: Sequence[str]) -> dict[str, str]:
    """By the names of a definition: those that `tf.raw_ops` has, which calls some otherwise.

    (`reduction_indices` is `axis` there, `split_dim` too: what has no name of its own is taken in
    the order of what is left.)
    """
    parameters = [p.name for p in _parameters(look_up(RAW + op)) if p.name != "name"]
    left = iter([name for name in parameters if name not in names])
    return {name: name if name in parameters else next(left, name) for name in names}


def _public_outputs(definition: Any) -> tuple[int, ...]:
    """The outputs but those that a kernel keeps for its gradient, which nobody differentiates."""
    names = [argument.name for argument in definition.output_arg]
    kept = [n for n, name in enumerate(names) if name.startswith("reserve")]
    return tuple(range(kept[0])) if kept and kept[0] else ()


def _allowed(argument: Any, attributes: dict[str, Any]) -> list[str]:
    """The types that an input may have."""
    if argument.type:
        numbers = [argument.type]
    else:
        attribute = attributes[argument.type_attr or argument.type_list_attr]
        numbers = list(attribute.allowed_values.list.type) or list(_ENUMERATED)
    return [_ENUMERATED[number] for number in numbers if number in _ENUMERATED]


def _may_be(attribute: Any, dtype: str) -> bool:
    allowed = list(attribute.allowed_values.list.type)
    return not allowed or dtype in [_ENUMERATED.get(number) for number in allowed]


def _attribute(attribute: Any) -> Slot:
    name, kind = attribute.name, attribute.type
    has_default = attribute.HasField("default_value")
    allowed = [text.decode() for text in attribute.allowed_values.list.s]
    choices: tuple[Any, ...] = ()
    if kind == "bool":
        choices = (False, True)
    elif kind == "float":
        choices = (0.5, 1.0, 2.0, 0.0, -1.0)
    elif kind == "string":
        choices = tuple(allowed) or _TEXTS.get(name, () if has_default else ("text",))
    elif kind == "type":
        choices = tuple(t for t in ("float64", "float32", "complex128") if _may_be(attribute, t))
    elif kind == "list(float)":
        least = max(1, attribute.minimum)
        choices = ([1.0, *[1.5] * (least - 2), 1.0][-least:], [0.5, 2.0], [1.0])
    elif kind in ("int", "list(int)", "shape"):
        return Slot(name, Role.WHOLE, not has_default, "args", scalar=kind == "int")
    return Slot(name, Role.DATA, not has_default, "args", choices=choices)
