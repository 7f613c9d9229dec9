"""For programs: one JSON object, strict, in the plan's order, the same bytes for the same results.

Only the members named `seconds` differ from run to run. NaN and infinities are the strings "nan",
"inf" and "-inf"; a complex number is {"re": …, "im": …}.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from gradcheck.model import Stage, Verdict
from gradcheck.report.error_shades import error_shades
from gradcheck.report.reporter import Options, PlannedReporter
from gradcheck.report.safe_text import spelt
from gradcheck.report.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcheck.model import (
        Array,
        Case,
        CloseUp,
        Comparison,
        Diagnosis,
        Element,
        Expectation,
        KnownBug,
        Location,
        Result,
        Scalar,
        Shard,
        SpecProblem,
        Summary,
    )

REPORT_VERSION = 1
"""Goes up when a program that reads reports would have to change."""

_MOST_ELEMENTS = 64
"""Larger arrays are left out: an 8 × 8 matrix can still be read, and of anything larger the worst
elements say what there is to say."""


class JsonReporter(PlannedReporter):
    """One object, of which the results are written down as they come, and put together at the end.

    Kept until then, a hundred thousand of them took two gigabytes.
    """

    def __init__(self, stream: TextIO, options: Options) -> None:
        super().__init__(stream, options)
        self._results = Spool()
        self._found: list[int] = []
        """The cases of the plan that have a result, by number."""

    def result(self, result: Result) -> None:
        """Write the result aside."""
        position = self.position(result)
        self._found.append(position)
        self._results.add(position, json_text(encode_result(self.with_case(result)), "    "))

    def finish(self, summary: Summary) -> None:
        """Write the object."""
        plan = self.plan
        before = {"version": REPORT_VERSION, "environment": dict(plan.environment)}
        if plan.shard:  # only where there is one: a merged report is that of the whole suite
            before["shard"] = _shard(plan.shard, sorted(self._found))
        after = {
            "summary": _summary(summary),
            "problems": [encode_problem(problem) for problem in plan.problems],
        }
        write = self.stream.write
        write(json_text(before).removesuffix("\n}") + ',\n  "results": [')
        separator = "\n    "
        for text in self._results:
            write(separator + text)
            separator = ",\n    "
        write(("\n  ]" if self._found else "]") + "," + json_text(after).removeprefix("{") + "\n")
        self.stream.flush()


def json_text(data: Mapping[str, Any], indent: str = "") -> str:
    """An object as text, in which no line is a command of a CI."""
    # ASCII alone, so that the bytes do not depend on the stream's encoding.
    text = json.dumps(data, indent=2, ensure_ascii=True, allow_nan=False)
    return spelt(text.replace("\n", f"\n{indent}"), "\\u{:04x}")


def encode_result(result: Result) -> dict[str, Any]:
    """One result; `json_reader` reads it back without loss."""
    case = result.case
    return {
        "id": result.id,
        "verdict": str(result.verdict),
        "decided_by": _stage(result.decided_by),
        "expected": result.expected,
        "expect": _expect(case.expect) if case else None,
        "reason": case.reason if case else "",
        **_bug(case.bug if case else None),
        "message": result.message,
        "diagnosis": _diagnosis(result.diagnosis),
        "seconds": _number(result.seconds),
        "location": _location(case.location) if case else None,
        "target": _target(case) if case else None,
        "dtype": case.dtype if case else None,
        "mode": str(case.mode) if case else None,
        "checks": [str(check) for check in case.checks] if case else [],
        "added": bool(case and case.added),
        "seed": case.seed if case else None,
        "tags": list(case.tags) if case else [],
        "comparisons": [_comparison(comparison) for comparison in result.comparisons],
        **_gradients(result),
    }


def _gradients(result: Result) -> dict[str, Any]:
    """The gradient functions that were called; nothing where that is not known."""
    if result.called is None:
        return {}
    return {
        "gradients": [
            {
                "op": call.op,
                "check": str(call.check),
                "dtypes": list(call.dtypes),
                "attributes": call.attributes,
            }
            for call in result.called
        ]
    }


def _bug(bug: KnownBug | None) -> dict[str, Any]:
    """What else is known of a wrong gradient; nothing where that is nothing."""
    return {} if bug is None else {"bug": dataclasses.asdict(bug)}


def _stage(stage: Stage | None) -> str | None:
    return None if stage is None else str(stage)


def _target(case: Case) -> dict[str, str]:
    return {"kind": str(case.target.kind), "text": case.target.text}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "name": comparison.name,
        "check": str(comparison.check),
        "verdict": str(comparison.verdict),
        "decided_by": _stage(comparison.decided_by),
        "shape": [int(n) for n in comparison.shape],
        "dtype": comparison.dtype,
        "elements": comparison.elements,
        "judged": comparison.judged,
        "directions": comparison.directions,
        "max_abs_error": _number(comparison.max_abs_error),
        "max_rel_error": _number(comparison.max_rel_error),
        "error_bar": _number(comparison.error_bar),
        "worst_index": _index(comparison.worst_index),
        "failing": comparison.failing,
        "note": comparison.note,
        "worst": [_element(element) for element in comparison.worst],
        "analytic": _array(comparison.analytic),
        "numeric": _array(comparison.numeric),
        "bound": _array(comparison.bound),
        "formula": _array(comparison.formula),
        "diagnosis": _diagnosis(comparison.diagnosis),
        "places": [
            {"path": place.path, "line": place.line, "function": place.function}
            for place in comparison.places
        ],
        **_pictures(comparison),
    }


def _pictures(comparison: Comparison) -> dict[str, Any]:
    """What was gathered for pictures; not of what passes, where nobody would look for it."""
    if comparison.verdict is Verdict.PASS:
        return {}
    told: dict[str, Any] = {}
    if comparison.elements > _MOST_ELEMENTS and (shades := error_shades(comparison)):
        told["shades"] = shades
    if comparison.close_up is not None:
        told["close_up"] = _close_up(comparison.close_up)
    if comparison.jacobian:
        told["jacobian"] = list(comparison.jacobian)
    return told


def _close_up(close_up: CloseUp) -> dict[str, Any]:
    numbers = ("analytic", "numeric", "bound", "chosen")
    series = ("steps", "errors", "right", "left")
    return {
        "index": _index(close_up.index),
        "imaginary": close_up.imaginary,
        **{name: _number(getattr(close_up, name)) for name in numbers},
        **{name: [_number(value) for value in getattr(close_up, name)] for name in series},
    }


def _element(element: Element) -> dict[str, Any]:
    return {
        "index": _index(element.index),
        "value": _number(element.value),
        "analytic": _number(element.analytic),
        "numeric": _number(element.numeric),
        "bound": _number(element.bound),
        "formula": _number(element.formula),
        "left": _number(element.left),
        "right": _number(element.right),
    }


def _shard(shard: Shard, found: Sequence[int]) -> dict[str, Any]:
    return {
        "index": shard.index,
        "count": shard.count,
        "cut": shard.cut,
        # Where each result stands in the whole suite.
        "positions": [shard.positions[number] for number in found],
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "total": summary.total,
        # All ten, in their own order: a reader need not ask whether a key is there.
        "verdicts": {str(verdict): summary.verdicts.get(verdict, 0) for verdict in Verdict},
        "failed": summary.failed,
        "known": summary.known,
        "problems": summary.problems,
        "seconds": _number(summary.seconds),
        "interrupted": summary.interrupted,
    }


def encode_problem(problem: SpecProblem) -> dict[str, Any]:
    """One thing that is wrong in a spec."""
    return {
        "message": problem.message,
        "location": _location(problem.location),
        "hint": problem.hint,
        "source": problem.source,
    }


def _expect(expect: Expectation) -> str | dict[str, str] | None:
    if expect is None or isinstance(expect, Verdict):
        return expect and str(expect)
    return {name: str(verdict) for name, verdict in expect.items()}


def _diagnosis(diagnosis: Diagnosis | None) -> dict[str, str] | None:
    return {"cause": diagnosis.cause, "text": diagnosis.text} if diagnosis else None


def _location(location: Location) -> dict[str, Any]:
    return {"path": location.path, "line": location.line, "column": location.column}


def _index(index: tuple[int, ...] | None) -> list[int] | None:
    # numpy's integers are not JSON's.
    return None if index is None else [int(i) for i in index]


def _array(array: Array | None) -> Any:
    if array is None or array.size > _MOST_ELEMENTS:
        return None
    if array.dtype == np.float64 and all(map(math.isfinite, array.ravel().tolist())):
        return array.tolist()  # nearly always: the rest is ten times slower
    # bfloat16 and its like have no Python number of their own.
    wide = np.complex128 if np.iscomplexobj(array) else np.float64
    return _nested(array.astype(wide).tolist())


def _nested(value: Any) -> Any:
    return [_nested(item) for item in value] if isinstance(value, list) else _number(value)


def _number(value: Scalar | None) -> float | str | dict[str, Any] | None:
    if value is None:
        return None
    if isinstance(value, float):  # nearly always: the rest is a hundred times slower
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if np.iscomplexobj(value):
        return {"re": _number(value.real), "im": _number(value.imag)}
    number = float(value.real)
    return number if math.isfinite(number) else str(number)
