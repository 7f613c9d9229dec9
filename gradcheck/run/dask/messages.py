"""What the command and the machines of a cluster say to each other."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Case, Result
    from gradcheck.run.workers.worker import Check


@dataclasses.dataclass(frozen=True, slots=True)
class Introduction:
    """Who a Dask worker is."""

    place: str
    """The same for all that share a machine, and may use the same part of it."""
    host: str
    environment: Mapping[str, str]
    """On what its cases run."""
    dask: str
    """Its version of Dask: requests go astray between two that differ."""


@dataclasses.dataclass(frozen=True, slots=True)
class RemoteJob:
    """What all cases of a run have in common."""

    token: str
    """The name of the run: the next one gets new processes, and so the user's code as it is."""
    allow: tuple[str, ...]
    root: str
    folder: str
    """Where the command was started: functions find their files from there, if it exists."""
    timeout: float
    memory_limit: int | None
    fair_share: bool
    """Whether the limit is a share of the machine that runs the cases."""
    check: Check
    preload: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """More cases for a machine, and the question what has come of those that it has."""

    processes: int
    """How many it should have: as many as all its Dask workers have threads."""
    cases: tuple[Case, ...] = ()
    give_back: int = 0
    """How many of those that it has not begun others could run at once."""
    patience: float = 0.2
    """Seconds for which results are gathered, while every process has more to do: a message costs
    some hundredths of a second on its way, a small case three thousandths."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """What a machine has to tell since the last request."""

    pool: str
    """The name of its processes: others than before have none of the cases that those had."""
    results: tuple[Result, ...] = ()
    """Without their cases, which the command has."""
    returned: tuple[str, ...] = ()
    """The ids of cases that were given back."""
    facts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What TensorFlow says about the machine."""
    failed: str = ""
    """Why it can run nothing; empty as long as it can."""
