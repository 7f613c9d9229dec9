"""What the user asked of `gradcheck run`: arguments and options, read once and then left alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gradcheck.cli.options import default_paths, for_people
from gradcheck.cli.outputs import Destination, pair
from gradcheck.cli.page_background import must_show_baselines
from gradcheck.cli.setting_values import memory_limit, must_name_formats
from gradcheck.errors import UsageError
from gradcheck.run.case_time import DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.spec.format.run_axes import RunAxes
    from gradcheck.spec.settings import Settings

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
    baselines: tuple[str, ...] = ()
    """The JSON reports of earlier runs, the oldest first."""
    paths: tuple[str, ...] = ()
    expression: str = ""
    """`-k`: which cases."""
    tags: tuple[str, ...] = ()
    """`--tags`: those with one of these; all where there is none."""
    modes: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    """In which modes and by which checks, in place of what the specs say."""
    seed: int | None = None
    allow: tuple[str, ...] = ()
    """The packages that this call allows, besides those of the project."""
    max_cases: int | None = None
    """What the specs may expand to; None for what the project says."""
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
    """Seconds for a case that sets no limit itself; 0 until the project was asked."""
    budget: float | None = None
    """Seconds of processor time for a check whose case does not say; None for the checker's own."""
    memory_limit: int | None = None
    """Bytes; None for no limit, unless `fair_share`."""
    fair_share: bool = True
    """Whether the memory of a worker is limited to its share of the machine it is on."""
    maxfail: int | None = None
    """After how many failures to stop."""
    verbose: bool = False
    durations: int | None = None
    """How many of the slowest cases to list; 0 for all, None for none."""
    chose_reports: bool = False
    """Whether the command line says how to report: then the project's settings for it rest."""

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Self:
        """The request in the values that click found; UsageError where they make no sense.

        What the project may say as well is left open: `completed` fills it.
        """
        rest = dict(options)
        formats, outputs, junitxml = (rest.pop(n) for n in ("formats", "outputs", "junitxml"))
        default = "table" if for_people() else "plain"
        destinations = pair(formats, outputs, junitxml, default)
        rest["chose_reports"] = bool(formats or outputs or junitxml)
        rest["timeout"] = rest["timeout"] or 0.0
        rest["shard"] = _shard(rest["shard"])
        rest["fair_share"] = rest["memory_limit"] is None
        rest["memory_limit"] = _memory_limit(rest["memory_limit"])
        if rest.pop("exitfirst"):
            rest["maxfail"] = 1
        if rest["watching"]:
            _must_be_watchable(options)
        return cls(destinations=tuple(destinations), **rest)

    def completed(self, settings: Settings) -> Self:
        """The request with what the project's settings say where the command line says nothing."""
        completed = replace(
            self,
            paths=self.paths or settings.specs or default_paths(),
            destinations=self.destinations if self.chose_reports else self._reports(settings),
            jobs=self.jobs or settings.jobs,
            timeout=self.timeout or settings.timeout or DEFAULT_TIMEOUT,
            budget=self.budget or settings.budget,
            seed=settings.seed if self.seed is None else self.seed,
        )
        if self.fair_share and settings.memory_limit is not None:
            limit = memory_limit(settings)
            completed = replace(completed, fair_share=False, memory_limit=limit)
        must_show_baselines(completed.formats, completed.baselines)
        return completed

    def _reports(self, settings: Settings) -> tuple[Destination, ...]:
        """Those of the settings; no files while files are watched, or nothing runs."""
        must_name_formats(settings)
        screen = Destination(settings.format or self.destinations[0].format)
        if self.watching or self.collect_only:
            return (screen,)
        files = [Destination(name, Path(file)) for name, file in settings.reports.items()]
        return (screen, *files)

    @property
    def axes(self) -> RunAxes:
        """The modes and checks of the run, each once and in the order of their declaration."""
        from gradcheck.model import CheckKind, Mode
        from gradcheck.spec.format.run_axes import ALL, RunAxes

        return RunAxes(
            tuple(mode for mode in Mode if {mode, ALL} & {*self.modes}),
            tuple(check for check in CheckKind if {check, ALL} & {*self.checks}),
        )

    @property
    def formats(self) -> frozenset[str]:
        """Of all the reports."""
        return frozenset(destination.format for destination in self.destinations)

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
