"""A run with many lives: it is killed, and resumed, until every case has its result."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from gradcheck.run.workers import orphans
from gradcheck.run.workers.memory import held_alone, shown
from tools.soak import cases
from tools.soak.processes import left_over, most_held, reap, server_of, strike
from tools.soak.tally import Tally, tally

if TYPE_CHECKING:
    from pathlib import Path

LOOK_SECONDS = 0.1
"""Seconds between two looks at the run."""

LEFT_SECONDS = 10.0
"""Seconds in which all processes of a run are gone."""

MOST_GIVEN_UP = 5
"""How often a run may end by itself without a result for every case."""

DONE = (0, 1)
"""Exit codes of a run that has come to its end."""


@dataclass(slots=True)
class Memory:
    """Bytes that a process held."""

    first: int = 0
    last: int = 0

    def look(self, pid: int) -> None:
        """Look again; of a process that has ended the last look stays."""
        if now := held_alone(pid):
            self.first = self.first or now
            self.last = now

    def __str__(self) -> str:
        return f"{shown(self.first)} at its first result, {shown(self.last)} at its last"


@dataclass(slots=True)
class Life:
    """One process of the command, from its start to its end."""

    taken_over: int
    """Results that were there when it began."""
    parent: Memory = field(default_factory=Memory)
    server: Memory = field(default_factory=Memory)
    seconds: float = 0.0
    code: int = 0
    results: int = 0
    """Those that were there when it ended."""
    peak: int = 0
    """The most bytes that the command held, its report included."""


@dataclass(slots=True)
class Outcome:
    """How it all went."""

    tally: Tally
    seconds: float
    struck: Counter[str]
    lives: list[Life]
    left: int
    """Processes that were left over."""

    @property
    def good(self) -> bool:
        """Whether nothing was lost, doubled or wrong, and nothing is left."""
        return self.tally.good and not self.left

    def __str__(self) -> str:
        struck = ", ".join(f"{count} {what}" for what, count in sorted(self.struck.items()))
        longest = max(self.lives, key=lambda life: life.results - life.taken_over)
        peak = max(life.peak for life in self.lives)
        gave_up = sum(not _killed(life.code) for life in self.lives[:-1])
        return "\n".join(
            [
                str(self.tally),
                f"left over {self.left}",
                f"killed    {struck or 'none'}",
                f"lives     {len(self.lives)}, of which {gave_up} ended by themselves too early",
                f"time      {self.seconds:.0f} s",
                f"command   {longest.parent}; {shown(peak)} at most, with its report",
                f"server    {longest.server}",
                f"          (of the life with most results: {longest.taken_over} to "
                f"{longest.results}, {longest.seconds:.0f} s)",
            ]
        )


def _killed(code: int) -> bool:
    return code in (-signal.SIGKILL, 128 + signal.SIGTERM)


class Soak:
    """So many cases in a folder, and a hand that kills."""

    def __init__(
        self, folder: Path, count: int, seed: int, *, every: float, kills: float, jobs: int
    ) -> None:
        """`every`: seconds between two kills on average; `kills`: how many there are at most."""
        self._folder = folder
        self._random = Random(seed)  # noqa: S311  (nothing to be kept secret)
        self._known = cases.write(folder / "specs", count, seed)
        (folder / "pyproject.toml").write_text("[tool.gradcheck]\n")
        self._every = every
        self._kills_left = kills
        self._jobs = jobs
        self._report = folder / "report.json"
        self._journal = folder / ".gradcheck" / "journal.jsonl"
        self._struck: Counter[str] = Counter()
        self._next_strike = math.inf

    def run(self) -> Outcome:
        """All lives, from the first case to the last."""
        begun = time.monotonic()
        orphans.adopt()  # what a killed command leaves comes to this process, and is seen
        lives: list[Life] = []
        try:
            while not lives or lives[-1].code not in DONE:
                lives.append(self._live(resume=bool(lives)))
                say(lives[-1])
                if sum(not _killed(life.code) for life in lives) > MOST_GIVEN_UP:
                    raise SystemExit(f"it gives up again and again: {self._folder / 'log.txt'}")
            left = left_over(LEFT_SECONDS)
        finally:
            orphans.adopt(False)
        return Outcome(
            tally(self._known, self._report, self._journal),
            time.monotonic() - begun,
            self._struck,
            lives,
            len(left),
        )

    def _live(self, *, resume: bool) -> Life:
        """Start the command, strike now and then, and see it end."""
        command = [sys.executable, "-m", "gradcheck", "run", "specs", "-j", str(self._jobs)]
        command += ["--format", "plain", "--format", "json", "--output", self._report.name]
        life = Life(self._results())
        size = self._journal_size()
        begun = time.monotonic()
        with (self._folder / "log.txt").open("ab") as log:
            process = subprocess.Popen(
                command + ["--resume"] * resume, cwd=self._folder, stdout=log, stderr=log
            )
        self._plan_strike()
        while process.poll() is None:
            time.sleep(LOOK_SECONDS)
            life.peak = max(life.peak, most_held(process.pid))
            server = server_of(process.pid)
            if server is not None and self._journal_size() > size:
                life.parent.look(process.pid)
                life.server.look(server)
            self._strike(process.pid)
            reap(but=process.pid)
        life.seconds, life.code = time.monotonic() - begun, process.returncode
        life.results = self._results()
        return life

    def _strike(self, parent: int) -> None:
        if time.monotonic() < self._next_strike:
            return
        struck = strike(parent, self._random)
        if struck is not None:
            victim, sent = struck
            self._struck[f"{victim} by {sent.name}"] += 1
            self._kills_left -= 1
        self._plan_strike()

    def _plan_strike(self) -> None:
        """At no regular times: whatever the run is at, it is struck in it now and then."""
        wait = self._random.expovariate(1 / self._every)
        self._next_strike = time.monotonic() + wait if self._kills_left > 0 else math.inf

    def _journal_size(self) -> int:
        return self._journal.stat().st_size if self._journal.exists() else 0

    def _results(self) -> int:
        if not self._journal.exists():
            return 0
        with self._journal.open("rb") as lines:
            return sum(line.startswith(b'{"key"') for line in lines)


def say(life: Life) -> None:
    """A line for each life, as it ends."""
    sys.stdout.write(
        f"{life.taken_over} → {life.results} results in {life.seconds:.0f} s, code {life.code}, "
        f"{shown(life.parent.last)}\n"
    )
    sys.stdout.flush()
