"""Specs that were tried: each draft is read as a spec is, and run in a worker."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gradcheck.model import Case, Result, Verdict
from gradcheck.run import Pool
from gradcheck.spec.load_specs import read_spec
from gradcheck.spec.yaml.source import Source
from gradcheck.start.attempts import Attempts, Draft, Grade, UnusableError, attempts, grade
from gradcheck.start.spec_text import case_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradcheck.model.findings import Found

ATTEMPT_SECONDS = 20.0
"""Seconds that an attempt may take: it is a call at a small shape, of which XLA compiles some."""
ATTEMPT_BUDGET = 2.0
"""Seconds of processor time for the check of one: what matters is that it runs."""
MOST_DEATHS = 2
"""Crashes and hangs after which a thing is given up: they are not for want of another shape."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of the attempts for one thing."""

    found: Found
    draft: Draft
    """The spec that works or, if none does, the first that was tried."""
    result: Result | None = None
    """How it went; None if none works."""
    reason: str = ""
    """Why none does."""

    @property
    def works(self) -> bool:
        """Whether there is a spec to write."""
        return self.result is not None


@dataclass(slots=True)
class _Open:
    """A thing whose attempts are under way."""

    found: Found
    way: Attempts
    draft: Draft
    first: Draft
    best: tuple[Grade, Draft, Result] | None = None
    count: int = 0
    deaths: int = 0
    errors: list[str] = field(default_factory=list)

    def note(self, result: Result) -> bool:
        """Take in how the draft went; whether there is another to try."""
        self.count += 1
        value = grade(result)
        if self.best is None or value > self.best[0]:
            self.best = (value, self.draft, result)
        if value is Grade.USELESS:
            self.errors.append(_told(result))
        self.deaths += result.verdict in (Verdict.CRASHED, Verdict.TIMEOUT)
        if value is Grade.GOOD or self.deaths == MOST_DEATHS:
            return False
        try:
            self.draft = self.way.send(result)
        except StopIteration:
            return False
        return True

    def tried(self) -> Tried:
        """How it ended."""
        if self.best is not None and self.best[0] is not Grade.USELESS:
            return Tried(self.found, self.best[1], self.best[2])
        # (Of many complaints the first is about the likeliest shape.)
        told = self.errors[0] if self.errors else "the time was over before it was tried"
        many = f"no shape works, of {self.count} tried; with the first " if self.count > 1 else ""
        return Tried(self.found, self.first, reason=f"{many}{told}")


def try_all(
    found: Iterable[tuple[Found, str]],
    *,
    allow: Sequence[str],
    root: str,
    until: float,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Tried]:
    """Look for a spec that works, for each of the things; in their order.

    Args:
        found: what to try, with the key that names it in a spec.
        allow: the packages whose code may run.
        root: where they are found.
        until: when to stop, by the monotonic clock; what is open then counts as it stands.
        progress: told how many are through, and of how many.
    """
    things = list(found)
    done: dict[str, Tried] = {}
    current: dict[str, _Open] = {}
    for thing, key in things:
        way = attempts(thing, key)
        try:
            first = next(way)
        except UnusableError as error:
            done[thing.target] = Tried(thing, {key: thing.target}, reason=str(error))
        else:
            current[thing.target] = _Open(thing, way, first, first)
    with Pool(allow=allow, root=root, timeout=ATTEMPT_SECONDS) as pool:
        while current and time.monotonic() < until:
            progress(len(done), len(things))
            for target, went in _round(pool, current, allow, until).items():
                if not current[target].note(went):
                    done[target] = current.pop(target).tried()
    progress(len(things), len(things))
    done |= {target: thing.tried() for target, thing in current.items()}
    return [done[thing.target] for thing, _ in things]


def _round(
    pool: Pool, current: Mapping[str, _Open], allow: Sequence[str], until: float
) -> dict[str, Result]:
    """One attempt for each of those that are open."""
    results: dict[str, Result] = {}
    cases: dict[str, str] = {}
    wanted = []
    for number, (target, thing) in enumerate(current.items()):
        case = read_draft(thing.draft, f"try{number}.yaml", allow)
        if isinstance(case, str):
            results[target] = Result(target, Verdict.ERROR, message=case)
        else:
            wanted.append(replace(case, budget=ATTEMPT_BUDGET))
            cases[case.id] = target
    stream = pool.run(wanted, stop=lambda: time.monotonic() >= until)
    with contextlib.closing(stream):
        for result in stream:
            results[cases[result.id]] = result
    return results


def read_draft(draft: Draft, path: str, allow: Sequence[str]) -> Case | str:
    """The case of a draft, read from its text; what is wrong with it where it is none."""
    source = Source(path, "\n".join(case_lines(draft)))
    found = read_spec(source, allow, None)
    if source.problems:
        problem = source.problems[0]
        return f"{problem.message}{problem.hint and f'; {problem.hint}'}"
    return found[0]


def _told(result: Result) -> str:
    """Why a draft did not work, in a line: what was raised matters, and not where in our file."""
    message = result.message
    if result.verdict is Verdict.CRASHED:
        # (Below stands what it printed last.)
        message = message.partition("\n")[0]
    text = " ".join(message.split())
    place = f"{result.case.path}:" if result.case else ""
    if place and text.startswith(place):
        text = text.partition(": ")[2]
    text = text or result.meaning
    return text if len(text) <= 300 else text[:299] + "…"
