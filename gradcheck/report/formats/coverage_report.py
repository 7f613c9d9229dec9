"""What cases cover, for people and for programs: lines, one JSON object, and one for a badge."""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.report import numbers
from gradcheck.report.coverage_totals import CoverageCount, Covered, by_family, share
from gradcheck.report.formats.json import encode_problem, json_text
from gradcheck.report.safe_text import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gradcheck.model import SpecProblem

COVERAGE_VERSION = 1
"""Goes up when a program that reads this object would have to change."""

_HEADS = (
    " regis- out of  exer- veri- known miss-",
    "  tered  reach  cised  fied wrong   ing",
)
_WIDTHS = (7, 7, 7, 6, 6, 6)
_FAMILY_WIDTH = 21
_LINE_WIDTH = 60
"""Characters: a line has no more, whatever the terminal is."""

_NAMED_CASES = 5
"""How many of the cases that go through something are named."""

_COLOURS = ((95, "brightgreen"), (85, "green"), (70, "yellowgreen"), (50, "yellow"), (0, "red"))
"""Of a badge, from so many per cent on."""


@dataclass(frozen=True, slots=True, eq=False)
class CoverageOutcome:
    """What was measured, once it is over."""

    gradients: tuple[Covered, ...]
    """The gradient functions that TensorFlow registers."""
    functions: tuple[Covered, ...]
    """The public functions that a tape can go back through."""
    unknown: int = 0
    """How many more public functions there are, of which nobody knows whether it can."""
    no_gradient: int = 0
    """How many ops are registered as not differentiable."""
    foreign: tuple[str, ...] = ()
    """The ops whose gradients were called and are somebody's own."""
    cases: int = 0
    judged: int = 0
    """How many of the cases had a verdict."""
    unrecorded: int = 0
    """How many of those do not say what they went through: of a report that was made otherwise."""
    problems: tuple[SpecProblem, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def count(self) -> CoverageCount:
        """Of all gradient functions."""
        return CoverageCount.of(self.gradients)

    @property
    def of_floats(self) -> CoverageCount:
        """Of those of pure functions from floats to floats."""
        return CoverageCount.of(one for one in self.gradients if one.is_float)

    @property
    def of_functions(self) -> CoverageCount:
        """Of the public functions."""
        return CoverageCount.of(self.functions)


def plain(outcome: CoverageOutcome, *, missing: bool = False) -> str:
    """Lines to read, of 60 characters at most."""
    lines = list(_problems(outcome))
    floats = ("all", outcome.count), ("pure float ops", outcome.of_floats)
    lines += _table("gradients of", outcome.gradients, floats)
    if missing:
        lines += _missing(outcome.gradients)
    lines += ["", *_table("functions of", outcome.functions, (("all", outcome.of_functions),))]
    if missing:
        lines += _missing(outcome.functions)
    lines += ["", *_totals(outcome)]
    return clean("\n".join(lines))


def document(outcome: CoverageOutcome, environment: Mapping[str, str]) -> str:
    """One JSON object; only the members named `seconds` differ from run to run."""
    whole = {
        "version": COVERAGE_VERSION,
        "environment": dict(environment),
        "summary": {
            "gradients": _count(outcome.count),
            "float_ops": _count(outcome.of_floats),
            "functions": _count(outcome.of_functions),
            "not_differentiable": outcome.no_gradient,
            "unknown_functions": outcome.unknown,
            "cases": outcome.cases,
            "judged": outcome.judged,
            "unrecorded": outcome.unrecorded,
            "seconds": outcome.seconds,
            "interrupted": outcome.interrupted,
        },
        "families": _counts(outcome.gradients),
        "modules": _counts(outcome.functions),
        "gradients": [_gradient(one) for one in outcome.gradients],
        "functions": [_thing(one) for one in outcome.functions],
        "foreign": list(outcome.foreign),
        "problems": [encode_problem(problem) for problem in outcome.problems],
    }
    return json_text(whole)


def badge(outcome: CoverageOutcome) -> str:
    """What shields.io reads to draw a badge."""
    percent = outcome.count.percent
    colour = next(name for least, name in _COLOURS if percent >= least)
    told = {"schemaVersion": 1, "label": "gradients", "message": share(percent), "color": colour}
    return json.dumps(told, indent=2) + "\n"


def _problems(outcome: CoverageOutcome) -> Iterator[str]:
    if outcome.problems:
        yield f"{numbers.count(len(outcome.problems), 'spec problem')}:"
        for problem in outcome.problems:
            yield from str(problem).split("\n")
        yield ""


def _table(
    title: str, things: Sequence[Covered], sums: Sequence[tuple[str, CoverageCount]]
) -> Iterator[str]:
    yield " " * _FAMILY_WIDTH + _HEADS[0]
    yield f"{title:<{_FAMILY_WIDTH}}{_HEADS[1]}"
    for family, members in by_family(things).items():
        yield _row(family, CoverageCount.of(members))
    for name, count in sums:
        yield _row(name, count)


def _row(name: str, count: CoverageCount) -> str:
    cells = (
        count.registered,
        count.out_of_reach,
        count.exercised,
        count.verified,
        count.known_wrong,
        count.missing,
    )
    first = f"{one_line(name)[:_FAMILY_WIDTH]:<{_FAMILY_WIDTH}}"
    return first + "".join(f"{n:>{width}}" for n, width in zip(cells, _WIDTHS, strict=True))


def _missing(things: Sequence[Covered]) -> Iterator[str]:
    """What no case goes through, by family, and then what is out of reach, by reason."""
    open_ = [one for one in things if one.missing]
    if open_:
        yield from _heading(f"{len(open_)} that no case goes through")
        for family, members in by_family(open_).items():
            yield from _listed(family, [one.name for one in members])
    doubtful = [one for one in things if one.exercised and not one.covered]
    if doubtful:
        yield from _heading(f"{len(doubtful)} that no case finds right")
        for one in doubtful:
            yield from _listed(one.name, [one_line(case) for case in one.cases[:_NAMED_CASES]])
    wrong = [one for one in things if one.known_wrong]
    if wrong:
        yield from _heading(f"{len(wrong)} that a case knows to be wrong")
        for one in wrong:
            yield from _listed(one.name, [one_line(case) for case in one.known_wrong[:1]])
    out = [one for one in things if not one.in_reach]
    reasons: dict[str, list[str]] = defaultdict(list)
    for one in out:
        reasons[one.out_of_reach].append(one.name)
    if out:
        yield from _heading(f"{len(out)} out of reach")
    for reason, names in sorted(reasons.items()):
        yield from textwrap.wrap(one_line(reason), _LINE_WIDTH, break_on_hyphens=False)
        yield from _listed("", names)


def _heading(text: str) -> list[str]:
    return ["", text, ""]


def _listed(name: str, words: Sequence[str]) -> list[str]:
    """Names in as many lines as they need, with what they have in common before the first."""
    title = one_line(name)
    beside = bool(title) and len(title) < _FAMILY_WIDTH
    beside = beside and max(map(len, words), default=0) <= _LINE_WIDTH - _FAMILY_WIDTH
    room = " " * (_FAMILY_WIDTH if beside else 2)
    lines = textwrap.wrap(
        " ".join(words),
        _LINE_WIDTH,
        initial_indent=f"{title:<{_FAMILY_WIDTH}}" if beside else room,
        subsequent_indent=room,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return lines if beside or not title else [title, *lines]


def _totals(outcome: CoverageOutcome) -> Iterator[str]:
    for name, count in (
        ("gradient functions", outcome.count),
        ("those of pure float ops", outcome.of_floats),
        ("public functions", outcome.of_functions),
    ):
        yield f"{share(count.percent):>7} of {name}: {count.covered} of {count.in_reach} in reach"
    if outcome.foreign:
        yield from _listed("your own gradients", outcome.foreign)
    told = f"{numbers.count(outcome.cases, 'case')}, {outcome.judged} with a verdict"
    if outcome.unrecorded:
        told += f", {outcome.unrecorded} of them without a record"
    told += f", in {numbers.seconds(outcome.seconds)}" if outcome.seconds else ""
    yield f"interrupted: {told}" if outcome.interrupted else told


def _gradient(one: Covered) -> dict[str, Any]:
    return {
        **_thing(one),
        "float_op": one.is_float,
        "out_of_reach": None if one.in_reach else one.out_of_reach,
        "checks": sorted({str(call.check) for call in one.calls}),
        "dtypes": sorted({dtype for call in one.calls for dtype in call.dtypes}),
        "attributes": sorted({call.attributes for call in one.calls if call.attributes}),
    }


def _thing(one: Covered) -> dict[str, Any]:
    return {
        "name": one.name,
        "family": one.family,
        "exercised": one.exercised,
        "verified": one.verified,
        "known_wrong": bool(one.known_wrong),
        "cases": len(one.cases),
        "first_cases": one.cases[:_NAMED_CASES],
        "wrong_in": one.known_wrong[:_NAMED_CASES],
    }


def _counts(things: Sequence[Covered]) -> dict[str, Any]:
    families = by_family(things).items()
    return {family: _count(CoverageCount.of(members)) for family, members in families}


def _count(count: CoverageCount) -> dict[str, Any]:
    return {
        "registered": count.registered,
        "out_of_reach": count.out_of_reach,
        "exercised": count.exercised,
        "verified": count.verified,
        "known_wrong": count.known_wrong,
        "covered": count.covered,
        "missing": count.missing,
        "percent": round(count.percent, 2),
    }
