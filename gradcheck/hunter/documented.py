"""What TensorFlow itself says of an op: that it has no gradient, or that any order may be taken.

Read in a worker: an op's description, and those of the public functions that call it.
"""

from __future__ import annotations

import functools
import inspect
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.hunter.drafts import Draft, array_of, target_of, tensors
from gradcheck.hunter.signatures import RAW
from gradcheck.spec.expression import allowlist

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_GRADIENT = re.compile(
    r"gradient[^.]{0,40} not (defined|supported|implemented)"
    r"|not (support|provide)[^.]{0,20}(backprop|gradient)|not differentiable",
    re.IGNORECASE,
)
_ANY_ORDER = re.compile(r"non-?deterministic", re.IGNORECASE)
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(
    r"(?:well.defined|expected|must|should|assumed)[^.]{0,60} in (?:the range )?"
    rf"`?\[{_NUMBER}, ?{_NUMBER}\]"
)
_CALLS = re.compile(r"\bgen_\w+\.(\w+)\(")
_VERSION = re.compile(r"V\d+$")


def without_gradient(op: str) -> str:
    """Where it is said that the op has no gradient on purpose; empty where nothing says so.

    Without it `test_what_is_documented_is_no_finding` fails.
    """
    if _is_silent(_VERSION.sub("", op)):
        return f"{_VERSION.sub('', op)}, of which it is a version, is not differentiable"
    for name, text in _descriptions(op):
        if found := _NO_GRADIENT.search(" ".join(text.split())):
            return f"the description of {name} says so: {found[0]}"
    return ""


def takes_any_order(draft: Draft) -> bool:
    """Whether the call repeats an index of an op that promises nothing then."""
    op = target_of(draft).removeprefix(RAW)
    if not any(_ANY_ORDER.search(text) for _, text in _descriptions(op)):
        return False
    arrays = (array_of(entry) for _, entry in tensors(draft))
    whole = [array for array in arrays if array is not None and array.dtype.kind in "iu"]
    return any(_repeats(array) for array in whole if array.ndim)


def out_of_range(draft: Draft, values: Any) -> str:
    """Where it is said of an op in which range its numbers are to be, and these are not.

    Without it `test_numbers_out_of_the_range_that_is_documented` fails.
    """
    if not values.size or values.dtype.kind not in "fc":
        return ""
    for name, text in _descriptions(target_of(draft).removeprefix(RAW)):
        found = _RANGE.search(" ".join(text.split()))
        if found and not float(found[1]) <= values.real.min() <= values.real.max() <= float(
            found[2]
        ):
            return f"the description of {name} says: {found[0]}"
    return ""


def _repeats(indices: Any) -> bool:
    rows = indices.reshape(-1, indices.shape[-1]) if indices.ndim > 1 else indices[:, np.newaxis]
    return len(np.unique(rows, axis=0)) < len(rows)


def _is_silent(op: str) -> bool:
    try:
        return private(Private.REGISTRY).lookup(op) is None
    except (Absent, LookupError):
        return False


def _descriptions(op: str) -> Iterator[tuple[str, str]]:
    with suppress(Ended):
        yield f"{RAW}{op}", inspect.getdoc(look_up(f"{RAW}{op}")) or ""
    yield from _of_callers().get(_snake(op), [])


def _snake(op: str) -> str:
    """The name of the function that makes the op, in TensorFlow's generated modules."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op)
    return parted.lower()


@functools.cache
def _of_callers() -> dict[str, list[tuple[str, str]]]:
    """By op: the public functions whose source calls it, with their descriptions."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, function in _public_functions():
        try:
            called = set(_CALLS.findall(inspect.getsource(inspect.unwrap(function))))
        except (OSError, TypeError):
            continue
        for each in called:
            found.setdefault(each, []).append((name, inspect.getdoc(function) or ""))
    return found


def _public_functions() -> Iterator[tuple[str, Any]]:
    modules = {name.rpartition(".")[0] for name in allowlist.ALLOWED if name.startswith("tf.")}
    for module in sorted(modules - {RAW.rstrip(".")}):
        with suppress(Ended):
            held = vars(look_up(module)).items() if inspect.ismodule(look_up(module)) else ()
            yield from ((f"{module}.{name}", f) for name, f in held if inspect.isfunction(f))
