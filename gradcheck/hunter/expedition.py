"""A hunt: errands side by side, each with one case at a time, until the time is over.

What an errand wants next goes to the workers as soon as its last result is there. After a crash
nothing new is handed out until what the crash left in doubt has run again, alone. The target of a
new errand is that of the bandit.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.raised import as_verdict
from gradcheck.errors import GradcheckError
from gradcheck.hunter import task
from gradcheck.hunter.bandit import Arm, choose
from gradcheck.hunter.errands import CHECK_SECONDS, Errand, Hunt
from gradcheck.hunter.visit import explore
from gradcheck.model import CheckKind
from gradcheck.run import Pool, interruptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.hunter.quarry import Quarry
    from gradcheck.model import Case, Result

ERRANDS_OF_A_WORKER = 8
"""Errands that are under way for each worker: the more, the less a slow case holds up."""
LOADING_SECONDS = 300.0
SAVE_SECONDS = 5.0
LAST_SECONDS = (30.0, 90.0)
"""Seconds beyond the end for what is being looked into, at least and at most: half the time of the
hunt in between. What is still open then is left, and found again by the next hunt."""


class Expedition:
    """The errands that are under way."""

    def __init__(
        self, hunt: Hunt, quarries: Sequence[Quarry], jobs: int, *, visits: int | None = None
    ) -> None:
        """Prepare a hunt.

        Args:
            hunt: what all errands share.
            quarries: the targets.
            jobs: how many workers.
            visits: how often each target is visited at most; None for as long as there is time.
        """
        self._hunt = hunt
        self._visits = visits
        # (Shuffled, so that a short hunt is a sample; kernels first: functions are made of them.)
        rng = np.random.default_rng(hunt.ledger.seed)
        shuffled = [quarries[place] for place in rng.permutation(len(quarries))]
        shuffled.sort(key=lambda quarry: not quarry.is_single)
        self._quarries = {quarry.name: quarry for quarry in shuffled}
        self._made_of_others = frozenset(q.name for q in shuffled if not q.is_single)
        self._jobs = jobs
        self._open: dict[str, tuple[Errand, Case]] = {}
        """By target: the errand, and the case that it waits for."""
        for name in self._quarries:
            hunt.ledger.arms.setdefault(name, Arm())
        self._names: dict[str, str] = {}
        """By case: the target whose errand waits for it."""
        self._handed: set[str] = set()
        """The cases that the workers have."""
        self._until = 0.0
        self._saved = time.monotonic()

    def run(self, seconds: float, progress: Callable[[float], None]) -> None:
        """Hunt for so long; what is found is written at once, whatever ends it."""
        hunt, before = self._hunt, self._hunt.ledger.seconds
        longer = min(max(LAST_SECONDS[0], seconds / 2), LAST_SECONDS[1])
        begun = time.monotonic()
        # (Until the first result is there, TensorFlow is being loaded: that is no time to hunt in.)
        self._until = last = begun + seconds + LOADING_SECONDS
        pool = Pool(
            allow=hunt.allow, root=hunt.root, jobs=self._jobs, timeout=CHECK_SECONDS, check=task.do
        )

        def tell() -> None:
            nonlocal begun, last
            if last == self._until:
                begun = time.monotonic()
                self._until = begun + seconds
                last = self._until + longer
            hunt.ledger.seconds = before + time.monotonic() - begun
            self._save()
            progress(time.monotonic() - begun)

        try:
            with pool:
                while seconds > 0 and self._fill() and time.monotonic() < last:
                    self._leg(pool, lambda: time.monotonic() >= last, tell)
        finally:
            with interruptions.later():
                hunt.ledger.save()

    def _fill(self) -> list[Case]:
        """Start errands where there is room and time; the cases that wait to be handed out."""
        room = ERRANDS_OF_A_WORKER * self._jobs
        most = self._visits
        every = {name: self._hunt.ledger.arms[name] for name in self._quarries}
        arms = {name: arm for name, arm in every.items() if most is None or arm.visits < most}
        while len(self._open) < room and time.monotonic() < self._until:
            name = choose(arms, self._open, made_of_others=self._made_of_others)
            if name is None:
                break
            self._advance(name, explore(self._hunt, self._quarries[name]), None)
            if name not in self._open:
                # (It ended at once: whoever is asked again would do so again.)
                arms.pop(name)
        return [case for _, case in self._open.values() if case.id not in self._handed]

    def _advance(self, name: str, errand: Errand, result: Result | None) -> None:
        """Go on with an errand until it wants another case, or is through.

        One that fails ends alone: else `test_an_errand_that_fails_ends_alone` fails.
        """
        try:
            case = next(errand) if result is None else errand.send(result)
        except StopIteration:
            self._open.pop(name, None)
        except GradcheckError:
            raise
        except Exception as error:  # a fault of ours in one errand must not end the others
            self._open.pop(name, None)
            arm = self._hunt.ledger.arms[name]
            arm.visits, arm.barren = arm.visits + 1, True
            told = as_verdict(error, CheckKind.REVERSE).message
            self._hunt.ledger.own_errors[name] = told
        else:
            self._open[name] = (errand, case)
            self._names[case.id] = name

    def _leg(self, pool: Pool, stop: Callable[[], bool], tell: Callable[[], None]) -> None:
        """Until all that was handed out is through: as a rule, the whole hunt."""
        with contextlib.closing(pool.run(self._handing(), stop=stop)) as stream:
            for result in stream:
                with interruptions.later():
                    self._handed.discard(result.id)
                    name = self._names.pop(result.id)
                    self._advance(name, self._open[name][0], result)
                    if not pool.wants_to_be_alone:
                        pool.add(self._handing())
                tell()
        self._handed.clear()

    def _handing(self) -> list[Case]:
        cases = self._fill()
        self._handed |= {case.id for case in cases}
        return cases

    def _save(self) -> None:
        if time.monotonic() - self._saved > SAVE_SECONDS:
            self._hunt.ledger.save()
            self._saved = time.monotonic()
