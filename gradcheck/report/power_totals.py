"""Counting what specs would catch: scores, floors, and the line that sums them up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.model.planted import Power
from gradcheck.report import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.model import Result, SpecProblem


@dataclass(frozen=True, slots=True, eq=False)
class PowerOutcome:
    """A whole measurement, once it is over; the results are in the plan's order."""

    results: tuple[Result, ...]
    problems: tuple[SpecProblem, ...]
    seconds: float
    interrupted: bool = False

    @property
    def measured(self) -> tuple[Power, ...]:
        """The cases in whose gradients faults were planted."""
        return tuple(r for r in self.results if isinstance(r, Power) and r.planted)

    @property
    def unmeasured(self) -> tuple[Result, ...]:
        """The cases in whose gradients no fault was planted; the message of each says why."""
        return tuple(r for r in self.results if not (isinstance(r, Power) and r.planted))


@dataclass(frozen=True, slots=True)
class Tally:
    """What some cases would catch, in numbers."""

    caught: int
    survived: int
    equivalent: int
    whole: float | None
    element: float | None
    """The largest of the floors: None where there is none, infinite where nothing is caught."""

    @classmethod
    def of(cls, powers: Iterable[Power]) -> Tally:
        """Count over these cases."""
        powers = tuple(powers)
        return cls(
            caught=sum(power.caught for power in powers),
            survived=sum(len(power.survivors) for power in powers),
            equivalent=sum(power.equivalent for power in powers),
            whole=numbers.largest(power.floor("whole") for power in powers),
            element=numbers.largest(power.floor("element") for power in powers),
        )

    @property
    def faults(self) -> int:
        """How many faults there were to catch."""
        return self.caught + self.survived

    @property
    def score(self) -> float | None:
        """The share of them that is caught, in percent; None where there were none."""
        return 100 * self.caught / self.faults if self.faults else None


def power_totals(outcome: PowerOutcome) -> str:
    """The last line: what was planted, what was caught, how small it may be."""
    tally = Tally.of(outcome.measured)
    parts = [numbers.count(len(outcome.results), "case")]
    if outcome.unmeasured:
        parts[0] += f" ({len(outcome.unmeasured)} not measured)"
    parts.append(f"{numbers.count(tally.faults, 'fault')} planted, {tally.caught} caught")
    parts.append(f"score {percent(tally.score)}")
    if tally.equivalent:
        parts.append(f"{tally.equivalent} that change nothing do not count")
    parts.append(f"floor {floor(tally.whole)}, one element {floor(tally.element)}")
    text = f"{'; '.join(parts)}; in {numbers.seconds(outcome.seconds)}"
    return f"interrupted: {text}" if outcome.interrupted else text


def percent(score: float | None) -> str:
    """A score that is 100 only when nothing survived."""
    if score is None:
        return numbers.NOTHING
    return f"{math.floor(score * 10) / 10:.1f} %"


def floor(size: float | None) -> str:
    """The smallest error that is caught."""
    if size is None:
        return numbers.NOTHING
    return "> 1e-1" if math.isinf(size) else f"{size:.0e}".replace("e-0", "e-")
