"""What a reporter is, and what most of them share: results put back into the plan's order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from gradcheck.model import Plan, Result, Summary


MOST_CASES = 50
"""Beyond this, a spec file has one row: fifty fill a screen. Who wants every row says `-v`."""


class Reporter(Protocol):
    """Who listens to a run. `finish` comes last, however the run ends."""

    def start(self, plan: Plan) -> None:
        """Before the first result."""

    def result(self, result: Result) -> None:
        """A result, as soon as it is there: in any order."""

    def finish(self, summary: Summary) -> None:
        """After the last result."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked of a report; a format ignores what it has no use for."""

    verbose: bool = False
    durations: int | None = None
    """How many of the slowest cases to list; 0: all of them."""
    color: bool | None = None
    """None: as the terminal and NO_COLOR say."""
    header: bool = True
    """Whether to say what it ran on, where a person reads it."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A whole run, once it is over."""

    plan: Plan
    results: tuple[Result, ...]
    """In the plan's order, each with its case where the plan knows it."""
    summary: Summary

    @property
    def failures(self) -> tuple[Result, ...]:
        """The results that are not as expected."""
        return tuple(result for result in self.results if not result.expected)

    @property
    def known(self) -> tuple[Result, ...]:
        """The results that are not acceptable, but expected."""
        return tuple(r for r in self.results if r.expected and not r.verdict.acceptable)


class CollectingReporter:
    """Keeps what comes, and hands the whole of it to `report` when the run is over."""

    def __init__(self, stream: TextIO, options: Options) -> None:
        self.stream = stream
        self.options = options
        self._plan: Plan | None = None
        self._results: list[Result] = []

    @property
    def plan(self) -> Plan:
        """The plan that `start` was told."""
        if self._plan is None:
            raise RuntimeError("a reporter must be started before it can report")
        return self._plan

    def start(self, plan: Plan) -> None:
        """Remember the plan."""
        self._plan = plan
        self._cases = {case.id: case for case in plan.cases}

    def result(self, result: Result) -> None:
        """Remember the result."""
        self._results.append(self.with_case(result))

    def finish(self, summary: Summary) -> None:
        """Report the whole run."""
        position = {case.id: number for number, case in enumerate(self.plan.cases)}
        ordered = sorted(self._results, key=lambda r: position.get(r.id, len(position)))
        self.report(Outcome(self.plan, tuple(ordered), summary))
        self.stream.flush()

    def report(self, outcome: Outcome) -> None:
        """Write the report of a run that is over."""
        raise NotImplementedError

    def case_by_case(self, outcome: Outcome) -> bool:
        """Whether the run is short enough, or the reader curious enough, for a word on each."""
        return self.options.verbose or len(outcome.results) <= MOST_CASES

    def with_case(self, result: Result) -> Result:
        """The result with its case: one that came from another process may have lost it."""
        if result.case is None and result.id in self._cases:
            return replace(result, case=self._cases[result.id])
        return result
