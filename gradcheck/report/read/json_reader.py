"""JSON reports read back: the results as they were, as far as a report holds them.

What `formats/json` writes of a decoded report is the same text again, so reports can be joined and
journals resumed without a trace. A report may come from anywhere: every member is held against its
kind, so that what is read can be printed and counted. Without that `test_any_value_anywhere` fails.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError
from gradcheck.model import (
    Case,
    CheckKind,
    Expectation,
    GradientCall,
    KnownBug,
    Location,
    Mode,
    Result,
    Shard,
    SpecProblem,
    Target,
    TargetKind,
    Verdict,
)
from gradcheck.report.formats.json import REPORT_VERSION
from gradcheck.report.read import typed_json as typed
from gradcheck.report.read.comparison_reader import read_comparison, read_stage
from gradcheck.report.read.typed_json import DamagedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)
"""What reading a document of another make may raise."""

MAX_REPORT = 2**31
"""Bytes: that of a million cases with their elements has as many."""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A JSON report: a run that is over, perhaps on another machine."""

    environment: Mapping[str, str]
    results: tuple[Result, ...]
    problems: tuple[SpecProblem, ...]
    seconds: float
    interrupted: bool
    shard: Shard | None


def read_report(path: Path) -> Report:
    """The report in a file; UsageError where there is none."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_REPORT + 1)
        if len(text) > MAX_REPORT:
            raise UsageError(f"{path}: is larger than {MAX_REPORT // 2**30} GiB: no report is")
        data = typed.parse(text.decode("utf-8-sig"), strict=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except DamagedError as error:
        raise UsageError(f"{path}: is damaged: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: is not JSON: {error}") from error
    if not isinstance(data, dict) or "results" not in data or "version" not in data:
        raise UsageError(f"{path}: is not a report: write one with `gradcheck run --format json`")
    if type(data["version"]) is not int or data["version"] != REPORT_VERSION:
        raise UsageError(
            f"{path}: is a report of version {str(data['version'])[:20]}; "
            f"this gradcheck reads {REPORT_VERSION}"
        )
    try:
        return _report(data)
    except DamagedError as error:
        raise UsageError(f"{path}: is damaged: {error}") from error
    except MALFORMED as error:
        raise UsageError(f"{path}: is damaged: {type(error).__name__}: {error}") from error


def decode_result(data: Any, case: Case | None = None) -> Result:
    """One result; where no case is given, it gets one that holds what the report tells of it."""
    return Result(
        id=typed.text(data, "id"),
        verdict=typed.choice(Verdict, data, "verdict"),
        comparisons=tuple(read_comparison(item) for item in typed.items(data, "comparisons")),
        message=typed.text(data, "message"),
        seconds=typed.seconds(data, "seconds"),
        case=_case(data) if case is None else case,
        decided_by=read_stage(data),
        # (Reports of before they were told have none.)
        called=_called(data) if data.get("gradients") is not None else None,
    )


def _called(data: Any) -> tuple[GradientCall, ...]:
    return tuple(
        GradientCall(
            typed.text(item, "op"),
            typed.choice(CheckKind, item, "check"),
            typed.texts(item, "dtypes"),
            typed.text(item, "attributes"),
        )
        for item in typed.items(data, "gradients")
    )


def _report(data: Mapping[str, Any]) -> Report:
    summary = typed.member(data, "summary")
    return Report(
        environment=typed.named_texts(data, "environment"),
        results=_results(typed.items(data, "results")),
        problems=tuple(
            SpecProblem(
                typed.text(item, "message"),
                _location(typed.member(item, "location")),
                typed.text(item, "hint"),
                typed.text(item, "source"),
            )
            for item in typed.items(data, "problems")
        ),
        seconds=typed.seconds(summary, "seconds"),
        interrupted=typed.flag(summary, "interrupted"),
        shard=None if data.get("shard") is None else _shard(data["shard"]),
    )


def _results(items: list[Any]) -> tuple[Result, ...]:
    results: dict[str, Result] = {}
    for number, item in enumerate(items, start=1):
        try:
            result = decode_result(item)
        except DamagedError as error:
            raise DamagedError(f"result {number}: {error}") from error
        if result.id in results:
            raise DamagedError(f"result {number}: {result.id[:200]} stands in it twice")
        results[result.id] = result
    return tuple(results.values())


def _shard(data: Any) -> Shard:
    index, count = typed.count(data, "index"), typed.count(data, "count")
    if not 1 <= index <= count:
        raise DamagedError(f"there is no shard {index} of {count}")
    return Shard(index, count, typed.text(data, "cut"), typed.counts(data, "positions"))


def _case(data: Mapping[str, Any]) -> Case | None:
    if typed.member(data, "location") is None:
        return None
    where = _location(data["location"])
    name = typed.text(data, "id")
    return Case(
        id=name,
        path=where.path,
        name=name.partition("::")[2],
        location=where,
        target=_target(data, where),
        inputs=(),
        dtype=typed.text(data, "dtype"),
        mode=typed.choice(Mode, data, "mode"),
        checks=_checks(data),
        added="added" in data and typed.flag(data, "added"),
        expect=_expect(data),
        reason=typed.text(data, "reason"),
        bug=_bug(data["bug"]) if data.get("bug") is not None else None,
        seed=_seed(data),
        tags=typed.texts(data, "tags"),
    )


def _bug(data: Any) -> KnownBug:
    names = (field.name for field in fields(KnownBug))
    return KnownBug(**{name: typed.text(data, name) for name in names})


def _checks(data: Mapping[str, Any]) -> tuple[CheckKind, ...]:
    """Which derivatives were checked; reports of before that was told tell it by comparison."""
    if "checks" in data:
        names = typed.items(data, "checks")
        return tuple(typed.choice(CheckKind, {"checks": name}, "checks") for name in names)
    told = (typed.choice(CheckKind, item, "check") for item in typed.items(data, "comparisons"))
    return tuple(dict.fromkeys(told)) or (CheckKind.REVERSE,)


def _target(data: Mapping[str, Any], where: Location) -> Target:
    """What the case is about; reports of before it was told name nothing."""
    if data.get("target") is None:
        return Target(TargetKind.OP, "", where)
    told = data["target"]
    return Target(typed.choice(TargetKind, told, "kind"), typed.text(told, "text"), where)


def _seed(data: Mapping[str, Any]) -> int:
    """The seed, which may be any that 64 bits hold."""
    seed = typed.member(data, "seed")
    if type(seed) is not int or not 0 <= seed < 2**63:
        raise DamagedError("`seed` should be a whole number of 63 bits")
    return seed


def _expect(data: Mapping[str, Any]) -> Expectation:
    told = typed.member(data, "expect")
    if told is None:
        return None
    if isinstance(told, str):
        return typed.choice(Verdict, data, "expect")
    return {name: typed.choice(Verdict, told, name) for name in typed.mapping(told, "expect")}


def _location(data: Any) -> Location:
    return Location(
        typed.text(data, "path"), typed.count(data, "line"), typed.count(data, "column")
    )
