"""What a run finds beside the request: the project around it, and the machine below it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from gradcheck.cli.page_background import read_background
from gradcheck.report.background import NO_BACKGROUND, Background

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gradcheck.cli.run_request import RunRequest
    from gradcheck.model import Case
    from gradcheck.spec.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What the runs of one request have in common; `--watch` makes many."""

    root: Path
    """The folder of the project: from it the user's packages are imported, in it runs are kept."""
    allow: tuple[str, ...] = ()
    """The packages whose functions specs may call."""
    max_cases: int = 200_000
    """What the specs may expand to."""
    selected: Callable[[Case], bool] = lambda _: True
    """Whether a case is one of those asked for."""
    jobs: int = 1
    memory_limit: int | None = None
    """Bytes that a worker on this machine may hold; None for no limit."""
    environment: dict[str, str] = field(default_factory=dict)
    """On what a run runs, for its report; at its end with the facts."""
    facts: dict[str, str] = field(default_factory=dict)
    """What the workers say about the machine, from when the first of them does."""
    background: Background = NO_BACKGROUND
    """What reports show beside the run."""

    @classmethod
    def find(cls, request: RunRequest, settings: Settings) -> Self:
        """Look around; UsageError where `-k` is no good."""
        from gradcheck.run import compile_selector, cores, default_limit, describe

        selected = compile_selector(request.expression, request.tags)
        jobs = request.jobs or cores()
        return cls(
            root=settings.root,
            allow=settings.allow,
            max_cases=settings.max_cases,
            selected=selected,
            jobs=jobs,
            memory_limit=default_limit(jobs) if request.fair_share else request.memory_limit,
            environment=describe() | _to_replay(request),
            background=read_background(request.formats, request.baselines),
        )


def _to_replay(request: RunRequest) -> dict[str, str]:
    """What a command that replays a case must say again."""
    given = {} if request.seed is None else {"seed": str(request.seed)}
    axes = request.axes
    given |= {"mode": " ".join(axes.modes)} if axes.modes else {}
    given |= {"check": " ".join(axes.checks)} if axes.checks else {}
    given |= {} if request.budget is None else {"budget": f"{request.budget:g}"}
    return given | ({"allow": " ".join(request.allow)} if request.allow else {})
