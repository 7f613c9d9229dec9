"""What is said of all results together: the totals line, the slowest cases."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, TypeVar

from gradcheck.report import numbers
from gradcheck.report.tally import split_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gradcheck.model import Plan, Result
    from gradcheck.report.reporter import Outcome

AnyResult = TypeVar("AnyResult", bound="Result")


def totals(outcome: Outcome) -> str:
    """The last line of a report: what ran, how it ended, how long it took."""
    done, planned, summary = outcome.tally.count, len(outcome.plan.cases), outcome.summary
    text = numbers.count(done, "case")
    if done < planned:
        text = f"{done} of {numbers.count(planned, 'case')}"
    if done:
        text += f": {outcome.tally.verdicts}"
    text += f" in {numbers.seconds(summary.seconds)}"
    if outcome.plan.problems:
        text += f", {numbers.count(len(outcome.plan.problems), 'spec problem')}"
    return f"interrupted after {text}" if summary.interrupted else text


def headline(outcome: Outcome) -> str:
    """How the run ended, in a few words."""
    done, failed = outcome.tally.count, len(outcome.failures)
    cases = numbers.count(done, "case")
    if failed:
        told = f"{failed} of {cases} failed"
    elif not done:
        told = "Nothing was run"
    else:
        told = f"All {cases} are as expected" if done > 1 else "The case is as expected"
    if outcome.summary.interrupted:
        told += f"; interrupted after {done} of {len(outcome.plan.cases)}"
    if outcome.plan.problems:
        told += f"; {numbers.count(len(outcome.plan.problems), 'spec problem')}"
    return told


def succeeded(outcome: Outcome) -> bool:
    """Whether everything that was asked for ran and is as expected."""
    return not (outcome.failures or outcome.plan.problems or outcome.summary.interrupted)


def by_file(results: Iterable[AnyResult]) -> dict[str, list[AnyResult]]:
    """The results of each spec file, in the order in which the files first appear."""
    files: dict[str, list[AnyResult]] = {}
    for result in results:
        files.setdefault(split_id(result)[0], []).append(result)
    return files


def worst_first(results: Iterable[AnyResult]) -> list[AnyResult]:
    """The gravest verdicts first and, of the same verdict, the largest errors."""
    return sorted(results, key=_badness)


def _badness(result: Result) -> tuple[int, float]:
    largest = numbers.largest(c.max_rel_error for c in result.comparisons)
    if largest is None:
        return result.verdict.severity, 0.0
    return result.verdict.severity, -math.inf if math.isnan(largest) else -largest


def slowest(results: Iterable[Result], number: int | None) -> list[Result]:
    """The slowest cases first; none for None, all for 0."""
    if number is None:
        return []
    ordered = sorted(results, key=lambda result: -result.seconds)
    return ordered[: number or None]


def environment_line(plan: Plan, known: Collection[str] = ()) -> str:
    """The versions and flags of a run, in one line; without those that are known."""
    told = {key: value for key, value in plan.environment.items() if key not in known}
    return ", ".join(_fact(key, value) for key, value in told.items())


def _fact(key: str, value: str) -> str:
    """A fact in words: `CPU:1` is one CPU, not the second, and `mode: xla` needs no auto-jit."""
    if key == "device" and re.fullmatch(r"\w+:\d+( \w+:\d+)*", value):
        kinds = (device.partition(":") for device in value.split(" "))
        return " and ".join(f"{many} {kind}{'' if many == '1' else 's'}" for kind, _, many in kinds)
    return f"{'XLA auto-jit' if key == 'XLA' else key} {value}"
