"""Which target to look at next: the one that may still show something new, for the time it takes.

Each target is an arm of a bandit. A visit pays the number of things that it showed for the first
time: a type, a rank, a combination of arguments, a kind of point, each with the verdict it got. The
score of an arm is what it paid per second, plus a bonus that grows while it is not visited (UCB1),
so that nothing is given up for good. What was never visited comes first, in the order of the list;
of what is made of other targets, in turn with second and third visits, which look in other modes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

EAGERNESS = 0.7
"""Weight of the bonus: the larger, the more evenly the time is dealt out."""
AFTER_FAILURE = 0.2
"""What remains of the score of a target of which no call had a right gradient in its last visit."""


@dataclass(slots=True)
class Arm:
    """What is known of a target."""

    visits: int = 0
    seconds: float = 0.0
    paid: int = 0
    """New things that it showed."""
    barren: bool = False
    """Whether no call of it worked and had a right gradient, last time: no gradient, as a rule."""

    def score(self, visits: int) -> float:
        """How much a visit is worth, where so many were made in all."""
        per_second = self.paid / (1.0 + self.seconds)
        bonus = EAGERNESS * math.sqrt(math.log(visits + 1) / self.visits)
        return (per_second + bonus) * (AFTER_FAILURE if self.barren else 1.0)


def choose(
    arms: Mapping[str, Arm], busy: Collection[str], *, made_of_others: Collection[str] = ()
) -> str | None:
    """The target to visit, of those that are not being visited; None if there is none."""
    free = [name for name in arms if name not in busy]
    new = next((name for name in free if not arms[name].visits), None)
    known = [name for name in free if arms[name].visits]
    visits = sum(arm.visits for arm in arms.values())
    its_turn = new not in made_of_others or visits % 2 == 0 or not known
    if not known or (new is not None and its_turn):
        return new
    return max(known, key=lambda name: arms[name].score(visits))
