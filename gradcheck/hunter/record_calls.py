"""The kernels that a call runs, each as a call of its own: this runs in a worker.

What is wrong with a function is mostly wrong with one kernel in it. Checked alone, at the numbers
that it got, it shows whether it is to blame. The definition of an op says by which names it takes
its inputs, the registry whether it is meant to have a gradient at all.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.case import problem_of
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.second_order import gradient_problem
from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.private_names import (
    Absent,
    Private,
    called_back,
    definition_of_op,
    private,
)
from gradcheck.checker.subject.tensors import call, to_numpy
from gradcheck.hunter.drafts import COMPLEX, FLOATS, Draft, case_of, tensor
from gradcheck.hunter.signatures import RAW, python_names
from gradcheck.model import Case, Result, Verdict
from gradcheck.spec.expression import allowlist

if TYPE_CHECKING:
    from collections.abc import Collection

_MOST_CALLS = 16
_RECORDED_ELEMENTS = 300
"""Of a tensor that is written down."""
_LONGEST_RECORD = 18_000


def record(case: Case, *, allow: Collection[str], root: str) -> Result:
    """Run the case's function once; the message has the kernels, and what is said of them."""
    request = json.loads(case.reason)
    draft: Draft = request["draft"]
    real = case_of(draft, 0, tuple(allow))
    if isinstance(real, str):
        return Result(case.id, Verdict.ERROR, message=real, case=case)
    watcher = _Watcher()
    with suppress(Exception):  # (what it raises is told by a check)
        problem = problem_of(real, allow=allow, root=root)
        if request.get("backward"):
            # (What the gradient runs is what a second derivative goes through.)
            problem, _ = gradient_problem(evaluate_at(problem))
        tensors = [operand.hold(operand.value) for operand in problem.operands]
        with suppress(Absent), as_python(), called_back(watcher):
            call(problem.function, tensors)
    answer = {"calls": watcher.calls, "kinds": watcher.kinds, "undifferentiable": _none(watcher)}
    while len(text := json.dumps(answer)) > _LONGEST_RECORD and watcher.calls:
        watcher.calls.pop()
    return Result(case.id, Verdict.PASS, message=text, case=case)


def _none(watcher: _Watcher) -> list[str]:
    """The kernels between floating-point numbers that are registered as having no gradient."""
    found = []
    for kind in watcher.kinds:
        try:
            if private(Private.REGISTRY).lookup(kind) is None:
                found.append(kind)
        except (Absent, LookupError):
            continue
    return found


class _Watcher:
    """Called by TensorFlow after every operation."""

    def __init__(self) -> None:
        self.calls: list[Draft] = []
        self.kinds: list[str] = []
        """Those that make floating-point numbers of floating-point numbers."""
        self._known: set[str] = set()

    def __call__(
        self,
        kind: str,
        inputs: Any,
        attrs: Any,
        outputs: Any,
        op_name: Any = None,
        graph: Any = None,
    ) -> None:
        """Keep the call, if a spec can have it."""
        del op_name
        if kind not in self.kinds and _floating(inputs) and _floating(outputs):
            self.kinds.append(kind)
        if graph is not None or RAW + kind not in allowlist.ALLOWED or not outputs:
            return
        if len(self.calls) < _MOST_CALLS:
            with suppress(Exception):  # (one that cannot be written is not to blame then)
                draft = _as_draft(kind, list(inputs), attrs)
                text = json.dumps(draft)
                if draft is not None and text not in self._known:
                    self._known.add(text)
                    self.calls.append(draft)


def _floating(tensors: Any) -> bool:
    return any(each.dtype.is_floating or each.dtype.is_complex for each in tensors)


def _as_draft(kind: str, inputs: list[Any], attrs: Any) -> Draft | None:
    """The call as a spec has it; None where none of its inputs can be differentiated."""
    definition = definition_of_op(kind)
    held = [to_numpy(each) for each in inputs]
    if any(array.size > _RECORDED_ELEMENTS for array in held):
        return None
    names = [each.dtype.name for each in inputs]
    floating = [name for name in names if name in (*FLOATS, *COMPLEX)]
    if not floating:
        return None
    given = dict(zip(attrs[::2], attrs[1::2], strict=False))
    taken: dict[str, Any] = {}
    place = 0
    for argument in definition.input_arg:
        count = int(given[argument.number_attr]) if argument.number_attr else 1
        if argument.type_list_attr:
            return None
        entries = [_entry(held[i], names[i], floating[0]) for i in range(place, place + count)]
        taken[argument.name] = {"list": entries} if argument.number_attr else entries[0]
        place += count
    inferred = {a.type_attr for a in definition.input_arg} | {
        a.number_attr for a in definition.input_arg
    }
    own = python_names(kind, [argument.name for argument in definition.input_arg])
    taken = {own[name]: entry for name, entry in taken.items()}
    args = {
        attribute.name: _plain(given[attribute.name])
        for attribute in definition.attr
        if attribute.name in given and attribute.name not in inferred and attribute.type != "type"
    }
    draft: Draft = {"op": RAW + kind, "inputs": taken}
    if args:
        draft["args"] = args
    if floating[0] != "float64":
        draft["dtype"] = floating[0]
    return draft


def _entry(array: Any, dtype: str, usual: str) -> dict[str, Any]:
    if dtype in (*FLOATS, *COMPLEX):
        wide = array.astype(np.complex128 if dtype in COMPLEX else np.float64)
        return tensor(wide, None if dtype == usual else dtype)
    return tensor(array, dtype)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} is not plain data")
