"""What a check may spend on evaluating its function, and what is done where that is spent.

What counts is processor time: on a busy machine a check is not to end otherwise. The clock counts
too, for a function that waits, but only as far as the time limit of the case. Every stage of a
check may spend up to a share of the whole, so that there is something left for those that confirm
and explain what the first ones find. Without it
`test_a_dear_function_says_what_is_known_when_the_budget_is_spent` fails.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from gradcheck.checker import costs

if TYPE_CHECKING:
    from collections.abc import Iterator


_PROCESSORS = os.cpu_count() or math.inf
"""However busy they are, no more of their time passes at once than that of all of them."""


class Spent(BaseException):
    """There is nothing left to spend.

    (No Exception: whoever asks whether a function can be called in some way takes those for a no.)
    """


_RAISED_BY = "`budget:` in the spec, or `budget=` of check, raises it"
_LATER = "`timeout:` in the spec, or `--timeout`, raises it"


class Budget:
    """So many seconds."""

    def __init__(self, seconds: float, timeout: float | None = None) -> None:
        """It begins now.

        Args:
            seconds: of processor time.
            timeout: the time limit of the case, by the clock; None for some of these seconds.
        """
        self.seconds = seconds
        if timeout is None:
            self._by_the_clock = costs.CLOCK_OF_A_BUDGET * seconds
        else:
            self._by_the_clock = costs.OF_THE_TIMEOUT * timeout
        self._began = time.process_time(), time.monotonic()
        self._share = 1.0
        self.is_spent = False
        """Whether something was left undone for want of it."""
        self.what, self.raised_by = f"the budget of {seconds:g} s was spent", _RAISED_BY
        """What is gone then, and what there has to be more of."""
        self._when_late = "the time limit of the case was near", _LATER
        if timeout is None:
            self._when_late = f"the clock of a budget of {seconds:g} s was spent", _RAISED_BY
        self._of_a_point = 0.0

    def up_to(self, share: float) -> _UpTo:
        """Within this, no more than a share of the whole is to be spent."""
        return _UpTo(self, share)

    def must_be_left(self) -> None:
        """Raise Spent if there is nothing left."""
        busy, clock = self._began
        passed, most = time.monotonic() - clock, self._share * self.seconds
        late = passed > self._share * self._by_the_clock
        # (To ask for processor time takes ten times as long as to ask for the clock's.)
        if late or (passed * _PROCESSORS > most and time.process_time() - busy > most):
            if late and not self.is_spent:
                self.what, self.raised_by = self._when_late
            self.is_spent = True
            raise Spent(f"{self.what} before enough was known; {self.raised_by}")

    @contextmanager
    def pays_for(self, points: int) -> Iterator[None]:
        """Within this, so many points are evaluated."""
        began = time.process_time(), time.monotonic()
        yield
        busy, clock = time.process_time() - began[0], time.monotonic() - began[1]
        # (A function that waits has all the clock that there is.)
        waited = clock * self.seconds / self._by_the_clock
        self._of_a_point = max(busy, waited) / max(1, points)

    def at_once(self) -> int | None:
        """How many points are to be asked for before the budget is looked at; None for any."""
        if not self._of_a_point > costs.DEAR * self.seconds:
            return None
        return max(1, int(costs.SPENT_AT_ONCE * self.seconds / self._of_a_point))


class _UpTo:
    """A class: every stage of a check goes through it, and a generator costs three times more."""

    def __init__(self, budget: Budget, share: float) -> None:
        self._budget, self._share, self._before = budget, share, budget._share

    def __enter__(self) -> None:
        self._before = self._budget._share
        self._budget._share = min(self._before, self._share)

    def __exit__(self, *_: object) -> None:
        self._budget._share = self._before


_CURRENT: ContextVar[Budget | None] = ContextVar("budget", default=None)


def current() -> Budget:
    """The budget of the check that runs; without end where there is none."""
    return _CURRENT.get() or _ENDLESS


class spending:  # noqa: N801  (used like a function; every check goes through it)
    """Within this, whatever is evaluated is paid from this budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def __enter__(self) -> None:
        self._token = _CURRENT.set(self._budget)

    def __exit__(self, *_: object) -> None:
        _CURRENT.reset(self._token)


_ENDLESS = Budget(float("inf"))
