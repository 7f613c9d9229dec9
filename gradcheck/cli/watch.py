"""`gradcheck run --watch`: what changed is run again as soon as it is saved."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.cache import Store
from gradcheck.cache.fingerprint import fingerprint
from gradcheck.cache.sources import source_files, sources_stamp, stamp
from gradcheck.cli.say import note, say
from gradcheck.cli.session import execute
from gradcheck.errors import ExitCode
from gradcheck.model import Plan, Verdict
from gradcheck.report.numbers import count
from gradcheck.run import Pool
from gradcheck.spec import load
from gradcheck.spec.discover import SpecFile, discover
from gradcheck.spec.format.expand import MAX_CASES
from gradcheck.spec.format.run_axes import NO_AXES, RunAxes

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from gradcheck.cli.run_context import RunContext
    from gradcheck.cli.run_request import RunRequest
    from gradcheck.model import Case, Result, SpecProblem
    from gradcheck.spec.load_specs import Loaded

LOOK_PAUSE = 0.1
"""Seconds between two looks at the files: a tenth of what a verdict may take after a save."""


class Specs:
    """The spec files and the user's own, read again when they are saved."""

    def __init__(
        self,
        paths: Sequence[str],
        *,
        allow: Sequence[str],
        root: Path,
        seed: int | None,
        budget: float | None = None,
        max_cases: int = MAX_CASES,
        axes: RunAxes = NO_AXES,
    ) -> None:
        self._paths = paths
        self._allow = allow
        self._root = root
        self._seed = seed
        self._budget = budget
        self._max_cases = max_cases
        self._axes = axes
        self._read: dict[str, tuple[object, Loaded]] = {}
        self._seen: dict[str, object] = {}
        self._looked = 0.0
        self.sources = ""
        self.count = 0
        """How many files are watched."""

    def load(self) -> tuple[list[Case], list[SpecProblem]]:
        """All cases and problems; only what changed is read."""
        self._seen = self._stamps()
        files, problems = discover(self._paths)
        read: dict[str, tuple[object, Loaded]] = {}
        for file in files:
            key = (stamp(Path(file.path)), *file.selected)
            known = self._read.get(file.path)
            read[file.path] = known if known and known[0] == key else (key, self._load(file))
        self._read = read
        self.sources = sources_stamp(self._allow, self._root)
        cases: list[Case] = []
        for _, loaded in read.values():
            cases += loaded.cases
            problems += loaded.problems
        return cases, problems

    def changed(self) -> bool:
        """Whether a file was saved since they were read; looks at most every `LOOK_PAUSE`."""
        now = time.monotonic()
        if now < self._looked + LOOK_PAUSE:
            return False
        self._looked = now
        return self._stamps() != self._seen

    def wait(self) -> list[str]:
        """Come back when a file has been saved, and its editor is done with it; which files."""
        old = self._seen
        while not self.changed():
            time.sleep(LOOK_PAUSE)
        # Many editors write in steps: the old file away, the new one in its place.
        before = None
        while before != (before := self._stamps()):
            time.sleep(LOOK_PAUSE / 4)
        paths = sorted({*old, *before})
        return [path for path in paths if old.get(path) != before.get(path)]

    def _load(self, file: SpecFile) -> Loaded:
        wanted = [f"{file.path}::{name}" for name in file.selected] or [file.path]
        return load(
            wanted,
            allow=self._allow,
            seed=self._seed,
            budget=self._budget,
            max_cases=self._max_cases,
            axes=self._axes,
        )

    def _stamps(self) -> dict[str, object]:
        files, problems = discover(self._paths)
        paths = [Path(file.path) for file in files] + source_files(self._allow, self._root)
        self.count = len(paths)
        stamps: dict[str, object] = {str(path): stamp(path) for path in paths}
        return stamps | {problem.location.path: str(problem) for problem in problems}


def watch(request: RunRequest, context: RunContext) -> int:
    """Run everything once, then what changes, until Ctrl-C."""
    specs = Specs(
        request.paths,
        allow=context.allow,
        root=context.root,
        seed=request.seed,
        budget=request.budget,
        max_cases=context.max_cases,
        axes=request.axes,
    )
    seen: dict[str, _Seen] = {}
    sources: str | None = None
    with Pool(
        allow=context.allow,
        root=str(context.root),
        jobs=context.jobs,
        timeout=request.timeout,
        memory_limit=context.memory_limit,
        facts=context.facts,
    ) as pool:
        while True:
            found, problems = specs.load()
            cases = {case.id: case for case in found if context.selected(case)}
            prints = {name: fingerprint(case, specs.sources) for name, case in cases.items()}
            stale = [n for n in cases if n not in seen or seen[n].fingerprint != prints[n]]
            if sources not in (None, specs.sources):
                pool.refresh()
            if stale or problems:
                stale_cases = tuple(cases[name] for name in stale)
                summary = execute(
                    request,
                    context,
                    Plan(stale_cases, tuple(problems), context.environment),
                    Store(context.root, allow=context.allow, warn=note),
                    partial(_run, pool, specs, seen, prints, request.maxfail),
                    header=sources is None,
                    append=sources is not None,
                )
                if summary.interrupted:
                    return ExitCode.INTERRUPTED
            sources = specs.sources
            failing = sum(not seen[name].expected for name in cases if name in seen)
            say(f"\nwatching {_state(specs.count, len(cases), failing, len(problems))}\n")
            _wait(specs)


def _wait(specs: Specs) -> None:
    """Come back when files have been saved, and say which."""
    saved = specs.wait()
    what = _name(saved[0]) if len(saved) == 1 else count(len(saved), "file")
    say(f"{what} changed")


def _name(path: str) -> str:
    """As the user would write it."""
    with contextlib.suppress(ValueError):
        return str(Path(path).relative_to(Path.cwd()))
    return path


def _state(files: int, cases: int, failing: int, problems: int) -> str:
    """How things stand, in half a sentence."""
    if failing:
        state = f"{failing} of {count(cases, 'case')} not as expected"
    else:
        state = f"{count(cases, 'case')}, all as expected" if cases else "no cases"
    if problems:
        state += f", {count(problems, 'spec problem')}"
    return f"{count(files, 'file')}: {state}"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A case that ran: as what, and how that went."""

    fingerprint: str
    expected: bool


def _run(
    pool: Pool,
    specs: Specs,
    seen: dict[str, _Seen],
    prints: Mapping[str, str],
    maxfail: int | None,
    cases: Sequence[Case],
) -> Generator[Result, None, None]:
    """Run the cases until the next change; whatever has no result by then is still to be run."""
    for result in pool.run(cases, maxfail=maxfail, stop=specs.changed):
        if result.verdict is not Verdict.SKIPPED:
            seen[result.id] = _Seen(prints[result.id], result.expected)
        yield result
