"""Results counted as they come: how many of which verdict, and the worst errors of each file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradcheck.model import Verdict
from gradcheck.report import numbers
from gradcheck.report.details import mark
from gradcheck.report.matrix import Matrix
from gradcheck.report.remark_lines import is_mended

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gradcheck.model import Result

_ORDER = list(Verdict)


@dataclass(frozen=True, slots=True)
class FileTotals:
    """All results of one spec file in one line."""

    path: str
    cases: int
    max_abs_error: float | None
    max_rel_error: float | None
    error_bar: float | None
    verdicts: str
    failed: bool
    seconds: float


@dataclass(slots=True)
class _File:
    """What has come of a spec file so far."""

    first: int
    """The least position of its results."""
    verdicts: Counter[tuple[Verdict, str]] = field(default_factory=Counter)
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    error_bar: float | None = None
    failed: bool = False
    seconds: float = 0.0

    def add(self, result: Result, position: int) -> None:
        self.first = min(self.first, position)
        self.verdicts[result.verdict, mark(result)] += 1
        for c in result.comparisons:
            self.max_abs_error = numbers.largest((self.max_abs_error, c.max_abs_error))
            self.max_rel_error = numbers.largest((self.max_rel_error, c.max_rel_error))
            self.error_bar = numbers.largest((self.error_bar, c.error_bar))
        self.failed |= not result.expected
        self.seconds += result.seconds

    def totals(self, path: str) -> FileTotals:
        return FileTotals(
            path=path,
            cases=self.verdicts.total(),
            max_abs_error=self.max_abs_error,
            max_rel_error=self.max_rel_error,
            error_bar=self.error_bar,
            verdicts=_text(self.verdicts),
            failed=self.failed,
            seconds=self.seconds,
        )


class ResultTally:
    """Counts results, and keeps none."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self.count = 0
        self._files: dict[str, _File] = {}
        self.matrix = Matrix()
        """By function, mode, check and dtype."""
        for position, result in enumerate(results):
            self.add(result, position)

    def add(self, result: Result, position: int) -> None:
        """One more, which has this position among them all."""
        self.count += 1
        path, _ = split_id(result)
        if path not in self._files:
            self._files[path] = _File(position)
        self._files[path].add(result, position)
        self.matrix.add(result, position)

    @staticmethod
    def is_told(result: Result) -> bool:
        """Whether there is something to say of a result, however many there are."""
        good = result.verdict.acceptable and result.verdict is not Verdict.SKIPPED
        return not (good and result.expected) or is_mended(result)

    @property
    def verdicts(self) -> str:
        """`40 pass, 1 mismatch, 1 disconnected (expected)`."""
        together: Counter[tuple[Verdict, str]] = Counter()
        for file in self._files.values():
            together += file.verdicts
        return _text(together)

    def files(self) -> list[FileTotals]:
        """One line for each spec file, in the order in which the files first appear."""
        ordered = sorted(self._files.items(), key=lambda item: item[1].first)
        return [file.totals(path) for path, file in ordered]


def verdict_counts(results: Iterable[Result]) -> str:
    """`40 pass, 1 mismatch, 1 disconnected (expected)`."""
    return _text(Counter((result.verdict, mark(result)) for result in results))


def _text(counts: Mapping[tuple[Verdict, str], int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (_ORDER.index(item[0][0]), item[0][1]))
    return ", ".join(f"{n} {verdict}{why and f' ({why})'}" for (verdict, why), n in ordered)


def split_id(result: Result) -> tuple[str, str]:
    """The spec file of a result, and its name in there."""
    path, separator, name = result.id.partition("::")
    return (path, name) if separator else ("", result.id)
