"""Lines about what is no failure and still worth a line: known bugs, kinks, weak passes, skips."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradcheck.model import NO_DOUBLE, Verdict
from gradcheck.report import numbers
from gradcheck.report.details import input_label
from gradcheck.report.safe_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gradcheck.model import Element, Result


_PACKAGES = {"tensorflow": "TensorFlow", "keras": "Keras", "numpy": "NumPy", "python": "Python"}
_MOST_NAMES = 5
"""Cases that are named in a line."""


def known_lines(results: Iterable[Result]) -> list[str]:
    """One line for a known bug: the case, its verdict, the reason that the spec gives.

    Variants of one case of which the same is known share it: a run of every mode and check has
    twelve. Without it `test_variants_of_a_known_bug_share_a_line` fails.
    """
    known: dict[tuple[str, str], list[str]] = {}
    for result in results:
        reason = one_line(result.case.reason) if result.case else ""
        case, bracket, variant = one_line(result.id).partition("[")
        told = f"{result.verdict}{reason and f': {reason}'}"
        known.setdefault((case, told), []).append(f"{bracket}{variant}")
    return [f"{case}{_variants(some)}  {told}" for (case, told), some in known.items()]


def _variants(some: Sequence[str]) -> str:
    more = len(some) - _MOST_NAMES
    return ", ".join(some[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def is_mended(result: Result) -> bool:
    """Whether older versions get it wrong, and this one does not: a pass like any other."""
    bug = result.case.bug if result.case else None
    return bool(bug and bug.mended) and result.expected and result.verdict is not Verdict.SKIPPED


def expects_a_bug(result: Result) -> bool:
    """Whether its spec expects a verdict that is not right; a kink is."""
    expect = result.case.expect if result.case else None
    wanted = [expect] if expect is None or isinstance(expect, Verdict) else list(expect.values())
    return not all(verdict is None or verdict.acceptable for verdict in wanted)


def is_gone(result: Result) -> bool:
    """Whether it is right, and its spec expects a known bug of this version: a failure."""
    right = result.verdict.acceptable and result.verdict is not Verdict.SKIPPED
    return right and not result.expected and expects_a_bug(result)


def mended_lines(results: Iterable[Result], environment: Mapping[str, str]) -> list[str]:
    """What an upgrade has mended: a line on the known bugs of older versions, which pass here."""
    mended: dict[str, list[Result]] = {}
    for result in filter(is_mended, results):
        bug = result.case.bug if result.case else None
        package = re.split(r"[<>=!]", bug.versions if bug else "")[0]
        where = f"{_PACKAGES.get(package, package)} {environment.get(package, '')}"
        mended.setdefault(where, []).append(result)
    return [
        f"{_bugs(some)} mended in {one_line(where).strip()}: {_names(some)}"
        for where, some in mended.items()
    ]


def gone_lines(results: Iterable[Result]) -> list[str]:
    """A line on the known bugs that are not there, which fails the run: the spec must say so."""
    gone = list(filter(is_gone, results))
    if not gone:
        return []
    told = "the specs do not say so" if len(gone) > 1 else "its spec does not say so"
    return [f"{_bugs(gone)} gone, and {told}: {_names(gone)}"]


def _bugs(results: Sequence[Result]) -> str:
    return "1 known bug is" if len(results) == 1 else f"{len(results)} known bugs are"


def _names(results: Sequence[Result]) -> str:
    shown = ", ".join(one_line(result.id) for result in results[:_MOST_NAMES])
    more = len(results) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def weak_lines(result: Result) -> list[str]:
    """Lines on what passes with a reservation.

    It was not judged, or in its own low precision alone, or as the other function that it is in its
    mode.
    """
    if not result.expected:
        return []
    case, lines = one_line(result.id), []
    weak = [c for c in result.comparisons if c.verdict.acceptable and NO_DOUBLE in c.note]
    if weak:
        widest = max(c.error_bar or 0.0 for c in weak)
        where = f"{case}  {weak[0].dtype} alone: {', '.join(c.name for c in weak)}"
        lines.append(one_line(f"{where} (error bar up to {numbers.error(widest)})"))
    others = dict.fromkeys(c.another_in_its_mode for c in result.comparisons)
    lines += [one_line(f"{case}  {what}") for what in filter(None, others)]
    # (Inputs of which the same is to be said share a line.)
    told: dict[str, list[str]] = {}
    for comparison in result.comparisons:
        for what in filter(None, (comparison.reservation, comparison.left_changed)):
            told.setdefault(what, []).append(input_label(comparison))
    lines += [one_line(f"{case}  {', '.join(names)}: {what}") for what, names in told.items()]
    return lines


def kink_lines(result: Result) -> list[str]:
    """One line for each input at a kink that is no failure: where, and what the two sides are."""
    if not result.expected:
        return []
    lines = []
    for comparison in result.comparisons:
        sides = [side for element in comparison.worst if (side := _sides(element))]
        if comparison.verdict is Verdict.KINK and sides:
            lines.append(f"{one_line(result.id)}  kink: {input_label(comparison)}{';'.join(sides)}")
    return lines


def _sides(element: Element) -> str:
    """A gradient between the slopes of the two sides; of a jump both may be the same."""
    if element.left is None or element.right is None:
        return ""
    left, right = numbers.scalar(element.left), numbers.scalar(element.right)
    at = f" at {numbers.index(element.index)}" if element.index else ""
    where = f"{at}: {numbers.scalar(element.analytic)}"
    if left == right:
        return f"{where}, the slope on both sides of a jump"
    return f"{where}, between {left} from the left and {right} from the right"


def skipped_lines(results: Sequence[Result]) -> list[str]:
    """One line for each reason why cases were skipped."""
    reasons: dict[str, int] = {}
    for result in results:
        if result.verdict is Verdict.SKIPPED and result.expected:
            why = one_line(result.message)
            reasons[why] = reasons.get(why, 0) + 1
    return [f"{numbers.count(n, 'case')} skipped: {why}" for why, n in reasons.items() if why]
