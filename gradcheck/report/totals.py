"""Counting results: the totals line, one line per spec file, the slowest cases."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gradcheck.model import Verdict
from gradcheck.report import numbers
from gradcheck.report.details import mark

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gradcheck.model import Plan, Result
    from gradcheck.report.reporter import Outcome

AnyResult = TypeVar("AnyResult", bound="Result")

_ORDER = list(Verdict)


def verdict_counts(results: Iterable[Result]) -> str:
    """`40 pass, 1 mismatch, 1 disconnected (expected)`."""
    counts = Counter((result.verdict, mark(result)) for result in results)
    ordered = sorted(counts.items(), key=lambda item: (_ORDER.index(item[0][0]), item[0][1]))
    return ", ".join(f"{n} {verdict}{why and f' ({why})'}" for (verdict, why), n in ordered)


def totals(outcome: Outcome) -> str:
    """The last line of a report: what ran, how it ended, how long it took."""
    done, planned, summary = len(outcome.results), len(outcome.plan.cases), outcome.summary
    text = numbers.count(done, "case")
    if done < planned:
        text = f"{done} of {numbers.count(planned, 'case')}"
    if outcome.results:
        text += f": {verdict_counts(outcome.results)}"
    text += f" in {numbers.seconds(summary.seconds)}"
    if outcome.plan.problems:
        text += f", {numbers.count(len(outcome.plan.problems), 'spec problem')}"
    return f"interrupted after {text}" if summary.interrupted else text


def succeeded(outcome: Outcome) -> bool:
    """Whether everything that was asked for ran and is as expected."""
    return not (outcome.failures or outcome.plan.problems or outcome.summary.interrupted)


@dataclass(frozen=True, slots=True)
class FileTotals:
    """All results of one spec file in one line."""

    path: str
    cases: int
    max_abs_error: float | None
    max_rel_error: float | None
    error_bar: float | None
    verdicts: str
    failed: bool
    seconds: float


def by_file(results: Iterable[AnyResult]) -> dict[str, list[AnyResult]]:
    """The results of each spec file, in the order in which the files first appear."""
    files: dict[str, list[AnyResult]] = {}
    for result in results:
        files.setdefault(split_id(result)[0], []).append(result)
    return files


def file_totals(results: Iterable[Result]) -> list[FileTotals]:
    """One line for each spec file."""
    return [_file_totals(path, group) for path, group in by_file(results).items()]


def _file_totals(path: str, results: Sequence[Result]) -> FileTotals:
    comparisons = [comparison for result in results for comparison in result.comparisons]
    return FileTotals(
        path=path,
        cases=len(results),
        max_abs_error=numbers.largest(c.max_abs_error for c in comparisons),
        max_rel_error=numbers.largest(c.max_rel_error for c in comparisons),
        error_bar=numbers.largest(c.error_bar for c in comparisons),
        verdicts=verdict_counts(results),
        failed=not all(result.expected for result in results),
        seconds=sum(result.seconds for result in results),
    )


def split_id(result: Result) -> tuple[str, str]:
    """The spec file of a result, and its name in there."""
    path, separator, name = result.id.partition("::")
    return (path, name) if separator else ("", result.id)


def slowest(results: Iterable[Result], number: int | None) -> list[Result]:
    """The slowest cases first; none for None, all for 0."""
    if number is None:
        return []
    ordered = sorted(results, key=lambda result: -result.seconds)
    return ordered[: number or None]


def environment_line(plan: Plan, known: Collection[str] = ()) -> str:
    """The versions and flags of a run, in one line; without those that are known."""
    told = {key: value for key, value in plan.environment.items() if key not in known}
    return ", ".join(f"{key} {value}" for key, value in told.items())
