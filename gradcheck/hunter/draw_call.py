"""Calls of a function, drawn at random from what it takes, and calls that are nearly like another.

A call that works is worth a lot: most that are drawn do not. So once there is one, others are made
of it, each with one thing changed: a value, a type, an argument, the size of an axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.hunter.drafts import (
    COMPLEX,
    Draft,
    array_of,
    copied,
    is_differentiated,
    tensor,
    tensors,
    with_array,
)
from gradcheck.hunter.draw_sparse import sparse_inputs
from gradcheck.hunter.draw_values import shapes, values, whole_numbers
from gradcheck.hunter.promised import triples
from gradcheck.hunter.signatures import RAW, Role, Signature, Slot

if TYPE_CHECKING:
    from gradcheck.model import Shape

Draw = np.random.Generator

_TENSORS = (Role.TENSOR, Role.LIST, Role.SOME)
_OPTIONAL = 0.25
"""How often a parameter is given that may be left out."""
_OPTIONAL_TENSOR = 0.08
"""How often that is a tensor: most of those go together with something else."""


def drawn(signature: Signature, rng: Draw, *, special: bool) -> Draft:
    """A call: shapes that may belong together, values, and whatever else it takes."""
    dtype = _dtype(signature, rng)
    draft: Draft = {signature.key: signature.target}
    wanted = [s for s in signature.slots if s.role in _TENSORS and _given(s, rng)]
    sizes = dict(zip((s.name for s in wanted), shapes(rng, len(wanted)), strict=True))
    first: Shape = next(iter(sizes.values()), (2,))
    inputs: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    sparse = _sparse(signature, sizes, dtype, rng, special=special)
    for slot in signature.slots:
        length = lengths.setdefault(slot.number or slot.name, int(rng.integers(1, 4)))
        if slot.name in sparse:
            inputs[slot.name] = sparse[slot.name]
        elif slot.name in sizes:
            one = (signature, slot, sizes[slot.name], dtype, rng)
            inputs[slot.name] = _tensors(*one, special=special, length=length)
        elif slot.role is Role.WHOLES:
            inputs[slot.name] = {"list": [_wholes(slot, first, rng) for _ in range(length)]}
        elif slot.role not in _TENSORS and _given(slot, rng):
            _put(draft, inputs, signature, slot, first, rng)
    draft["inputs"] = list(inputs.values()) if signature.by_position else inputs
    for key in ("init", "args", "call"):
        if key in draft:
            draft[key] = draft.pop(key)
    if dtype != "float64":
        draft["dtype"] = dtype
    if signature.outputs:
        draft["outputs"] = list(signature.outputs)
    return draft


def _dtype(signature: Signature, rng: Draw) -> str:
    weights = np.array([{"float64": 5.0, "complex128": 3.0}.get(t, 1.0) for t in signature.dtypes])
    return str(rng.choice(signature.dtypes, p=weights / weights.sum()))


def _given(slot: Slot, rng: Draw) -> bool:
    if slot.required:
        return True
    if slot.role in (*_TENSORS, Role.BOOLEANS):
        return bool(rng.random() < _OPTIONAL_TENSOR)
    return bool(slot.role is Role.WHOLE or slot.choices) and bool(rng.random() < _OPTIONAL)


def _tensors(
    signature: Signature,
    slot: Slot,
    shape: Shape,
    dtype: str,
    rng: Draw,
    *,
    special: bool,
    length: int,
) -> Any:
    if slot.role is Role.LIST or (slot.role is Role.SOME and rng.integers(2)):
        each = [_tensor(signature, slot, shape, dtype, rng, special) for _ in range(length)]
        return {"list": each}
    return _tensor(signature, slot, shape, dtype, rng, special)


def _sparse(
    signature: Signature, sizes: dict[str, Shape], dtype: str, rng: Draw, *, special: bool
) -> dict[str, Any]:
    """The entries of sparse tensors."""
    found = triples([slot.name for slot in signature.slots])
    slots = {slot.name: slot for slot in signature.slots}
    length = int(rng.integers(1, 4))
    return sparse_inputs(found, slots, sizes, dtype, rng, special=special, length=length)


def _wholes(slot: Slot, first: Shape, rng: Draw) -> dict[str, Any]:
    """One tensor of a list: as a rule one number for each member of a tensor beside it."""
    beside = rng.random() < 0.6
    drawn_ = rng.integers(0, 3, first[:1]) if beside else whole_numbers(rng, slot.name, first)
    return tensor(np.asarray(drawn_), slot.dtype or "int32")


def _tensor(
    signature: Signature, slot: Slot, shape: Shape, dtype: str, rng: Draw, special: bool
) -> dict[str, Any]:
    sample = dict(signature.samples).get(slot.name)
    if sample is not None and (slot.dtype or dtype) is not None and rng.random() < 0.8:
        entry: dict[str, Any] = {"shape": list(shape), "sample": sample}
    else:
        _, array = values(rng, shape, slot.dtype or dtype, special=special)
        entry = tensor(array)
    return entry if slot.dtype is None else {**entry, "dtype": slot.dtype}


def _put(
    draft: Draft, inputs: dict[str, Any], signature: Signature, slot: Slot, first: Shape, rng: Draw
) -> None:
    """Give a parameter that is no tensor of floating-point numbers."""
    if slot.role is Role.WHOLE:
        drawn_ = whole_numbers(rng, slot.name, first)
        if slot.scalar and drawn_.ndim:
            drawn_ = drawn_.ravel()[0] if drawn_.size else np.asarray(int(rng.integers(0, 4)))
        if slot.into == "inputs":
            inputs[slot.name] = tensor(drawn_, slot.dtype or "int32")
        else:
            draft.setdefault(slot.into, {})[slot.name] = drawn_.tolist()
    elif slot.role is Role.BOOLEANS:
        shape = first if rng.integers(2) else first[:1]
        inputs[slot.name] = tensor(rng.integers(0, 2, size=shape).astype(bool), "bool")
    elif slot.choices:
        usual = slot.required and signature.target.startswith(RAW) is False and rng.random() < 0.6
        place = 0 if usual else int(rng.integers(len(slot.choices)))
        draft.setdefault(slot.into, {})[slot.name] = slot.choices[place]


def varied(draft: Draft, signature: Signature, rng: Draw) -> Draft:
    """The same call but for one thing or two."""
    new = copied(draft)
    for _ in range(1 + int(rng.random() < 0.3)):
        way = rng.choice(["values", "values", "type", "argument", "size", "whole"])
        if way == "type":
            new = _of_type(new, _dtype(signature, rng))
        elif way == "argument":
            _other_argument(new, signature, rng)
        elif way == "size":
            new = _other_size(new, rng)
        else:
            _other_values(new, rng, whole=way == "whole")
    return new


def redrawn(draft: Draft, signature: Signature, rng: Draw) -> Draft:
    """A call that was refused, with one parameter drawn anew: of another shape, as a rule."""
    new = copied(draft)
    slot = signature.slots[int(rng.integers(len(signature.slots)))]
    inputs = new["inputs"]
    dtype = str(new.get("dtype", "float64"))
    beside = _shape_of_some(new, rng)
    if slot.role in _TENSORS and slot.name in inputs:
        shape = shapes(rng, 1)[0] if rng.random() < 0.7 else beside
        one = (signature, slot, shape, dtype, rng)
        inputs[slot.name] = _tensors(*one, special=False, length=int(rng.integers(1, 4)))
    elif slot.role is Role.WHOLES:
        wholes = [_wholes(slot, beside, rng) for _ in range(int(rng.integers(1, 4)))]
        inputs[slot.name] = {"list": wholes}
    elif slot.role not in _TENSORS:
        _put(new, inputs, signature, slot, beside, rng)
    return new


def _shape_of_some(draft: Draft, rng: Draw) -> Shape:
    """The shape of one of the tensors that are there."""
    arrays = [array_of(entry) for _, entry in tensors(draft)]
    known: list[Shape] = [array.shape for array in arrays if array is not None]
    return known[int(rng.integers(len(known)))] if known else ()


def _of_type(draft: Draft, dtype: str) -> Draft:
    """The call in another type; complex numbers keep their real parts, real ones get others."""
    new = copied(draft, dtype=None if dtype == "float64" else dtype)
    for _, entry in tensors(new):
        array = array_of(entry) if "dtype" not in entry else None
        if array is None or not array.size or array.dtype.kind not in "fc":
            continue
        if dtype in COMPLEX and array.dtype.kind == "f":
            turned = array + 1j * np.round(np.cos(np.arange(array.size)), 2).reshape(array.shape)
            entry.update(with_array(entry, turned))
        elif dtype not in COMPLEX and array.dtype.kind == "c":
            entry.update(with_array(entry, array.real))
    return new


def _other_values(draft: Draft, rng: Draw, *, whole: bool) -> None:
    """Another point, or other indices of the same shape."""
    every = [entry for _, entry in tensors(draft) if array_of(entry) is not None]
    chosen = [entry for entry in every if is_differentiated(entry) != whole]
    if not chosen:
        return
    entry = chosen[int(rng.integers(len(chosen)))]
    array = array_of(entry)
    if array is None or not array.size:
        return
    if whole:
        if array.dtype.kind in "iu":
            entry.update(with_array(entry, rng.permutation(array.ravel()).reshape(array.shape)))
        return
    dtype = str(entry.get("dtype") or draft.get("dtype", "float64"))
    entry.update(with_array(entry, values(rng, array.shape, dtype, special=True)[1]))


def _other_argument(draft: Draft, signature: Signature, rng: Draw) -> None:
    slots = [s for s in signature.slots if s.into != "inputs"]
    if not slots:
        return
    slot = slots[int(rng.integers(len(slots)))]
    before = draft.get(slot.into, {})
    if slot.name in before and not slot.required and rng.integers(2):
        del before[slot.name]
        if not before:
            draft.pop(slot.into, None)
        return
    _put(draft, {}, signature, slot, _shape_of_some(draft, rng), rng)


def _other_size(draft: Draft, rng: Draw) -> Draft:
    """All axes of one size with another size: made of the elements that are there."""
    new = copied(draft)
    held = [(entry, array) for _, entry in tensors(new) if (array := array_of(entry)) is not None]
    known = sorted({size for _, array in held for size in array.shape})
    if not known:
        return new
    before, after = int(rng.choice(known)), int(rng.choice([1, 2, 3, 0], p=[0.35, 0.3, 0.25, 0.1]))
    for entry, array in held:
        changed = array
        for axis, size in enumerate(array.shape):
            if size == before and size and rng.random() < 0.9:
                changed = np.take(changed, np.arange(after) % size, axis=axis)
        entry.update(with_array(entry, changed))
        if changed.size:
            entry.pop("shape", None)
        else:
            entry.pop("values", None)
    return new
