"""How a run ended, in numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gradcheck.model import Result, Summary, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable


def summarise(
    results: Iterable[Result], *, problems: int, seconds: float, interrupted: bool = False
) -> Summary:
    """Count the results by verdict, and those that are not as they should be."""
    results = tuple(results)
    # A case that was not run has not failed, whatever verdict it waits for.
    judged = [result for result in results if result.verdict is not Verdict.SKIPPED]
    return Summary(
        total=len(results),
        verdicts=dict(Counter(result.verdict for result in results)),
        failed=sum(not result.expected for result in judged),
        known=sum(result.expected and not result.verdict.acceptable for result in judged),
        problems=problems,
        seconds=seconds,
        interrupted=interrupted,
    )
