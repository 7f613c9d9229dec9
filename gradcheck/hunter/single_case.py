"""One failing case of a spec made small: what `gradcheck shrink` does."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import UsageError
from gradcheck.hunter.drafts import (
    Draft,
    array_of,
    case_of,
    copied,
    each_once,
    rounded,
    tensors,
    with_array,
    with_values,
)
from gradcheck.hunter.drafts import tensor as tensor_entry
from gradcheck.hunter.shrinker import shrunk
from gradcheck.model import Case, CheckKind, Mode, Result, TargetKind, Verdict
from gradcheck.run import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from gradcheck.hunter.shrinker import Checked
    from gradcheck.model import Input

STEP_BUDGET = 5.0
"""Seconds of processor time for one step."""


def draft_of(case: Case) -> Draft:
    """The case as plain data; UsageError where it holds what cannot be made smaller."""
    if case.arguments and any(a.template != a.name for a in case.arguments):
        raise UsageError(f"{case.id} has structures among its inputs: those are not shrunk")
    draft: Draft = {case.target.kind.value: case.target.text}
    if case.init:
        draft["init"] = dict(case.init)
    inputs = {given.name: _entry(given) for given in case.inputs}
    draft["inputs"] = list(inputs.values()) if case.by_position else inputs
    if case.args:
        draft["call" if case.target.kind is TargetKind.LAYER else "args"] = dict(case.args)
    if case.outputs:
        draft["outputs"] = list(case.outputs)
    plain: dict[str, Any] = {
        "dtype": (case.dtype, "float64"),
        "mode": (case.mode.value, Mode.EAGER.value),
        "seed": (case.seed, 0),
        "variables": (case.variables, True),
        "budget": (case.budget, None),
        "timeout": (case.timeout, None),
    }
    draft |= {key: value for key, (value, usual) in plain.items() if value != usual}
    if len(case.checks) == 1 and case.checks[0] is not CheckKind.REVERSE:
        draft["check"] = case.checks[0].value
    if isinstance(case.upstream, str) and case.upstream != "random":
        draft["upstream"] = case.upstream
    if case.tolerance is not None:
        draft["tolerance"] = {"rtol": case.tolerance.rtol, "atol": case.tolerance.atol}
    claims = {name: claim for name, claim in case.gradient.items() if isinstance(claim, str)}
    return {**draft, "gradient": claims} if claims else draft


def _entry(given: Input) -> dict[str, Any]:
    entry: dict[str, Any] = {"shape": list(given.shape)}
    if given.values is not None:
        entry = tensor_entry(np.asarray(given.values))
    elif given.sample is not None:
        entry["sample"] = str(given.sample)
    if given.dtype is not None:
        entry["dtype"] = given.dtype
    if not given.grad and given.dtype in (None, "float64", "float32", "complex128", "complex64"):
        entry["grad"] = False
    return {**entry, "variable": True} if given.variable else entry


def cause_of(result: Result) -> tuple[str, ...]:
    """What must stay: the verdict, the diagnosis, the kind of what was raised."""
    raised = re.search(r"\b(\w+(?:Error|Exception))\b", result.message)
    diagnosis = result.diagnosis.cause if result.diagnosis else ""
    return (result.verdict.value, diagnosis, raised[1] if raised else "")


def shrink_case(
    case: Case,
    *,
    allow: Sequence[str],
    root: str,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda _text: None,
) -> tuple[Draft, Result]:
    """The smallest case that ends like this one, and how it ends; UsageError where it passes."""
    numbers = itertools.count(1)

    def check(draft: Draft) -> Checked:
        number = next(numbers)
        found = case_of(draft, number, allow, budget=STEP_BUDGET)
        if isinstance(found, str):
            return Result(f"hunt{number}", Verdict.ERROR, message=f"refused: {found}")
        return (yield replace(found, timeout=found.timeout or case.timeout))

    def errand() -> Generator[Case, Result, tuple[Draft, Result]]:
        first = yield replace(case, expect=None)
        if first.verdict.acceptable:
            raise UsageError(f"{case.id} does not fail: its verdict is {first.verdict}")
        wanted = cause_of(first)
        draft = draft_of(case)
        if len(case.checks) > 1:
            draft["check"] = next(
                (c.check.value for c in first.comparisons if c.verdict is first.verdict),
                case.checks[0].value,
            )
        for simpler in (_rounded(with_values(draft, allow)), with_values(draft, allow), draft):
            if cause_of((yield from check(simpler))) == wanted:
                draft = simpler
                break
        else:
            raise UsageError(f"{case.id} does not fail in the same way when it runs again")

        def helped(steps: int, smaller: Draft) -> None:
            elements = sum(a.size for _, e in tensors(smaller) if (a := array_of(e)) is not None)
            progress(f"step {steps}: {elements} {'element' if elements == 1 else 'elements'}")

        small = yield from shrunk(draft, check, lambda _, r: cause_of(r) == wanted, helped)
        found = yield from failing_again((small, draft), check, wanted)
        if found is None:
            raise UsageError(f"{case.id} does not fail in the same way when it runs again")
        return found

    with Pool(allow=allow, root=root, jobs=jobs) as pool:
        return _run(pool, errand())


def failing_again(
    drafts: Sequence[Draft], check: Callable[[Draft], Checked], wanted: tuple[str, ...]
) -> Generator[Case, Result, tuple[Draft, Result] | None]:
    """The first that ends so once more, and how it ends; None where none does.

    Without it `test_what_fails_only_once` fails.
    """
    for draft in each_once(*drafts):
        last = yield from check(draft)
        if cause_of(last) == wanted:
            return draft, last
    return None


def _rounded(draft: Draft) -> Draft:
    new = copied(draft)
    for _, entry in tensors(new):
        array = array_of(entry)
        if array is not None and array.dtype.kind in "fc" and array.size:
            entry.update(with_array(entry, rounded(array)))
    return new


def _run(pool: Pool, errand: Generator[Case, Result, tuple[Draft, Result]]) -> tuple[Draft, Result]:
    """Go through an errand, one case at a time."""
    case = next(errand)
    while True:
        (result,) = pool.run([case])
        try:
            case = errand.send(result)
        except StopIteration as end:
            done: tuple[Draft, Result] = end.value
            return done
