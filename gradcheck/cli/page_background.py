"""What reports show beside their run: those of earlier runs, and the ops that are declared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.errors import UsageError
from gradcheck.report import FORMATS
from gradcheck.report.background import Background, DeclaredOp, EarlierRun

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def read_background(formats: Collection[str], baselines: Sequence[str]) -> Background:
    """What the formats have a use for; UsageError where a baseline cannot be read.

    Args:
        formats: of the reports that will be written.
        baselines: the JSON reports of earlier runs, the oldest first.
    """
    shown = baselines if _show_baselines(formats) else ()
    covered = any(FORMATS[name].coverage for name in formats)
    return Background(tuple(map(read_earlier_run, shown)), declared_ops() if covered else ())


def must_show_baselines(formats: Collection[str], baselines: Sequence[str]) -> None:
    """UsageError where a baseline is given that no report would show."""
    if baselines and not _show_baselines(formats):
        raise UsageError(
            f"--baseline is shown in {_showing()} reports: add --format html --output report.html, "
            f"or compare afterwards: gradcheck compare {baselines[-1]} new.json"
        )


def must_show_older(formats: Collection[str], older: Sequence[str], newest: str) -> None:
    """The same of reports that are given before the newest."""
    if older and not _show_baselines(formats):
        raise UsageError(
            f"older reports are shown in {_showing()} reports: add --format html --output "
            f"report.html; `gradcheck compare {older[-1]} {newest}` says what changed"
        )


def _show_baselines(formats: Collection[str]) -> bool:
    return any(FORMATS[name].baselines for name in formats)


def _showing() -> str:
    *first, last = [name for name, one in FORMATS.items() if one.baselines]
    return f"{', '.join(first)} and {last}"


def read_earlier_run(name: str) -> EarlierRun:
    """The run that a JSON report tells of."""
    from gradcheck.report.read.json_reader import read_report

    report = read_report(Path(name))
    return EarlierRun(name, report.environment, report.results, report.seconds)


def declared_ops() -> tuple[DeclaredOp, ...]:
    """What the catalogue holds, as far as a page speaks of it."""
    from gradcheck import ops

    return tuple(
        DeclaredOp(op.name, op.family, (op.name, op.tf, *op.aliases)) for op in ops.all_ops()
    )
