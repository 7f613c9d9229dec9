"""Journal and history together, as a run uses them; whatever is wrong with them is a sentence."""

from __future__ import annotations

import contextlib
import fcntl
import time
from typing import TYPE_CHECKING

from gradcheck.cache.cache_folder import CacheFolder
from gradcheck.cache.fingerprint import fingerprint
from gradcheck.cache.history import HISTORY_FILE, History, Past, past_of
from gradcheck.cache.journal import BusyError, Journal, Results, journal_file
from gradcheck.cache.sources import sources_stamp
from gradcheck.model import Case, Result, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

CACHE_FOLDER = ".gradcheck"
_GITIGNORE = b"# Made by gradcheck; nothing in here is worth a commit.\n*\n"

SAME_TIME = 0.5
"""Seconds: cases whose times differ by less keep the order of the specs. At the end of a run no
finer order could save more than this."""

LOCK_SECONDS = 10.0
"""Seconds for another run to write its history: of a hundred thousand cases it takes one."""


class Store:
    """What earlier runs left in a project's folder, and where this one leaves its own.

    `warn` is told, once each, what cannot be read or written; the run goes on without it.

    `look`: nothing is made, changed or locked, for commands that only list.

    `shard`: which part of how many this run is; each has a journal of its own.

    Times are remembered of whole runs alone (`timed`): shards are cut by them, and the first
    shard that ran here would otherwise change the cut for the second.
    """

    def __init__(
        self,
        root: Path,
        *,
        allow: Collection[str] = (),
        warn: Callable[[str], None],
        look: bool = False,
        shard: tuple[int, int] | None = None,
    ) -> None:
        self._warn = warn
        self._stamp = sources_stamp(allow, root)
        self._folder: CacheFolder | None = None
        self._journal: Journal | None = None
        self._timed = True
        self._limits = ""
        """How much time and memory a case has."""
        self._can_write = not look
        self._fresh: dict[str, Past] = {}
        """What the history on disk does not have yet."""
        path = root / CACHE_FOLDER
        name = journal_file(shard)
        try:
            self._folder = self._open(path, look=look)
            if self._folder is not None:
                self._journal = Journal(self._folder, warn, name=name, look=look)
        except BusyError:
            warn(f"another run is writing {path / name}: this one keeps none")
        except OSError as error:
            self._can_write = False
            if not look:
                warn(
                    f"{path} cannot be used: {error.strerror}; "
                    "this run will not be remembered, and cannot be resumed"
                )
            elif not isinstance(error, FileNotFoundError):
                warn(f"{path / name} is ignored: {error.strerror}")
        self.history = History()
        if self._folder is not None:
            self.history = History.read(self._folder, warn, look=not self._can_write)
        if self._journal is not None:
            # A run that was killed had no time to write its history.
            for case_id, past in self._journal.pasts().items():
                if self.history.note(case_id, past):
                    self._fresh[case_id] = past

    def begin(
        self, environment: Mapping[str, str], *, timed: bool = True, limits: str = ""
    ) -> None:
        """A new run begins: the journal of the last one goes."""
        self._write_history()
        self._timed = timed
        self._limits = limits
        self._try(lambda journal: journal.begin(environment, timed=timed))

    def resume(
        self,
        cases: Iterable[Case],
        environment: Mapping[str, str],
        *,
        timed: bool = True,
        limits: str = "",
    ) -> Results:
        """The results that the journal has for these cases; new ones are written behind them.

        What time and memory decided is taken over where the `limits` of both are the same.
        """
        self._timed = timed
        self._limits = limits
        journal = self._journal
        if journal is None or journal.environment is None:
            self._warn("there is no run to resume: all cases run")
        else:
            change = _change(journal.environment, environment)
            if change is None:
                return journal.results((self._keys(case), case) for case in cases)
            self._warn(f"the last run cannot be resumed: {change}; all cases run")
        self.begin(environment, timed=timed, limits=limits)
        return Results()

    def add(self, result: Result) -> None:
        """Write down a result that has just come."""
        if result.verdict is Verdict.SKIPPED or result.case is None:
            return  # nothing that would be worth keeping
        self.remember(result)
        free, bound = self._keys(result.case)
        key = bound if _is_bound(result) else free
        self._try(lambda journal: journal.add(key, result))

    def _keys(self, case: Case) -> tuple[str, str]:
        """Under what a result is written, and under what one that the limits decided."""
        key = fingerprint(case, self._stamp)
        return key, f"{key} within {self._limits}"

    def remember(self, result: Result) -> None:
        """Keep how a case ended in the history, and how long it took."""
        past = past_of(result.seconds if self._timed else None, failed=not result.expected)
        self.history.note(result.id, past)
        self._fresh[result.id] = past

    def add_facts(self, facts: Mapping[str, str]) -> None:
        """Write down what the workers say about the machine."""
        self._try(lambda journal: journal.add_facts(facts))

    @property
    def facts(self) -> Mapping[str, str]:
        """What the workers of the resumed run said about the machine."""
        return {} if self._journal is None else self._journal.facts

    def close(self) -> None:
        """Write the history and give the files back."""
        self._write_history()
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def failed(self, cases: Sequence[Case]) -> list[Case]:
        """Those that failed when they last ran."""
        return [case for case in cases if self.history.failed(case.id)]

    def order(self, cases: Sequence[Case], *, failed_first: bool = False) -> list[Case]:
        """In which order to begin: the slowest first, so that no worker is left alone with one."""

        def rank(case: Case) -> tuple[bool, int]:
            seconds = self.history.seconds(case.id) or 0.0
            failed = failed_first and self.history.failed(case.id)
            return (not failed, -int(seconds / SAME_TIME))

        return sorted(cases, key=rank)

    def _open(self, path: Path, *, look: bool) -> CacheFolder | None:
        """The folder, made if need be; None where there is none to look at."""
        try:
            folder = CacheFolder(path, create=not look)
        except FileNotFoundError:
            if look:
                return None
            raise
        if not look:
            folder.create(".gitignore", _GITIGNORE)
        return folder

    def _write_history(self) -> None:
        folder = self._folder
        if not self._fresh or not self._can_write or folder is None:
            return
        try:
            # Other runs may have ended since ours began: theirs is read once more.
            with _locked(folder):
                merged = History.read(folder, lambda _: None, look=False)
                for case_id, past in self._fresh.items():
                    merged.note(case_id, past)
                merged.write(folder)
        except OSError as error:
            self._warn(f"{folder.path / HISTORY_FILE} cannot be written: {error.strerror}")
        self._fresh.clear()

    def _try(self, write: Callable[[Journal], None]) -> None:
        if self._journal is None:
            return
        try:
            write(self._journal)
        except OSError as error:
            self._warn(f"the journal ends here: {error.strerror}; the run goes on without it")
            self._journal.close()
            self._journal = None


@contextlib.contextmanager
def _locked(folder: CacheFolder) -> Iterator[None]:
    """Keep other runs from writing; OSError where one of them does so for long.

    Without a limit `test_a_run_that_is_stopped_while_it_writes_holds_nobody_up` would not end.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(folder.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                why = f"another run, perhaps a stopped one, has been at it for {LOCK_SECONDS:g} s"
                raise OSError(error.errno, why) from error
        time.sleep(0.02)
    try:
        yield
    finally:
        fcntl.flock(folder.descriptor, fcntl.LOCK_UN)


def _is_bound(result: Result) -> bool:
    """Whether a result may be another where a case has more time or memory, or less."""
    # (A process that died may have been over its memory.)
    if result.verdict in (Verdict.TIMEOUT, Verdict.CRASHED):
        return True
    return Stage.BUDGET in (result.decided_by, *(c.decided_by for c in result.comparisons))


def _change(old: Mapping[str, str], new: Mapping[str, str]) -> str | None:
    """What is not as it was."""
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            return (
                f"it ran with {key} {old.get(key, 'unset')}, and now it is {new.get(key, 'unset')}"
            )
    return None
