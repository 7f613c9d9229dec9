"""Several reports into one: the shards of a suite, or suites that have nothing in common."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from gradcheck.errors import UsageError
from gradcheck.model import Plan, Result, SpecProblem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcheck.report.read.json_reader import Report

_MOST_NAMED = 20
"""Shards that a message names."""


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """What the reports say together."""

    plan: Plan
    results: tuple[Result, ...]
    seconds: float
    """Of all machines together."""
    interrupted: bool
    differences: tuple[str, ...]
    """In what the machines were not alike."""


def merge(reports: Mapping[str, Report]) -> Merged:
    """Join reports, given by the name of their file; UsageError where they are no whole."""
    if any(report.shard for report in reports.values()):
        _must_be_whole(reports)
        results = _in_order(list(reports.values()))
    else:
        results = [result for report in reports.values() for result in report.results]
    _must_be_distinct(reports)
    environment, differences = _environment([r.environment for r in reports.values()])
    problems = dict.fromkeys(p for report in reports.values() for p in report.problems)
    plan = Plan(
        cases=tuple(result.case for result in results if result.case),
        problems=tuple[SpecProblem, ...](problems),
        environment=environment,
    )
    return Merged(
        plan=plan,
        results=tuple(results),
        seconds=sum(report.seconds for report in reports.values()),
        interrupted=any(report.interrupted for report in reports.values()),
        differences=tuple(differences),
    )


def _must_be_whole(reports: Mapping[str, Report]) -> None:
    seen: dict[int, str] = {}
    first = next(iter(reports.values())).shard
    for name, report in reports.items():
        shard = report.shard
        if shard is None or first is None:
            whole = name if shard is None else next(iter(reports))
            raise UsageError(f"{whole} is the report of a whole suite, among reports of shards")
        if shard.count != first.count:
            raise UsageError(
                f"{name} is one of {shard.count} shards, {next(iter(reports))} one of {first.count}"
            )
        if shard.cut != first.cut:
            raise UsageError(
                f"{name} and {next(iter(reports))} are shards of different cuts: the specs, the "
                "selection or the recorded durations were not the same on both machines"
            )
        if shard.index in seen:
            raise UsageError(f"{seen[shard.index]} and {name} are both shard {shard.index}")
        seen[shard.index] = name
    if first is not None:
        # (A damaged report may claim any number of them.)
        numbers = (i for i in range(1, first.count + 1) if i not in seen)
        missing = [f"{i}/{first.count}" for i in islice(numbers, _MOST_NAMED)]
        left = first.count - len(seen) - len(missing)
        if missing:
            more = f" and {left:,} more" if left else ""
            told = f"{', '.join(missing)}{more}"
            raise UsageError(f"the suite is not whole: shard {told} is missing")


def _in_order(reports: Sequence[Report]) -> list[Result]:
    """The results as they would stand in the report of the whole suite."""
    placed: list[tuple[int, Result]] = []
    for report in reports:
        positions = report.shard.positions if report.shard else ()
        if len(positions) != len(report.results):
            raise UsageError(f"shard {report.shard and report.shard.index} is damaged")
        placed += zip(positions, report.results, strict=True)
    return [result for _, result in sorted(placed, key=lambda item: item[0])]


def _must_be_distinct(reports: Mapping[str, Report]) -> None:
    owners: dict[str, str] = {}
    for name, report in reports.items():
        for result in report.results:
            if result.id in owners:
                where = owners[result.id]
                both = f"twice in {name}" if where == name else f"in {where} and in {name}"
                raise UsageError(f"{result.id} is {both}: which result is to count?")
            owners[result.id] = name


def _environment(all_: Sequence[Mapping[str, str]]) -> tuple[dict[str, str], list[str]]:
    """What the machines have in common; where they differ, all values side by side."""
    keys = dict.fromkeys(key for environment in all_ for key in environment)
    merged: dict[str, str] = {}
    differences: list[str] = []
    for key in keys:
        values = dict.fromkeys(environment.get(key, "unset") for environment in all_)
        merged[key] = " | ".join(values)
        if len(values) > 1:
            differences.append(f"{key} is not the same everywhere: {merged[key]}")
    return merged, differences
