"""What a reporter is, and what most of them share: results put back into the plan's order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TextIO

from gradcheck.report.background import NO_BACKGROUND, Background

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Plan, Result, Summary
    from gradcheck.report.tally import ResultTally


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
    background: Background = NO_BACKGROUND
    """Earlier runs and the ops that there are, for formats that show them."""


def _new_tally() -> ResultTally:
    """Imported here: `--help` knows the reporters, and has no time for numpy."""
    from gradcheck.report.tally import ResultTally

    return ResultTally()


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A whole run, once it is over."""

    plan: Plan
    results: tuple[Result, ...]
    """Those that are told one by one, in the plan's order, each with its case where the plan knows
    it: all of them, but in reports of which `counts_many` says otherwise."""
    summary: Summary
    tally: ResultTally = field(default_factory=_new_tally)
    """All of them, counted."""

    def __post_init__(self) -> None:
        """Where nobody has counted, these are all."""
        if not self.tally.count:
            for position, result in enumerate(self.results):
                self.tally.add(result, position)

    @property
    def environment(self) -> Mapping[str, str]:
        """On what it ran."""
        return self.plan.environment

    @property
    def failures(self) -> tuple[Result, ...]:
        """The results that are not as expected."""
        return tuple(result for result in self.results if not result.expected)

    @property
    def known(self) -> tuple[Result, ...]:
        """The results that are not acceptable, but expected."""
        return tuple(r for r in self.results if r.expected and not r.verdict.acceptable)


class PlannedReporter:
    """Knows the plan, and where in it a result belongs."""

    def __init__(self, stream: TextIO, options: Options) -> None:
        self.stream = stream
        self.options = options
        self._plan: Plan | None = None
        self._positions: dict[str, int] = {}

    @property
    def plan(self) -> Plan:
        """The plan that `start` was told."""
        if self._plan is None:
            raise RuntimeError("a reporter must be started before it can report")
        return self._plan

    def start(self, plan: Plan) -> None:
        """Remember the plan."""
        self._plan = plan
        self._positions = {case.id: number for number, case in enumerate(plan.cases)}

    def position(self, result: Result) -> int:
        """The number of the result's case in the plan; behind all where the plan has none."""
        return self._positions.get(result.id, len(self._positions))

    def with_case(self, result: Result) -> Result:
        """The result with its case: one that came from another process may have lost it."""
        if result.case is None and result.id in self._positions:
            return replace(result, case=self.plan.cases[self._positions[result.id]])
        return result


class CollectingReporter(PlannedReporter):
    """Keeps what comes, and hands the whole of it to `report` when the run is over."""

    counts_many = False
    """Whether, of many results, those that are as they should be are counted and not kept."""

    def __init__(self, stream: TextIO, options: Options) -> None:
        super().__init__(stream, options)
        self._results: list[Result] = []
        self._tally = _new_tally()

    def result(self, result: Result) -> None:
        """Remember the result."""
        result = self.with_case(result)
        self._tally.add(result, self.position(result))
        self._results.append(result)
        if not self.counts_many or self.options.verbose or self.options.durations is not None:
            return
        if self._tally.count == MOST_CASES + 1:
            self._results = list(filter(self._tally.is_told, self._results))
        elif self._tally.count > MOST_CASES and not self._tally.is_told(result):
            self._results.pop()

    def finish(self, summary: Summary) -> None:
        """Report the whole run."""
        ordered = sorted(self._results, key=self.position)
        self.report(Outcome(self.plan, tuple(ordered), summary, self._tally))
        self.stream.flush()

    def report(self, outcome: Outcome) -> None:
        """Write the report of a run that is over."""
        raise NotImplementedError

    def case_by_case(self, outcome: Outcome) -> bool:
        """Whether the run is short enough, or the reader curious enough, for a word on each."""
        return self.options.verbose or outcome.tally.count <= MOST_CASES
