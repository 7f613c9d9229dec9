"""What the run says of a claim: whether it is true, and by which numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.model import CheckKind, Verdict
from gradcheck.report.numbers import count
from gradcheck.report.safe_text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcheck.course.lesson_page import Claim
    from gradcheck.model import Case, Comparison, Result

MOST_SHOWN = 8
"""Elements of a gradient that are shown as numbers: more say nothing to a reader."""
MOST_GRADIENTS = 4
"""Gradients of a claim that are told one by one: the weights of a model are many."""

TRUE, FALSE, FAILED = "true", "false", "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim beside what the run says of it."""

    claim: Claim
    word: str
    """`true`, `false`, or `failed` where the case did not end as the lesson says."""
    facts: tuple[str, ...]
    """The gradients in numbers; of a false claim those that are wrong."""
    reason: str = ""
    """Why it is so, as the spec has it."""


def outcome(claim: Claim, results: Sequence[Result]) -> Outcome:
    """The claim is false where the gradient that it gives is none: a mismatch."""
    if not results:
        return Outcome(claim, FAILED, (f"the spec has no case {claim.case}",))
    if not all(result.expected for result in results):
        worst = next(result for result in results if not result.expected)
        said = one_line(worst.message).strip()
        ended = f"the case ended with {worst.verdict}{said and ': '}{said}"
        return Outcome(claim, FAILED, (ended, *_facts([worst], wrong=False)))
    case = results[0].case
    reason = case.reason if case is not None else ""
    false = any(result.verdict is Verdict.MISMATCH for result in results)
    return Outcome(claim, FALSE if false else TRUE, _facts(results, wrong=false), reason)


def _facts(results: Sequence[Result], *, wrong: bool) -> tuple[str, ...]:
    """A line for each gradient, or for each that is wrong; what several cases say is said once."""
    every = [(r.case, c) for r in results for c in r.comparisons]
    told = [(_fact(case, c), c) for case, c in every if not (wrong and c.verdict.acceptable)]
    facts = dict(told)
    if len(facts) > MOST_GRADIENTS and all(c.verdict.acceptable for c in facts.values()):
        elements = sum(c.elements for c in facts.values())
        return (f"{len(facts)} gradients with {count(elements, 'element')}, all right",)
    return tuple(facts)


def summary(lesson: str, results: Mapping[str, Sequence[Result]]) -> str:
    """One line on all cases of the spec, those that no claim names too."""
    every = [result for of_name in results.values() for result in of_name]
    odd = [name for name, of_name in results.items() if not all(r.expected for r in of_name)]
    there = f"The spec {lesson}.yaml has {count(len(every), 'case')}"
    if not odd:
        return f"{there}, and all end as they should."
    return f"{there}. These did not end as they should: {', '.join(odd)}."


def numbers_of(array: Any) -> str:
    """An array in few digits; what rounding leaves of a zero is one."""
    array = np.asarray(array)
    if array.ndim:
        return "[" + ", ".join(numbers_of(item) for item in array) + "]"
    return f"{round(float(array), 10) + 0.0:.6g}"


def _fact(case: Case | None, comparison: Comparison) -> str:
    """What came of one gradient."""
    name, verdict = comparison.name, comparison.verdict
    if comparison.check is not CheckKind.REVERSE:
        name += {CheckKind.SECOND: ", differentiated twice"}.get(
            comparison.check, f", {comparison.check}"
        )
    if verdict is Verdict.DISCONNECTED:
        return f"{name}: None; {comparison.note.partition(':')[0]}"
    shown = case is not None and _can_be_shown(case, comparison)
    if verdict.acceptable:
        if shown:
            return f"{name}: {numbers_of(comparison.analytic)}"
        return f"{name}: {count(comparison.judged, 'element')}, all right"
    if comparison.note:
        return f"{name}: {comparison.note}"
    if shown:
        claimed, measured = numbers_of(comparison.analytic), numbers_of(comparison.numeric)
        return f"{name}: claimed {claimed}, measured {measured}"
    # (How well the cause fits differs from machine to machine: it stands in brackets.)
    cause = comparison.diagnosis.text.partition(" (")[0] if comparison.diagnosis else str(verdict)
    return f"{name}: {cause}"


def _can_be_shown(case: Case, comparison: Comparison) -> bool:
    """Few numbers, that come from numbers a reader knows: nothing was drawn."""
    given = all(each.values is not None for each in case.inputs)
    weighed = not isinstance(case.upstream, str) or case.upstream == "ones"
    there = comparison.analytic is not None and comparison.numeric is not None
    few = comparison.elements <= MOST_SHOWN
    return given and weighed and there and few and comparison.check is CheckKind.REVERSE
