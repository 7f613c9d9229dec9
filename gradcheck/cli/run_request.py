"""What the user asked of `gradcheck run`: arguments and options, read once and then left alone."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from gradcheck.cli.options import default_paths
from gradcheck.cli.outputs import pair
from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.cli.outputs import Destination

DEFAULT_TIMEOUT = 60.0
"""Seconds for a case that sets no limit itself: small ones take a few thousandths, and what XLA has
to compile takes a few."""

_NOT_WATCHED = {
    "outputs": "--output",
    "junitxml": "--junitxml",
    "shard": "--shard",
    "scheduler": "--dask",
    "resume": "--resume",
    "last_failed": "--lf",
    "collect_only": "--collect-only",
}
"""The options that make no sense while files are watched, by the names of their parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One call of `gradcheck run`."""

    destinations: tuple[Destination, ...]
    """Which reports go where."""
    paths: tuple[str, ...] = ()
    expression: str = ""
    """`-k`: which cases."""
    seed: int | None = None
    allow: tuple[str, ...] = ()
    """The packages that this call allows, besides those of the project."""
    shard: tuple[int, int] | None = None
    """Which part, and of how many."""
    last_failed: bool = False
    failed_first: bool = False
    resume: bool = False
    collect_only: bool = False
    watching: bool = False
    scheduler: str | None = None
    """The address of the Dask cluster that runs the cases; None for this machine."""
    jobs: int | None = None
    """How many workers; None for one per processor."""
    timeout: float = DEFAULT_TIMEOUT
    memory_limit: int | None = None
    """Bytes; None for no limit, unless `fair_share`."""
    fair_share: bool = True
    """Whether the memory of a worker is limited to its share of the machine it is on."""
    maxfail: int | None = None
    """After how many failures to stop."""
    verbose: bool = False
    durations: int | None = None
    """How many of the slowest cases to list; 0 for all, None for none."""

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Self:
        """The request in the values that click found; UsageError where they make no sense."""
        rest = dict(options)
        formats, outputs, junitxml = (rest.pop(n) for n in ("formats", "outputs", "junitxml"))
        default = "table" if sys.stdout.isatty() else "plain"
        destinations = pair(formats, outputs, junitxml, default)
        rest["paths"] = rest["paths"] or default_paths()
        rest["shard"] = _shard(rest["shard"])
        rest["fair_share"] = rest["memory_limit"] is None
        rest["memory_limit"] = _memory_limit(rest["memory_limit"])
        if rest.pop("exitfirst"):
            rest["maxfail"] = 1
        if rest["watching"]:
            _must_be_watchable(options)
        return cls(destinations=tuple(destinations), **rest)

    @property
    def runs_here(self) -> bool:
        """Whether this machine is to run cases."""
        return not self.collect_only and self.scheduler is None


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    # Only now: it needs numpy, and TensorFlow does not begin to load before the request is read.
    from gradcheck.run import parse_shard

    return parse_shard(text)


def _memory_limit(text: str | None) -> int | None:
    if text is None:
        return None
    from gradcheck.run import parse_size

    return parse_size(text)


def _must_be_watchable(options: Mapping[str, Any]) -> None:
    for parameter, option in _NOT_WATCHED.items():
        if options[parameter]:
            raise UsageError(f"--watch and {option} do not go together")
