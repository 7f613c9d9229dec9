"""A report that was read back, as if its run had just ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from gradcheck.model import Plan, Summary
    from gradcheck.report.read.json_reader import Report


def read_back(report: Report, name: str) -> tuple[Plan, Summary]:
    """What its run was about, and how it ended; UsageError where the report contradicts itself.

    Args:
        report: what was read.
        name: of its file.
    """
    from gradcheck.model import Plan
    from gradcheck.run import summarise

    cases = tuple(result.case for result in report.results if result.case)
    if report.shard and len(report.shard.positions) != len(cases):
        raise UsageError(f"{name}: is damaged: its `positions` do not fit its results")
    plan = Plan(cases, report.problems, report.environment, report.shard)
    summary = summarise(
        report.results,
        problems=len(report.problems),
        seconds=report.seconds,
        interrupted=report.interrupted,
    )
    return plan, summary
