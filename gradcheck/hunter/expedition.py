"""A hunt: errands in rounds, each with one case at a time, until the time is over.

In a round every errand under way has one case, and all of them go to the workers together; what a
crash leaves in doubt runs again at the end of the round, alone. The target of a new errand is that
of the bandit.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from gradcheck.hunter import task
from gradcheck.hunter.bandit import Arm, choose
from gradcheck.hunter.explore import explore
from gradcheck.hunter.pursuit import CHECK_SECONDS, Errand, Hunt
from gradcheck.run import Pool, interruptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.hunter.quarry import Quarry
    from gradcheck.model import Case, Result

ERRANDS_OF_A_WORKER = 8
"""Errands that are under way for each worker: the more, the less a slow case holds up."""
SAVE_SECONDS = 5.0
LAST_SECONDS = 60.0
"""Seconds beyond the end for what was being looked into: then what is open is left."""


class Expedition:
    """The errands that are under way."""

    def __init__(self, hunt: Hunt, quarries: Sequence[Quarry], jobs: int) -> None:
        self._hunt = hunt
        self._quarries = {quarry.name: quarry for quarry in quarries}
        self._jobs = jobs
        self._open: dict[str, tuple[Errand, Case]] = {}
        """By target: the errand, and the case that it waits for."""
        for name in self._quarries:
            hunt.ledger.arms.setdefault(name, Arm())
        self._saved = time.monotonic()

    def run(self, seconds: float, progress: Callable[[float], None]) -> None:
        """Hunt for so long; what is found is written at once, whatever ends it."""
        begun = time.monotonic()
        until, before = begun + seconds, self._hunt.ledger.seconds
        hunt = self._hunt
        try:
            with Pool(
                allow=hunt.allow,
                root=hunt.root,
                jobs=self._jobs,
                timeout=CHECK_SECONDS,
                check=task.do,
                facts=(facts := {}),
            ) as pool:
                while self._fill(until) and time.monotonic() < until + LAST_SECONDS:
                    self._round(pool, until + LAST_SECONDS, progress, begun)
                    hunt.version = facts.get("tensorflow", hunt.version)
                    hunt.ledger.seconds = before + time.monotonic() - begun
                    self._save()
        finally:
            with interruptions.later():
                hunt.ledger.seconds = before + time.monotonic() - begun
                hunt.ledger.save()

    def _fill(self, until: float) -> bool:
        """Start new errands where there is room and time; whether any is under way."""
        room = ERRANDS_OF_A_WORKER * self._jobs
        arms = {name: self._hunt.ledger.arms[name] for name in self._quarries}
        while len(self._open) < room and time.monotonic() < until:
            name = choose(arms, self._open)
            if name is None:
                break
            self._advance(name, explore(self._hunt, self._quarries[name]), None)
        return bool(self._open)

    def _advance(self, name: str, errand: Errand, result: Result | None) -> None:
        """Go on with an errand until it wants another case, or is through."""
        try:
            case = next(errand) if result is None else errand.send(result)
        except StopIteration:
            self._open.pop(name, None)
        else:
            self._open[name] = (errand, case)

    def _round(
        self, pool: Pool, until: float, progress: Callable[[float], None], begun: float
    ) -> None:
        waiting = {case.id: name for name, (_, case) in self._open.items()}
        cases = [case for _, case in self._open.values()]
        stream = pool.run(cases, stop=lambda: time.monotonic() >= until)
        with contextlib.closing(stream):
            for result in stream:
                name = waiting[result.id]
                with interruptions.later():
                    self._advance(name, self._open[name][0], result)
                progress(time.monotonic() - begun)

    def _save(self) -> None:
        if time.monotonic() - self._saved > SAVE_SECONDS:
            self._hunt.ledger.save()
            self._saved = time.monotonic()
