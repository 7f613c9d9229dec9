"""What many ratios come to: means by group, and the calls that stand out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.measuring import OURS, THEIRS, Record
from benchmarks.speed import geometric_mean
from gradcheck.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SIZES = ((1, 9), (10, 99), (100, 299), (300, 1000))
"""Classes of how many numbers are differentiated."""

SLOW, LONG = 2.0, 10.0
"""A check is named if it takes so many times as long as tf.test's, or so many seconds."""


def size_class(numbers: int) -> str:
    """The class that so many numbers are in."""
    low, high = next((low, high) for low, high in SIZES if numbers <= high)
    return f"{low}–{high:,} numbers"


def grouped(records: Iterable[Record], key: Callable[[Record], str]) -> dict[str, list[Record]]:
    """The records by their group, in the order in which the groups first appear."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def processor_ratio(record: Record) -> float:
    """How many times as much processor time tf.test takes: it matters less what else runs."""
    return record.processor[THEIRS] / record.processor[OURS]


def row(name: str, records: Sequence[Record]) -> list[str]:
    """A group's figures: how many, the geometric means, and the extremes."""
    ratios = [record.ratio for record in records]
    return [
        name,
        str(len(records)),
        milliseconds(geometric_mean(r.seconds[OURS] for r in records)),
        milliseconds(geometric_mean(r.seconds[THEIRS] for r in records)),
        f"**{geometric_mean(ratios):.2f}**",
        f"{geometric_mean(processor_ratio(r) for r in records):.2f}",
        f"{min(ratios):.2f}",
        f"{max(ratios):.1f}",
    ]


def milliseconds(seconds: float) -> str:
    """With three figures at least."""
    return f"{1e3 * seconds:,.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.3g}"


def slowest(records: Iterable[Record], count: int = 10) -> list[Record]:
    """Those on which a check takes longest."""
    return sorted(records, key=lambda r: -r.seconds[OURS])[:count]


def behind(records: Iterable[Record]) -> list[Record]:
    """Those on which a check takes more than twice as long as tf.test's, the worst first."""
    return sorted((r for r in records if r.ratio < 1 / SLOW), key=lambda r: r.ratio)


def long(records: Iterable[Record]) -> list[Record]:
    """Those on which a check takes more than ten seconds."""
    return [r for r in slowest(records, count=10**6) if r.seconds[OURS] >= LONG]


def not_passed(records: Iterable[Record]) -> list[Record]:
    """Those whose right gradient did not pass."""
    return [r for r in records if r.verdict != Verdict.PASS]
