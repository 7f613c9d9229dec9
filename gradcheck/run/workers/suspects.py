"""Cases that died of something that somebody else may have done: they run again, alone."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.model import Case

TRIES_ALONE = 2
"""How often a case without code of the user's is killed while it runs alone until it is blamed: it
sends no signals, so somebody out there kills, and may do so once more. Code of the user's is blamed
the first time."""


class Suspects:
    """Those that wait for their turn, which comes when no other case runs."""

    def __init__(self) -> None:
        self._waiting: deque[Case] = deque()
        self._tries: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, cases: Iterable[Case]) -> None:
        """These are to run again."""
        self._waiting.extend(cases)

    def next(self) -> tuple[Case, bool]:
        """The next one, and whether it is to blame for whatever happens now."""
        case = self._waiting.popleft()
        self._tries[case.id] += 1
        return case, case.target.users_own or self._tries[case.id] >= TRIES_ALONE

    def drop(self) -> list[Case]:
        """Give up those that wait, and say which they are."""
        dropped = list(self._waiting)
        self._waiting.clear()
        self._tries.clear()
        return dropped
