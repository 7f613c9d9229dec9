"""What a report may show beside its run: the runs before it, and the ops that there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Result


GROWTH_FACTOR = 10.0
"""By how much an error must grow to be worth a line: a digit. Less is the luck of the last ones."""


@dataclass(frozen=True, slots=True, eq=False)
class EarlierRun:
    """A run that was over before, read back from its report."""

    name: str
    """What the user calls it: the name of the file."""
    environment: Mapping[str, str]
    results: tuple[Result, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class DeclaredOp:
    """An op of the catalogue, as far as a report speaks of it."""

    name: str
    family: str
    spellings: tuple[str, ...]
    """All that a spec may call it: its name, and TensorFlow's."""


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """What there is to show; nothing of it has to be there."""

    earlier: tuple[EarlierRun, ...] = ()
    """The oldest first. The last of them is the one that the run is compared with."""
    catalogue: tuple[DeclaredOp, ...] = ()
    factor: float = GROWTH_FACTOR
    """By how much an error must have grown since then to be told."""


NO_BACKGROUND = Background()
