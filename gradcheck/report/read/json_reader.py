"""JSON reports read back: the results as they were, as far as a report holds them.

What `formats/json` writes of a decoded report is the same text again, so reports can be joined and
journals resumed without a trace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import UsageError
from gradcheck.model import (
    Array,
    Case,
    CheckKind,
    CodePlace,
    Comparison,
    Diagnosis,
    Element,
    Expectation,
    Location,
    Mode,
    Result,
    Scalar,
    Shard,
    SpecProblem,
    Stage,
    Target,
    TargetKind,
    Verdict,
)
from gradcheck.report.formats.json import REPORT_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError)
"""What reading a document of another make may raise."""


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
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: is not JSON: {error}") from error
    if not isinstance(data, dict) or "results" not in data or "version" not in data:
        raise UsageError(f"{path}: is not a report: write one with `gradcheck run --format json`")
    if data["version"] != REPORT_VERSION:
        raise UsageError(
            f"{path}: is a report of version {data['version']!r}; "
            f"this gradcheck reads {REPORT_VERSION}"
        )
    try:
        return _report(data)
    except MALFORMED as error:
        raise UsageError(f"{path}: is damaged: {type(error).__name__}: {error}") from error


def decode_result(data: Mapping[str, Any], case: Case | None = None) -> Result:
    """One result; where no case is given, it gets one that holds what the report tells of it."""
    return Result(
        id=_text(data["id"]),
        verdict=Verdict(data["verdict"]),
        comparisons=tuple(_comparison(item) for item in data["comparisons"]),
        message=_text(data["message"]),
        seconds=float(data["seconds"]),
        case=_case(data) if case is None else case,
        decided_by=_stage(data),
    )


def _stage(data: Mapping[str, Any]) -> Stage | None:
    """The stage that decided; reports of before it was told have none."""
    told = data.get("decided_by")
    return None if told is None else Stage(told)


def _report(data: Mapping[str, Any]) -> Report:
    shard = data.get("shard")
    return Report(
        environment={_text(key): _text(value) for key, value in data["environment"].items()},
        results=tuple(decode_result(item) for item in data["results"]),
        problems=tuple(
            SpecProblem(
                _text(item["message"]), _location(item["location"]), item["hint"], item["source"]
            )
            for item in data["problems"]
        ),
        seconds=float(data["summary"]["seconds"]),
        interrupted=bool(data["summary"]["interrupted"]),
        shard=shard
        and Shard(
            shard["index"], shard["count"], shard["cut"], tuple(map(int, shard["positions"]))
        ),
    )


def _case(data: Mapping[str, Any]) -> Case | None:
    if data["location"] is None:
        return None
    where = _location(data["location"])
    return Case(
        id=_text(data["id"]),
        path=where.path,
        name=_text(data["id"]).partition("::")[2],
        location=where,
        target=Target(TargetKind.OP, "", where),
        inputs=(),
        dtype=data["dtype"],
        mode=Mode(data["mode"]),
        expect=_expect(data["expect"]),
        reason=data["reason"],
        seed=data["seed"],
        tags=tuple(data["tags"]),
    )


def _comparison(data: Mapping[str, Any]) -> Comparison:
    return Comparison(
        name=_text(data["name"]),
        verdict=Verdict(data["verdict"]),
        shape=tuple(map(int, data["shape"])),
        dtype=data["dtype"],
        check=CheckKind(data["check"]),
        decided_by=_stage(data),
        note=data["note"],
        judged=data["judged"],
        directions=data["directions"],
        max_abs_error=_real(data["max_abs_error"]),
        max_rel_error=_real(data["max_rel_error"]),
        error_bar=_real(data["error_bar"]),
        worst=tuple(_element(item) for item in data["worst"]),
        failing=data["failing"],
        analytic=_array(data["analytic"]),
        numeric=_array(data["numeric"]),
        bound=_array(data["bound"]),
        formula=_array(data["formula"]),
        diagnosis=_diagnosis(data["diagnosis"]),
        # (Reports of before they were told have none.)
        places=tuple(_place(item) for item in data.get("places", ())),
    )


def _element(data: Mapping[str, Any]) -> Element:
    return Element(
        index=tuple(map(int, data["index"])),
        value=_scalar(data["value"]),
        analytic=_scalar(data["analytic"]),
        numeric=_scalar(data["numeric"]),
        bound=float(data["bound"]),
        formula=None if data["formula"] is None else _scalar(data["formula"]),
        left=None if data["left"] is None else _scalar(data["left"]),
        right=None if data["right"] is None else _scalar(data["right"]),
    )


def _expect(data: str | Mapping[str, str] | None) -> Expectation:
    if data is None or isinstance(data, str):
        return None if data is None else Verdict(data)
    return {name: Verdict(verdict) for name, verdict in data.items()}


def _diagnosis(data: Mapping[str, str] | None) -> Diagnosis | None:
    return None if data is None else Diagnosis(data["cause"], data["text"])


def _place(data: Mapping[str, Any]) -> CodePlace:
    return CodePlace(_text(data["path"]), int(data["line"]), _text(data["function"]))


def _location(data: Mapping[str, Any]) -> Location:
    return Location(_text(data["path"]), int(data["line"]), int(data["column"]))


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError(f"{data!r} stands where a text should")
    return data


def _real(data: float | str | None) -> float | None:
    return None if data is None else float(data)


def _scalar(data: Any) -> Scalar:
    if isinstance(data, dict):
        return complex(float(data["re"]), float(data["im"]))
    return float(data)


def _array(data: Any) -> Array | None:
    return None if data is None else np.array(_nested(data))


def _nested(data: Any) -> Any:
    return [_nested(item) for item in data] if isinstance(data, list) else _scalar(data)
