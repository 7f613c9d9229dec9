"""What there is to say about a failure, as text and small tables; the formats only lay it out."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.errors import nearest
from gradcheck.model import CheckKind, Verdict
from gradcheck.report import numbers
from gradcheck.report.safe_text import clipped, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Case, Comparison, Element, Expectation, Plan, Result

_GOOD = frozenset({Verdict.PASS, Verdict.SKIPPED})


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table: a header and rows of the same length."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class InputDetails:
    """One input that is not as expected."""

    label: str
    verdict: Verdict
    facts: str
    """How many elements are wrong, and by how much."""
    elements: Grid | None
    note: str
    cause: str
    places: str
    """The user's gradient functions that it points at."""


@dataclass(frozen=True, slots=True)
class FailureDetails:
    """Everything about one case that is not as expected."""

    id: str
    location: str
    verdict: Verdict
    headline: str
    """What happened, where the verdict alone would not say it: an expectation that was not met."""
    meaning: str
    reason: str
    """Why the spec expects what it expects."""
    message: str
    inputs: tuple[InputDetails, ...]
    replay: str
    """The command that runs just this case again; empty where no command did."""


def failure_details(result: Result, plan: Plan | None = None) -> FailureDetails:
    """What to say about a result that is not as expected; without a plan it is the library's."""
    case = result.case
    failing = [c for c in result.comparisons if fails(result, c) and c.verdict not in _GOOD]
    return FailureDetails(
        id=one_line(result.id),
        location=one_line(str(case.location)) if case else "",
        verdict=result.verdict,
        headline=_broken_expectation(result, _versions(plan)),
        meaning=_meaning(result),
        reason=one_line(case.reason) if case else "",
        message=clipped(result.message) if result.message else "",
        inputs=tuple(input_details(comparison) for comparison in failing),
        replay="" if plan is None else replay_command(result.id, plan, case),
    )


def _meaning(result: Result) -> str:
    """What the verdict means, unless the message gives another reason for it."""
    if result.verdict in _GOOD:
        return ""
    if result.verdict is Verdict.INCONCLUSIVE and result.message and not result.comparisons:
        return "There is no numeric derivative to judge by: see the message."
    return result.meaning


def gist(details: FailureDetails) -> str:
    """The failure in one line, as a list of failures shows it beside the verdict."""
    if details.headline or details.message:
        # (What follows the first line is for the account of the failure.)
        return one_line(details.headline or details.message.strip().partition("\n")[0])
    if details.verdict is Verdict.DISCONNECTED or not details.inputs:
        labels = ", ".join(item.label for item in details.inputs)
        return f"{labels}: {details.meaning}" if labels else details.meaning
    return "; ".join(f"{item.label}: {item.cause or item.facts}" for item in details.inputs)


def input_label(comparison: Comparison) -> str:
    """The input with its shape, and which derivative was checked unless it is the tape's."""
    label = numbers.named_shape(comparison.name, comparison.shape)
    kind = comparison.check
    return one_line(label if kind is CheckKind.REVERSE else f"{label} {kind}")


def replay_command(case_id: str, plan: Plan, case: Case | None = None) -> str:
    """The command that runs just this case again, ready to be pasted into a shell.

    Where the run chose its modes or checks, the command names those of the case.
    """
    words = ["gradcheck", "run", case_id]
    for package in plan.environment.get("allow", "").split():
        words += ["--allow", package]
    if case is not None and "mode" in plan.environment:
        words += ["--mode", str(case.mode)]
    if case is not None and "check" in plan.environment:
        words += [word for kind in case.checks for word in ("--check", str(kind))]
    for option in ("seed", "budget"):
        if option in plan.environment:
            words += [f"--{option}", plan.environment[option]]
    return shlex.join(words)


def mark(result: Result) -> str:
    """What to add to a case's verdict: `expected` for a known bug, `unexpected` for its absence."""
    if result.expected:
        return "" if result.verdict.acceptable else "expected"
    return "unexpected" if result.verdict.acceptable else ""


def input_mark(result: Result, comparison: Comparison) -> str:
    """What to add to the verdict of one input: `expected` or `unexpected`, as for a case."""
    if fails(result, comparison):
        return "unexpected" if comparison.verdict.acceptable else ""
    if not comparison.verdict.acceptable:
        return "expected"
    missing = not result.expected and isinstance(_expectation(result), Verdict)
    return "unexpected" if missing and result.verdict.acceptable else ""


def fails(result: Result, comparison: Comparison) -> bool:
    """Whether this input is one of those that make the result a failure."""
    if result.expected:
        return False
    expect = _expectation(result)
    if expect is None:
        return not comparison.verdict.acceptable
    if isinstance(expect, Verdict):
        # The case as a whole missed its verdict: whatever is not simply right is worth showing.
        return comparison.verdict not in _GOOD
    wanted = expect.get(comparison.name)
    if wanted is None:
        return not comparison.verdict.acceptable
    return comparison.verdict != wanted


def element_grid(elements: Sequence[Element]) -> Grid | None:
    """The worst elements, one row each; columns that would be empty are left out."""
    if not elements:
        return None
    digits = numbers.digits_to_tell(elements)
    columns: list[tuple[str, list[str]]] = [
        ("index", [numbers.index(e.index) for e in elements]),
        ("input value", [numbers.scalar(e.value) for e in elements]),
        ("analytic", [numbers.scalar(e.analytic, digits) for e in elements]),
        (
            "numeric ± bound",
            [f"{numbers.scalar(e.numeric, digits)} ± {numbers.error(e.bound)}" for e in elements],
        ),
        ("error", [numbers.error(e.error) for e in elements]),
    ]
    if any(e.formula is not None for e in elements):
        columns.append(("formula", [numbers.scalar(e.formula, digits) for e in elements]))
    if any(e.left is not None or e.right is not None for e in elements):
        columns.append(("from left", [numbers.scalar(e.left) for e in elements]))
        columns.append(("from right", [numbers.scalar(e.right) for e in elements]))
    return Grid(
        header=tuple(title for title, _ in columns),
        rows=tuple(zip(*(cells for _, cells in columns), strict=True)),
    )


def input_details(comparison: Comparison) -> InputDetails:
    """What to say about one input."""
    diagnosis = comparison.diagnosis
    return InputDetails(
        label=input_label(comparison),
        verdict=comparison.verdict,
        facts=_facts(comparison),
        elements=element_grid(comparison.worst),
        note=clipped(comparison.note) if comparison.note else "",
        cause=one_line(diagnosis.text) if diagnosis else "",
        places=one_line("; ".join(map(str, comparison.places))),
    )


def _facts(comparison: Comparison) -> str:
    facts = []
    total, judged = comparison.elements, comparison.judged
    if comparison.failing and total > 1 and comparison.verdict is not Verdict.DISCONNECTED:
        if 0 < judged < total:
            facts.append(f"{comparison.failing} of {judged} judged elements ({total} in all)")
        else:
            facts.append(f"{comparison.failing} of {numbers.count(total, 'element')}")
    if comparison.directions:
        facts.append(numbers.count(comparison.directions, "random direction"))
    figures = {
        "max abs error": comparison.max_abs_error,
        "max rel error": comparison.max_rel_error,
        "error bar": comparison.error_bar,
    }
    facts += [f"{what} {numbers.error(n)}" for what, n in figures.items() if n is not None]
    return ", ".join([comparison.dtype, *facts])


def _expectation(result: Result) -> Expectation:
    return result.case.expect if result.case else None


def _versions(plan: Plan | None) -> str:
    """What to say of the versions that have a bug which the installed one has not."""
    version = plan.environment.get("tensorflow", "") if plan else ""
    match = re.match(r"\d+\.\d+", version)
    return f", or say which versions have it: `when: tensorflow<{match[0]}`" if match else ""


def _broken_expectation(result: Result, versions: str) -> str:
    expect = _expectation(result)
    if expect is None:
        return ""
    if isinstance(expect, Verdict):
        return _broken(expect, result.verdict, versions)
    broken = [
        f"{c.name}: {_broken(expect[c.name], c.verdict, versions)}"
        for c in result.comparisons
        if c.name in expect and c.verdict != expect[c.name]
    ]
    if not result.comparisons:
        wanted = ", ".join(f"{verdict} for {name}" for name, verdict in expect.items())
        return f"expected {wanted}, got {result.verdict} before any input was compared"
    compared = [c.name for c in result.comparisons]
    broken += [
        f"`expect` names {name!r}, which was not compared: there are {', '.join(compared)}"
        f"{_meant(name, compared)}"
        for name in expect
        if name not in compared
    ]
    return "\n".join(broken)


def _meant(name: str, known: list[str]) -> str:
    """The end of a message about a name that is not there."""
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""


def _broken(expected: Verdict, seen: Verdict, versions: str) -> str:
    if seen is Verdict.PASS:
        gone = f"the known bug is gone; remove `expect` from the spec{versions}"
        return f"expected {expected}, but it passes: {gone}"
    return f"expected {expected}, got {seen}"
