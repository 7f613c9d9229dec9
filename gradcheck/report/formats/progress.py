"""The live bar that shows how far a run is; nothing moves where nobody looks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn
from rich.text import Text

from gradcheck.report import numbers

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Task

_ROOMY = 80
"""From this width on there is room for words that could be missed."""
_FIGURES = 52
"""What the figures take on a narrow screen; the bar gets what is left."""
_WORDS = 15
"""What the words take that a roomy screen has besides."""
_LONGEST_BAR = 40
_SOON = 0.3
"""Seconds without a result after which it is told what is waited for: a report that is read back
has its first at once."""


class Pace:
    """How many results came since when: what is left is told by those, not by what loading took."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.failed = 0
        self._began = time.monotonic()
        self._first = 0.0

    def advance(self, *, failed: bool) -> None:
        """One more is there."""
        if not self.done:
            self._first = time.monotonic()
        self.done += 1
        self.failed += failed

    def waits(self) -> bool:
        """Whether no result has come for longer than it takes to read one."""
        return not self.done and self.elapsed > _SOON

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    @property
    def rate(self) -> float | None:
        """Results per second since the first; None until there are two."""
        seconds = time.monotonic() - self._first
        return (self.done - 1) / seconds if self.done > 1 and seconds > 0 else None

    def told(self, *, roomy: bool) -> Text:
        """How many are done and failed, how fast they come, and how long the others will take."""
        parts = [Text(f"{self.done}/{self.total}{' cases' if roomy else ''}", "green")]
        if self.failed:
            parts.append(Text(numbers.count(self.failed, "failure"), "red"))
        rate = self.rate
        if rate is None:
            parts.append(Text(f"{_clock(self.elapsed)} so far", "yellow"))
        else:
            parts.append(Text(f"{rate:.1f} cases/s" if rate < 10 else f"{rate:.0f} cases/s"))
            parts.append(Text(f"{_clock((self.total - self.done) / rate)} left", "yellow"))
        return Text("  ").join(parts)


class _Words(ProgressColumn):
    """What is being done, and how far it is."""

    max_refresh = None

    def __init__(self, pace: Pace, *, before: bool, roomy: bool) -> None:
        self._pace, self._before, self._roomy = pace, before, roomy
        super().__init__()

    def render(self, task: Task) -> Text:
        del task
        if not self._before:
            return self._pace.told(roomy=self._roomy)
        if self._pace.waits():
            return Text("loading TensorFlow")
        return Text("checking" if self._roomy else "")


class LiveBar:
    """A bar that goes away when the run is over."""

    def __init__(self, console: Console, total: int) -> None:
        looked_at = console.file.isatty() and not console.is_dumb_terminal
        roomy = console.width >= _ROOMY
        room = console.width - _FIGURES - (_WORDS if roomy else 0)
        self._pace = Pace(total)
        bar = [BarColumn(bar_width=min(room, _LONGEST_BAR))] if room > 0 else []
        self._progress = Progress(
            SpinnerColumn("line" if console.options.ascii_only else "dots"),
            _Words(self._pace, before=True, roomy=roomy),
            *bar,
            _Words(self._pace, before=False, roomy=roomy),
            console=console,
            transient=True,
            disable=not looked_at or total == 0,
        )
        self._task = self._progress.add_task("", total=total)

    def start(self) -> None:
        """Show the bar."""
        self._progress.start()

    def advance(self, *, failed: bool) -> None:
        """One more case is done."""
        self._pace.advance(failed=failed)
        self._progress.update(self._task, advance=1)

    def stop(self) -> None:
        """Take the bar away."""
        self._progress.stop()


def _clock(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
