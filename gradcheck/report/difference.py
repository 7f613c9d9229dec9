"""What changed between two runs: the machine, the verdicts, errors that grew."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gradcheck.model import CheckKind, Comparison, Result, Verdict
from gradcheck.report import numbers
from gradcheck.report.background import GROWTH_FACTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcheck.report.background import Background

NOISE_UNITS = 64.0
"""Relative errors below so many units of rounding are the luck of the last digits too: a sum of a
few dozen terms may lose as much."""

_EPSILON = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "complex64": 2.0**-23,
}


class Run(Protocol):
    """A run that is over: just now, or read back from its report."""

    @property
    def environment(self) -> Mapping[str, str]:
        """On what it ran."""

    @property
    def results(self) -> tuple[Result, ...]:
        """What came of its cases."""


@dataclass(frozen=True, slots=True)
class Change:
    """One case that is not as it was."""

    id: str
    text: str = ""
    """How it was and is; empty for a case that is in one run alone."""


@dataclass(frozen=True, slots=True)
class ChangeList:
    """The cases that changed in one way, as every format lists them."""

    name: str
    """A heading."""
    words: str
    """What is said of their number: `3 with a larger error`."""
    title: str
    """What it means, in half a sentence."""
    worse: bool
    """Whether it is to be looked at."""
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """All that is not as it was."""

    environment: tuple[str, ...]
    broken: tuple[Change, ...]
    """As expected before and now not, or no longer looked at."""
    mended: tuple[Change, ...]
    """Not as expected before, and now so."""
    other: tuple[Change, ...]
    """Another verdict, as right or as wrong as before."""
    grown: tuple[Change, ...]
    """Errors that are much larger than before."""
    removed: tuple[str, ...]
    added: tuple[str, ...]
    common: int
    """How many cases are in both."""

    @property
    def worse(self) -> bool:
        """Whether something that was right is right no longer, or not looked at any more."""
        return bool(self.broken or self.grown or self.removed)

    def lists(self) -> list[ChangeList]:
        """The ways in which something changed, the gravest first; none that is empty."""
        gone, new = (tuple(map(Change, names)) for names in (self.removed, self.added))
        rows = [
            ("broken", "broken", "as expected before, and not any more", True, self.broken),
            ("mended", "mended", "not as expected before, and now so", False, self.mended),
            (
                "other verdict",
                "with another verdict",
                "another verdict, as right or wrong as before",
                False,
                self.other,
            ),
            (
                "larger error",
                "with a larger error",
                "errors that are much larger than before",
                True,
                self.grown,
            ),
            ("gone", "gone", "not in the new run any more", True, gone),
            ("new", "new", "not in the old run", False, new),
        ]
        return [ChangeList(*row) for row in rows if row[-1]]

    def counts(self) -> str:
        """`1 broken, 2 new`, or `no change`."""
        told = [f"{len(found.changes)} {found.words}" for found in self.lists()]
        return ", ".join(told) or "no change"


def since_the_last(background: Background, new: Run) -> Difference | None:
    """What changed since the last run before; None where there was none."""
    earlier = background.earlier
    return compare(earlier[-1], new, background.factor) if earlier else None


def compare(old: Run, new: Run, factor: float = GROWTH_FACTOR) -> Difference:
    """What changed from one run to another."""
    before = {result.id: result for result in old.results}
    after = {result.id: result for result in new.results}
    both = [(before[name], after[name]) for name in after if name in before]
    changed = [(was, now) for was, now in both if _verdicts(was) != _verdicts(now)]
    return Difference(
        environment=tuple(_environment(old.environment, new.environment)),
        broken=tuple(_change(w, n) for w, n in changed if _trend(w, n) < 0),
        mended=tuple(_change(w, n) for w, n in changed if _trend(w, n) > 0),
        other=tuple(_change(w, n) for w, n in changed if _trend(w, n) == 0),
        grown=tuple(change for was, now in both for change in _growth(was, now, factor)),
        removed=tuple(name for name in before if name not in after),
        added=tuple(name for name in after if name not in before),
        common=len(both),
    )


def _environment(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for key in dict.fromkeys([*old, *new]):
        was, now = old.get(key, "unset"), new.get(key, "unset")
        if was != now:
            yield f"{key} {was} → {now}"


def _trend(was: Result, now: Result) -> int:
    """Below zero where it got worse, above where it got better."""
    if now.verdict is Verdict.SKIPPED:
        return -(was.verdict is not Verdict.SKIPPED)
    return now.expected - was.expected


def _verdicts(result: Result) -> tuple[object, ...]:
    parts = [(c.name, c.check, c.verdict) for c in result.comparisons]
    return (result.verdict, result.expected, *parts)


def _change(was: Result, now: Result) -> Change:
    text = f"{_described(was)} → {_described(now)}"
    inputs = {(c.name, c.check): c for c in was.comparisons}
    for c in now.comparisons:
        before = inputs.get((c.name, c.check))
        if before is not None and before.verdict != c.verdict:
            text += f"; {_label(c)} {before.verdict} → {c.verdict}"
    if now.message and now.message != was.message:
        text += f": {now.message.splitlines()[0]}"
    return Change(now.id, text)


def _described(result: Result) -> str:
    expects = result.case is not None and result.case.expect is not None
    if not expects or result.verdict is Verdict.SKIPPED:
        return str(result.verdict)
    return f"{result.verdict} ({'' if result.expected else 'not '}expected)"


def _growth(was: Result, now: Result, factor: float) -> Iterator[Change]:
    before = {(c.name, c.check): c for c in was.comparisons}
    for c in now.comparisons:
        past = before.get((c.name, c.check))
        if past is None or past.verdict != c.verdict or c.shape != past.shape:
            continue  # that a verdict changed is said elsewhere
        if _grew(past.max_rel_error, c.max_rel_error, factor, c.dtype):
            yield Change(now.id, f"{_label(c)} rel {_errors(past.max_rel_error, c.max_rel_error)}")
        elif _grew(past.error_bar, c.error_bar, factor, c.dtype):
            yield Change(now.id, f"{_label(c)} error bar {_errors(past.error_bar, c.error_bar)}")


def _grew(was: float | None, now: float | None, factor: float, dtype: str) -> bool:
    if was is None or now is None or math.isnan(was):
        return False
    floor = NOISE_UNITS * _EPSILON.get(dtype, 2.0**-52)
    return math.isnan(now) or now > max(factor * was, floor)


def _errors(was: float | None, now: float | None) -> str:
    assert was is not None  # noqa: S101  (both grew)
    assert now is not None  # noqa: S101
    return f"{numbers.error(was)} → {numbers.error(now)}"


def _label(comparison: Comparison) -> str:
    kind = "" if comparison.check is CheckKind.REVERSE else f" {comparison.check}"
    return f"{comparison.name}{kind}"
