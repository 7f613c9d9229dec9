"""What a run is about to do, and how it ended: said to the reporters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model.cases import Case
    from gradcheck.model.problems import SpecProblem
    from gradcheck.model.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Shard:
    """Which part of a suite a run is: one of several on as many machines."""

    index: int
    """From 1 to `count`."""
    count: int
    cut: str
    """The same for all shards of one cut: a name for who got which case."""
    positions: tuple[int, ...]
    """Where the cases of this shard stand in the whole suite."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a run is about to do: said to the reporters before the first result."""

    cases: tuple[Case, ...]
    problems: tuple[SpecProblem, ...]
    """What is wrong in the specs; the cases that are right run all the same."""
    environment: Mapping[str, str]
    """Versions, machine and flags, for the header of a report."""
    shard: Shard | None = None
    """None for a whole suite."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended: said to the reporters after the last result."""

    total: int
    verdicts: Mapping[Verdict, int]
    failed: int
    """Results whose verdict is not the expected one."""
    known: int
    """Results that are not acceptable but expected: known bugs."""
    problems: int
    seconds: float
    interrupted: bool = False
