"""The nouns of detection power: a fault that was planted in a gradient, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gradcheck.model.results import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model.verdicts import Verdict


class Fate(StrEnum):
    """What became of a fault that was planted in a gradient."""

    CAUGHT = "caught"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    """With the fault the gradient is as right as without it, at this point."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault that was planted in the gradient of one input, and what became of it."""

    input: str
    name: str
    text: str
    """The faulty gradient in a few words."""
    fate: Fate
    verdict: Verdict | None = None
    """How the check ended; None where it did not need to run."""
    reason: str = ""
    """Why it was not caught."""
    family: str = ""
    size: float | None = None
    """The relative error of a fault that comes in sizes: `whole` or `element` by family."""
    counted: bool = True
    """Whether a check is expected to catch it: false for sizes that only show the floor."""


@dataclass(frozen=True, slots=True, eq=False)
class Power(Result):
    """What a case would catch: the Result of the case as it stands, and of every planted fault."""

    planted: tuple[Planted, ...] = ()

    @property
    def caught(self) -> int:
        """How many of the faults that count are caught."""
        return sum(p.counted and p.fate is Fate.CAUGHT for p in self.planted)

    @property
    def survivors(self) -> tuple[Planted, ...]:
        """The faults that count and that nobody would have noticed."""
        return tuple(p for p in self.planted if p.counted and p.fate is Fate.SURVIVED)

    @property
    def equivalent(self) -> int:
        """How many of the faults that count were none, at this point."""
        return sum(p.counted and p.fate is Fate.EQUIVALENT for p in self.planted)

    @property
    def blind(self) -> Mapping[str, str]:
        """The inputs whose gradient even a wrong sign leaves as it is, and why that is so."""
        return {
            p.input: p.reason
            for p in self.planted
            if p.name == "sign" and p.fate is Fate.EQUIVALENT
        }

    def floor(self, family: str) -> float | None:
        """The smallest relative error that is caught in every input, with all larger ones.

        Infinite where not even the largest is; None where there is nothing to be wrong by a share
        of itself.
        """
        floors: dict[str, float] = {}
        lost: set[str] = set()
        sized = [
            (p.size, p)
            for p in self.planted
            if p.family == family and p.size is not None and p.fate is not Fate.EQUIVALENT
        ]
        for size, planted in sorted(sized, key=lambda pair: -pair[0]):
            floors.setdefault(planted.input, float("inf"))
            if planted.fate is not Fate.CAUGHT:
                lost.add(planted.input)
            elif planted.input not in lost:
                floors[planted.input] = size
        return max(floors.values(), default=None)
