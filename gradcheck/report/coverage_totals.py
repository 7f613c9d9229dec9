"""Counting what cases cover: gradient functions that they went through, functions that they name.

What is exercised was called on the way to a verdict; it is verified where that says that the
gradient is right, and known to be wrong where it says the contrary, as the case expects.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradcheck.model import CheckKind, TargetKind, Verdict
from gradcheck.model.inventories import RegisteredGradient
from gradcheck.model.results import NOTHING_TO_JUDGE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from gradcheck.model import Comparison, GradientCall, Result

_NO_VERDICT = frozenset({Verdict.ERROR, Verdict.CRASHED, Verdict.TIMEOUT, Verdict.SKIPPED})
"""How a case ends that has judged nothing."""

_BACKWARD = (CheckKind.REVERSE, CheckKind.SECOND)
"""The derivatives for which a tape goes back."""


@dataclass(slots=True, eq=False)
class Covered:
    """Something to cover, and what the cases say of it."""

    name: str
    family: str
    is_float: bool = False
    """Of a gradient function: whether its op is a pure function from floats to floats."""
    out_of_reach: str = ""
    """Why it cannot be called on this machine; empty where nothing is in the way."""
    calls: set[GradientCall] = field(default_factory=set)
    """How a gradient function was called, in cases with a verdict."""
    cases: list[str] = field(default_factory=list)
    """The cases with a verdict that went through it."""
    verified: bool = False
    """Whether one of them passed."""
    known_wrong: list[str] = field(default_factory=list)
    """Those that say that it is wrong, and expect so."""

    @property
    def exercised(self) -> bool:
        """Whether a case with a verdict went through it."""
        return bool(self.cases)

    @property
    def covered(self) -> bool:
        """Whether it is known to be right, or to be wrong."""
        return self.verified or bool(self.known_wrong)

    @property
    def in_reach(self) -> bool:
        """Whether it can be called here at all; what was called could be."""
        return self.exercised or not self.out_of_reach

    @property
    def missing(self) -> bool:
        """Whether no case goes through it that could."""
        return self.in_reach and not self.exercised


def covered_gradients(
    registered: Iterable[RegisteredGradient], results: Iterable[Result]
) -> list[Covered]:
    """The registered gradient functions, with what these results say of them."""
    known = {g.op: Covered(g.op, g.family, g.is_float, g.out_of_reach) for g in registered}
    passes = list(_passes(results))
    for _, _, calls in passes:
        for call in calls:
            if call.op in known:
                known[call.op].calls.add(call)
    went = [
        (result, _right(result.comparisons, check), {call.op for call in calls})
        for result, check, calls in passes
    ]
    # (A gradient that is missing is that of something which has none, and not of what was called.)
    blames = {Verdict.MISMATCH, Verdict.NONFINITE}
    return _with_cases(known, went, blames=blames, about={TargetKind.OP})


def called_gradients(results: Collection[Result]) -> list[Covered]:
    """The gradient functions that were called, of whoever's they are, with what is said of them."""
    called = {call.op for _, _, calls in _passes(results) for call in calls}
    return covered_gradients((RegisteredGradient(op, "", False) for op in sorted(called)), results)


def covered_functions(
    functions: Mapping[str, str], named: Mapping[str, Collection[str]], results: Iterable[Result]
) -> list[Covered]:
    """The public functions, with what these results say of them.

    Args:
        functions: by name, the family.
        named: by case, the functions that it names.
        results: of the cases.
    """
    known = {name: Covered(name, family) for name, family in functions.items()}
    went = []
    for result in filter(has_verdict, results):
        backward = [c for c in result.comparisons if c.check in _BACKWARD]
        went.append((result, _right(backward), named.get(result.id, ())))
    blames = {Verdict.MISMATCH, Verdict.NONFINITE, Verdict.DISCONNECTED}
    return _with_cases(known, went, blames=blames, about={TargetKind.OP, TargetKind.LAYER})


def foreign_gradients(
    registered: Sequence[RegisteredGradient], results: Iterable[Result]
) -> list[str]:
    """The ops whose gradients were called that TensorFlow does not register: somebody's own."""
    known = {gradient.op for gradient in registered}
    called = {call.op for _, _, calls in _passes(results) for call in calls}
    return sorted(called - known)


def has_gradient(result: Result) -> bool:
    """Whether the tape had a gradient for any of the inputs, in a case with a verdict."""
    return has_verdict(result) and any(
        c.verdict is not Verdict.DISCONNECTED and c.max_abs_error is not None
        for c in result.comparisons
    )


def has_verdict(result: Result) -> bool:
    """Whether the case has judged anything."""
    return result.verdict not in _NO_VERDICT


def _with_cases(
    known: dict[str, Covered],
    went: Iterable[tuple[Result, bool, Collection[str]]],
    *,
    blames: Collection[Verdict],
    about: Collection[TargetKind],
) -> list[Covered]:
    """What is known, with what the cases say of it.

    Where a gradient is wrong, what is right elsewhere is not to blame, unless the case is about
    that alone.

    Args:
        known: by name.
        went: the cases: whether each is right, and what it went through.
        blames: the verdicts that say that something is wrong with that.
        about: the kinds of targets that are one thing, and nothing around it.
    """
    blamed: list[tuple[Result, list[Covered]]] = []
    for result, right, called in went:
        found = [known[name] for name in called if name in known]
        for covered in found:
            covered.verified |= right
            if not covered.cases or covered.cases[-1] != result.id:
                covered.cases.append(result.id)
        if not right and result.verdict in blames and _is_known_fault(result):
            blamed.append((result, found))
    for result, suspects in blamed:
        kind = result.case.target.kind if result.case else None
        alone = len(suspects) == 1 and kind in about
        for covered in suspects:
            if alone or not covered.verified:
                covered.known_wrong.append(result.id)
    return list(known.values())


def _is_known_fault(result: Result) -> bool:
    """Whether a case that is not right was to be so, and not for code that is the user's own."""
    own = result.case is None or result.case.target.users_own
    return result.expected and not own


def _passes(results: Iterable[Result]) -> Iterator[tuple[Result, CheckKind, list[GradientCall]]]:
    """The cases with a verdict: by derivative, what was called for it."""
    for result in filter(has_verdict, results):
        by_check: dict[CheckKind, list[GradientCall]] = defaultdict(list)
        for call in result.called or ():
            by_check[call.check].append(call)
        for check, calls in by_check.items():
            yield result, check, calls


def _right(comparisons: Iterable[Comparison], check: CheckKind | None = None) -> bool:
    """Whether these were judged, and found right; of one derivative, where one is named."""
    compared = [c for c in comparisons if check in (None, c.check)]
    judged = [c for c in compared if not c.reservation.startswith(NOTHING_TO_JUDGE)]
    return bool(judged) and all(c.verdict.acceptable for c in compared)


@dataclass(frozen=True, slots=True)
class CoverageCount:
    """How many of some things are covered."""

    registered: int
    out_of_reach: int
    exercised: int
    verified: int
    known_wrong: int
    covered: int
    missing: int

    @classmethod
    def of(cls, things: Iterable[Covered]) -> CoverageCount:
        """Count these."""
        all_of = list(things)
        return cls(
            registered=len(all_of),
            out_of_reach=sum(not one.in_reach for one in all_of),
            exercised=sum(one.exercised for one in all_of),
            verified=sum(one.verified for one in all_of),
            known_wrong=sum(bool(one.known_wrong) for one in all_of),
            covered=sum(one.covered for one in all_of),
            missing=sum(one.missing for one in all_of),
        )

    @property
    def in_reach(self) -> int:
        """How many could be covered."""
        return self.registered - self.out_of_reach

    @property
    def percent(self) -> float:
        """The share that is covered of those in reach; 100 where there are none."""
        return 100 * self.covered / self.in_reach if self.in_reach else 100.0


def by_family(things: Iterable[Covered]) -> dict[str, list[Covered]]:
    """By family, in the order of their names."""
    families: dict[str, list[Covered]] = defaultdict(list)
    for covered in things:
        families[covered.family].append(covered)
    return dict(sorted(families.items()))


def share(percent: float) -> str:
    """A share that is 100 only when nothing is missing."""
    return f"{math.floor(percent * 10) / 10:.1f} %"
