"""The live bar that shows how far a run is; nothing moves where nobody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from gradcheck.report import numbers

if TYPE_CHECKING:
    from rich.console import Console


class LiveBar:
    """A bar that goes away when the run is over."""

    def __init__(self, console: Console, total: int) -> None:
        looked_at = console.file.isatty() and not console.is_dumb_terminal
        self._failed = 0
        self._progress = Progress(
            SpinnerColumn("line" if console.options.ascii_only else "dots"),
            TextColumn("checking"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cases"),
            TextColumn("[red]{task.fields[failures]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not looked_at or total == 0,
        )
        self._task = self._progress.add_task("", total=total, failures="")

    def start(self) -> None:
        """Show the bar."""
        self._progress.start()

    def advance(self, *, failed: bool) -> None:
        """One more case is done."""
        self._failed += failed
        failures = numbers.count(self._failed, "failure") if self._failed else ""
        self._progress.update(self._task, advance=1, failures=failures)

    def stop(self) -> None:
        """Take the bar away."""
        self._progress.stop()
