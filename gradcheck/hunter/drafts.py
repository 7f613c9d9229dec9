"""Cases as plain data, as a spec would have them: what is drawn, changed, shrunk and written."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.draw_inputs import operands
from gradcheck.model import Case, CheckKind, Location, Mode, Target, TargetKind
from gradcheck.spec.resolve import resolve
from gradcheck.start.trial import read_draft

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.model import Array

Draft = dict[str, Any]
"""The keys of a case. Tensors are `{values: …}`, so that nothing about them has to be drawn."""

KEYS = ("op", "function", "layer", "expr")
FLOATS = ("float64", "float32", "float16", "bfloat16")
COMPLEX = ("complex128", "complex64")
LOW_PRECISION = "low precision"
"""A class of numbers, of float16 and bfloat16."""
LOW = ("float16", "bfloat16", "float32")
DIGITS = 3
"""Digits of the numbers that are drawn: they are to be read, and nothing is lost by it."""


def key_of(draft: Draft) -> str:
    """What names the function under test: `op`, `function`, `layer` or `expr`."""
    return next(key for key in KEYS if key in draft)


def target_of(draft: Draft) -> str:
    """The function under test."""
    return str(draft[key_of(draft)])


def mode_of(draft: Draft) -> Mode:
    """How it runs."""
    return Mode(draft.get("mode", Mode.EAGER))


def check_of(draft: Draft) -> CheckKind:
    """Which derivative of it is checked."""
    return CheckKind(draft.get("check", CheckKind.REVERSE))


def dtype_class(draft: Draft) -> str:
    """What of the numbers' type a cause depends on: complex rules, or few bits."""
    dtype = str(draft.get("dtype", "float64"))
    if dtype in COMPLEX:
        return "complex"
    return LOW_PRECISION if dtype in ("float16", "bfloat16") else "real"


def copied(draft: Draft, **keys: Any) -> Draft:
    """A copy of one's own, with these keys; a key that is None is left out."""
    new = copy.deepcopy(draft)
    for key, value in keys.items():
        if value is None:
            new.pop(key, None)
        else:
            new[key] = value
    return new


def canonical(draft: Draft) -> str:
    """The same text for the same case."""
    return json.dumps(draft, sort_keys=True)


def each_once(*drafts: Draft) -> list[Draft]:
    """Those that are not the same case."""
    return list({canonical(draft): draft for draft in drafts}.values())


def tensors(draft: Draft) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every tensor with its path: `("x",)`, or `("x", 0)` inside of a list."""
    inputs = draft["inputs"]
    pairs = enumerate(inputs) if isinstance(inputs, list) else inputs.items()
    for name, entry in pairs:
        if isinstance(entry, dict) and "list" in entry:
            yield from (((name, place), each) for place, each in enumerate(entry["list"]))
        elif isinstance(entry, dict):
            yield (name,), entry


def is_differentiated(entry: dict[str, Any]) -> bool:
    """Whether a tensor holds floating-point numbers and its gradient is wanted."""
    dtype = str(entry.get("dtype", "float64"))
    return entry.get("grad", True) and dtype in (*FLOATS, *COMPLEX)


def is_finite(draft: Draft) -> bool:
    """Whether all numbers of the inputs are."""
    arrays = [array_of(entry) for _, entry in tensors(draft)]
    return all(np.isfinite(a).all() for a in arrays if a is not None and a.dtype.kind in "fc")


def array_of(entry: dict[str, Any]) -> Array | None:
    """The values of a tensor; None where they are drawn when the case runs."""
    if "values" in entry:
        dtype = str(entry.get("dtype", ""))
        return _array(entry["values"], dtype)
    if 0 in entry["shape"]:
        return np.zeros(entry["shape"], _plain_dtype(str(entry.get("dtype", ""))))
    return None


def with_array(entry: dict[str, Any], array: Array) -> dict[str, Any]:
    """The tensor with other values."""
    rest = {k: v for k, v in entry.items() if k not in ("values", "shape", "sample")}
    return {**tensor(array), **rest}


def tensor(array: Array, dtype: str | None = None) -> dict[str, Any]:
    """A tensor of these values as a spec writes it: one that is empty has a shape alone."""
    content: dict[str, Any] = {"values": spelt(array)} if array.size else {}
    if not array.size:
        content = {"shape": list(array.shape)}
    return content if dtype is None else {**content, "dtype": dtype}


def spelt(array: Array) -> Any:
    """Values as nested lists of what YAML reads."""
    if array.dtype.kind == "c":
        flat = [_complex(complex(each)) for each in array.ravel()]
        nested = np.empty(len(flat), dtype=object)
        nested[:] = flat
        return nested.reshape(array.shape).tolist()
    return array.tolist()


def _complex(number: complex) -> str:
    return str(number).strip("()")


def _array(values: Any, dtype: str) -> Array:
    array = np.array(values)
    if array.dtype.kind in "US":
        array = np.array([complex(str(each)) for each in array.ravel()]).reshape(array.shape)
    if dtype in FLOATS and array.dtype.kind in "iu":
        array = array.astype(np.float64)
    return array


def _plain_dtype(dtype: str) -> str:
    return "float64" if dtype in ("", "bfloat16") else dtype


def rounded(array: Array, digits: int = DIGITS) -> Array:
    """The values with few digits."""
    if array.dtype.kind == "c":
        return np.asarray(rounded(array.real, digits) + 1j * rounded(array.imag, digits))
    flat = [float(f"{float(each):.{digits}g}") for each in array.ravel()]
    return np.array(flat, dtype=np.float64).reshape(array.shape)


def case_of(
    draft: Draft,
    number: int,
    allow: Sequence[str],
    *,
    budget: float | None = None,
    timeout: float | None = None,
) -> Case | str:
    """The case of a draft, as a spec with it has one; what is wrong with it where it is none."""
    case = read_draft(draft, f"hunt{number}.yaml", allow)
    if isinstance(case, str):
        return case
    return replace(
        case,
        budget=budget if case.budget is None else case.budget,
        timeout=timeout if case.timeout is None else case.timeout,
    )


def with_values(draft: Draft, allow: Sequence[str]) -> Draft:
    """The draft with the values that its samples make, where they have no other form."""
    case = case_of(draft, 0, allow)
    new = copied(draft)
    if isinstance(case, str) or all("values" in entry for _, entry in tensors(new)):
        return new
    drawn = operands(resolve(case))
    for (_, entry), operand in zip(tensors(new), drawn, strict=True):
        if "sample" in entry or ("shape" in entry and operand.value.size):
            wide = np.complex128 if operand.value.dtype.kind == "c" else np.float64
            value = operand.value
            entry.update(tensor(value.astype(wide) if value.dtype.kind in "fcV" else value))
            entry.pop("sample", None)
            if value.size:
                entry.pop("shape", None)
    return new


def task_case(kind: str, number: int, request: dict[str, Any], *, timeout: float) -> Case:
    """A task for a worker that is no check: `task.py` reads it."""
    here = Location(f"{kind}{number}", 1, 1)
    users = bool(request.get("users_own"))
    target = Target(TargetKind.FUNCTION if users else TargetKind.OP, "task:" + kind, here)
    name = f"{kind}{number}"
    text = json.dumps(request)
    return Case(name, name, name, here, target, (), reason=text, timeout=timeout, tags=(kind,))
