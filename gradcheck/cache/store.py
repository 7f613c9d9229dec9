"""Journal and history together, as a run uses them; whatever is wrong with them is a sentence."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from gradcheck.cache.fingerprint import fingerprint
from gradcheck.cache.history import History, Past, past_of
from gradcheck.cache.journal import BusyError, Journal
from gradcheck.cache.sources import sources_stamp
from gradcheck.model import Case, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

CACHE_FOLDER = ".gradcheck"

SAME_TIME = 0.5
"""Seconds: cases whose times differ by less keep the order of the specs. At the end of a run no
finer order could save more than this."""


class Store:
    """What earlier runs left in a project's folder, and where this one leaves its own.

    `warn` is told, once each, what cannot be read or written; the run goes on without it.

    Times are remembered of whole runs alone (`timed`): shards are cut by them, and the first
    shard that ran here would otherwise change the cut for the second.
    """

    def __init__(
        self, root: Path, *, allow: Collection[str] = (), warn: Callable[[str], None]
    ) -> None:
        self._folder = root / CACHE_FOLDER
        self._warn = warn
        self._stamp = sources_stamp(allow, root)
        self._journal: Journal | None = None
        self._timed = True
        self._can_write = True
        self._fresh: dict[str, Past] = {}
        """What the history on disk does not have yet."""
        try:
            self._prepare()
            self._journal = Journal(self._folder / "journal.jsonl", warn)
        except BusyError:
            warn(f"another run is writing {self._folder / 'journal.jsonl'}: this one keeps none")
        except OSError as error:
            self._can_write = False
            warn(
                f"{self._folder} cannot be used: {error.strerror}; "
                "this run will not be remembered, and cannot be resumed"
            )
        self.history = History.read(self._folder / "history.json", warn)
        if self._journal is not None:
            # A run that was killed had no time to write its history.
            for case_id, past in self._journal.pasts().items():
                if self.history.note(case_id, past):
                    self._fresh[case_id] = past

    def begin(self, environment: Mapping[str, str], *, timed: bool = True) -> None:
        """A new run begins: the journal of the last one goes."""
        self._write_history()
        self._timed = timed
        self._try(lambda journal: journal.begin(environment, timed=timed))

    def resume(
        self, cases: Iterable[Case], environment: Mapping[str, str], *, timed: bool = True
    ) -> list[Result]:
        """The results that the journal has for these cases; new ones are written behind them."""
        self._timed = timed
        journal = self._journal
        if journal is None or journal.environment is None:
            self._warn("there is no run to resume: all cases run")
        else:
            change = _change(journal.environment, environment)
            if change is None:
                results = [journal.find(fingerprint(case, self._stamp), case) for case in cases]
                return [result for result in results if result is not None]
            self._warn(f"the last run cannot be resumed: {change}; all cases run")
        self.begin(environment, timed=timed)
        return []

    def add(self, result: Result) -> None:
        """Write down a result that has just come."""
        if result.verdict is Verdict.SKIPPED or result.case is None:
            return  # nothing that would be worth keeping
        self.remember(result)
        key = fingerprint(result.case, self._stamp)
        self._try(lambda journal: journal.add(key, result))

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

    def _prepare(self) -> None:
        self._folder.mkdir(exist_ok=True)
        ignore = self._folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("# Made by gradcheck; nothing in here is worth a commit.\n*\n")

    def _write_history(self) -> None:
        if not self._fresh or not self._can_write:
            return
        path = self._folder / "history.json"
        try:
            lock = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                # Other runs may have ended since ours began: theirs is read once more.
                fcntl.flock(lock, fcntl.LOCK_EX)
                merged = History.read(path, lambda _: None)
                for case_id, past in self._fresh.items():
                    merged.note(case_id, past)
                merged.write(path)
            finally:
                os.close(lock)
        except OSError as error:
            self._warn(f"{path} cannot be written: {error.strerror}")
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


def _change(old: Mapping[str, str], new: Mapping[str, str]) -> str | None:
    """What is not as it was."""
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            return (
                f"it ran with {key} {old.get(key, 'unset')}, and now it is {new.get(key, 'unset')}"
            )
    return None
