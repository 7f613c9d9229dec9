"""The results of a run on disk, a line each as they come: `journal.jsonl`.

Every line reaches the operating system before the next case is looked at, so a run that is killed
has lost nothing but what was under way. The last line may be torn; it then counts for nothing.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from typing import TYPE_CHECKING, Any

from gradcheck.cache.history import Past, past_of
from gradcheck.report.formats.json import encode_result
from gradcheck.report.read.json_reader import MALFORMED, decode_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from gradcheck.model import Case, Result

JOURNAL_FORMAT = 1
"""Goes up when older files can no longer be read; such a file is then ignored."""

# (What it is given was made just now, and holds no circles.)
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)


class BusyError(OSError):
    """Another run writes this journal."""


class Journal:
    """An open journal: what it held, and where the next result goes.

    Raises OSError where the file cannot be had, BusyError where another run has it.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                raise OSError(errno.EINVAL, "journal.jsonl is not a file", str(path))
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise BusyError(error.errno, "another run is writing it", str(path)) from error
            self.environment: Mapping[str, str] | None = None
            """What the results were computed on; None where there are none."""
            self.facts: Mapping[str, str] = {}
            """What the workers said about the machine."""
            self._timed = True
            self._entries: dict[str, dict[str, Any]] = {}
            self._read(warn)
        except BaseException:
            os.close(self._descriptor)
            raise

    def begin(self, environment: Mapping[str, str], *, timed: bool) -> None:
        """Forget what the journal held: a new run begins."""
        os.ftruncate(self._descriptor, 0)
        self._entries.clear()
        self.facts = {}
        header = {
            "gradcheck_journal": JOURNAL_FORMAT,
            "timed": timed,
            "environment": dict(environment),
        }
        self._line(header)

    def pasts(self) -> dict[str, Past]:
        """The past of every case in the journal."""
        pasts = {}
        for data in self._entries.values():
            seconds = float(data["seconds"]) if self._timed else None
            pasts[data["id"]] = past_of(seconds, failed=not data["expected"])
        return pasts

    def find(self, key: str, case: Case) -> Result | None:
        """The result of the case, if the journal has it."""
        data = self._entries.get(key)
        if data is None or data["id"] != case.id:
            return None
        try:
            return decode_result(data, case)
        except MALFORMED:
            return None

    def add(self, key: str, result: Result) -> None:
        """Write a result; raises OSError where the disk is full."""
        self._line({"key": key, "result": encode_result(result)})

    def add_facts(self, facts: Mapping[str, str]) -> None:
        """Write what the workers say about the machine."""
        self.facts = dict(facts)
        self._line({"facts": self.facts})

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)

    def _line(self, data: Mapping[str, Any]) -> None:
        rest = memoryview(_ENCODER.encode(data).encode() + b"\n")
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def _read(self, warn: Callable[[str], None]) -> None:
        with open(self._descriptor, "rb", closefd=False) as file:
            data = file.read()
        if not data:
            return
        whole, _, torn = data.rpartition(b"\n")
        if torn:
            os.ftruncate(self._descriptor, len(data) - len(torn))
        head, *lines = whole.split(b"\n")
        try:
            header = json.loads(head)
            if header["gradcheck_journal"] != JOURNAL_FORMAT:
                raise ValueError("another version of the format")
            environment = {str(key): str(value) for key, value in header["environment"].items()}
            self._timed = bool(header["timed"])
        except MALFORMED:
            warn(f"{self._path} is ignored: it is damaged, or not a journal of this gradcheck")
            return
        self.environment = environment
        bad = sum(not self._take(line) for line in lines)
        if bad:
            warn(f"{self._path}: {bad} damaged line{'s' if bad > 1 else ''} ignored")

    def _take(self, line: bytes) -> bool:
        try:
            entry = json.loads(line)
            if "facts" in entry:
                self.facts = {str(key): str(value) for key, value in entry["facts"].items()}
                return True
            data = entry["result"]
            _ = str(data["id"]), float(data["seconds"]), bool(data["expected"])
            self._entries[entry["key"]] = data
        except MALFORMED:
            return False
        return True
