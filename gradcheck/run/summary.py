"""How a run ended, in numbers, and what it did not come to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gradcheck.model import Case, Result, Summary, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable


class Count:
    """Counts results as they come, by verdict, and those that are not as they should be."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._verdicts: Counter[Verdict] = Counter()
        self._failed = 0
        self._known = 0
        for result in results:
            self.add(result)

    def add(self, result: Result) -> None:
        """One more."""
        self._verdicts[result.verdict] += 1
        # A case that was not run has not failed, whatever verdict it waits for.
        if result.verdict is not Verdict.SKIPPED:
            self._failed += not result.expected
            self._known += result.expected and not result.verdict.acceptable

    def summary(self, *, problems: int, seconds: float, interrupted: bool = False) -> Summary:
        """How the run ended, if this was all."""
        return Summary(
            total=self._verdicts.total(),
            verdicts=dict(self._verdicts),
            failed=self._failed,
            known=self._known,
            problems=problems,
            seconds=seconds,
            interrupted=interrupted,
        )


def summarise(
    results: Iterable[Result], *, problems: int, seconds: float, interrupted: bool = False
) -> Summary:
    """The same of results that are all there."""
    count = Count(results)
    return count.summary(problems=problems, seconds=seconds, interrupted=interrupted)


def left_out(case: Case, failures: int) -> Result:
    """What is said of a case that did not run, because so many others failed (`--maxfail`)."""
    text = f"not run: stopped after {failures} failure{'s' if failures > 1 else ''}"
    return Result(case.id, Verdict.SKIPPED, message=text, case=case)
