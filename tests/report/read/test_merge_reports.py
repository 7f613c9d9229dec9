from __future__ import annotations

from dataclasses import replace

import pytest

from gradcheck.errors import UsageError
from gradcheck.model import Result, Shard, Verdict
from gradcheck.report.read.json_reader import Report
from gradcheck.report.read.merge_reports import merge
from tests.report import examples


def result(name: str) -> Result:
    return Result(name, Verdict.PASS, case=examples.case(name))


def report(*names: str, shard: Shard | None = None, **environment: str) -> Report:
    results = tuple(result(name) for name in names)
    return Report(environment or {"tensorflow": "2.21"}, results, (), 2.0, False, shard)


def shard(index: int, *positions: int, count: int = 2, cut: str = "x") -> Shard:
    return Shard(index, count, cut, positions)


def test_shards_make_the_suite_in_its_own_order() -> None:
    merged = merge(
        {
            "2.json": report("b", "c", shard=shard(2, 1, 2)),
            "1.json": report("a", "d", shard=shard(1, 0, 3)),
        }
    )
    assert [r.id for r in merged.results] == ["a", "b", "c", "d"]
    assert [case.id for case in merged.plan.cases] == ["a", "b", "c", "d"]
    assert merged.plan.shard is None
    assert merged.seconds == 4.0
    assert merged.differences == ()


def test_suites_follow_each_other() -> None:
    merged = merge({"b.json": report("b"), "a.json": report("a")})
    assert [r.id for r in merged.results] == ["b", "a"]


def test_a_problem_that_every_shard_has_is_told_once() -> None:
    first = replace(report("a", shard=shard(1, 0)), problems=(examples.PROBLEM,))
    second = replace(report("b", shard=shard(2, 1)), problems=(examples.PROBLEM,))
    assert merge({"1": first, "2": second}).plan.problems == (examples.PROBLEM,)


def test_an_interrupted_shard_makes_the_whole_interrupted() -> None:
    first = replace(report("a", shard=shard(1, 0)), interrupted=True)
    assert merge({"1": first, "2": report("b", shard=shard(2, 1))}).interrupted


def test_machines_that_differ_are_told() -> None:
    merged = merge(
        {"1": report("a", tensorflow="2.20", os="x"), "2": report("b", tensorflow="2.21", os="x")}
    )
    assert merged.plan.environment == {"tensorflow": "2.20 | 2.21", "os": "x"}
    assert merged.differences == ("tensorflow is not the same everywhere: 2.20 | 2.21",)


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        ([report("a", shard=shard(1, 0))], "shard 2/2 is missing"),
        ([report("a", shard=shard(1, 0)), report("b", shard=shard(1, 1))], "both shard 1"),
        ([report("a", shard=shard(1, 0)), report("b")], "whole suite, among"),
        ([report("a"), report("b", shard=shard(1, 0))], "whole suite, among"),
        ([report("a", shard=shard(1, 0)), report("b", shard=shard(2, 1, cut="y"))], "cuts"),
        ([report("a", shard=shard(1, 0)), report("b", shard=shard(2, 1, count=3))], "of 3 shards"),
        ([report("a", shard=shard(1)), report("b", shard=shard(2, 1))], "damaged"),
        ([report("a"), report("b", "a")], "a is in r0 and in r1"),
        ([report("a", "a")], "a is twice in r0"),
    ],
)
def test_what_is_no_whole_is_refused(reports: list[Report], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        merge({f"r{number}": report for number, report in enumerate(reports)})
