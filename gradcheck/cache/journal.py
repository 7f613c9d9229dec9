"""The results of a run on disk, a line each as they come: `journal.jsonl`.

Every line reaches the operating system before the next case is looked at, so a run that is killed
has lost nothing but what was under way. The last line may be torn; it then counts for nothing.

A line begins with what every later run wants to know of a case. The rest, its result, stays on disk
until somebody asks for it: to read all of a hundred thousand takes ten seconds and a gigabyte.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcheck.cache.cache_folder import NotAFileError, set_aside
from gradcheck.cache.history import Past, past_of
from gradcheck.report.formats.json import encode_result
from gradcheck.report.read import typed_json as typed
from gradcheck.report.read.json_reader import MALFORMED, decode_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gradcheck.cache.cache_folder import CacheFolder
    from gradcheck.model import Case, Result

MAX_JOURNAL = 2**32
"""Bytes: those of a million cases with their elements."""

JOURNAL_FORMAT = 2
"""Goes up when older files can no longer be read; such a file is then ignored."""

# (What it is given was made just now, and holds no circles.)
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)


# (Within a JSON text the quotes would be escaped: where this stands, the result begins.)
_BEFORE_RESULT = b',"result":'
_AFTER_RESULT = b"}\n"


class _Entry(NamedTuple):
    """What the beginning of a line says, and where in the file its result lies."""

    id: str
    seconds: float
    expected: bool
    start: int
    length: int


class Results:
    """Results in a journal that is open, each read when its turn comes."""

    def __init__(
        self,
        found: Sequence[tuple[Case, _Entry]] = (),
        read: Callable[[_Entry], bytes] = lambda _: b"",
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._found = found
        self._read = read
        self._warn = warn

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Result]:
        damaged = 0
        for case, entry in self._found:
            try:
                result = decode_result(typed.parse(self._read(entry)), case)
            except (*MALFORMED, OSError):
                damaged += 1
                continue
            if result.id == case.id:
                yield result
            else:
                damaged += 1
        if damaged:
            self._warn(f"of these, {damaged} in the journal are damaged: their cases run again")


def journal_file(shard: tuple[int, int] | None = None) -> str:
    """The name of the journal; each shard has its own, for they may share the folder."""
    return "journal.jsonl" if shard is None else "journal-{}-of-{}.jsonl".format(*shard)


class BusyError(OSError):
    """Another run writes this journal."""


class _ForeignError(Exception):
    """What the file holds is no journal of ours."""


class Journal:
    """An open journal: what it held, and where the next result goes.

    Raises OSError where the file cannot be had, BusyError where another run has it. `look`: read
    it and change nothing, whoever is writing; then it cannot be written to.
    """

    def __init__(
        self,
        folder: CacheFolder,
        warn: Callable[[str], None],
        *,
        name: str | None = None,
        look: bool = False,
    ) -> None:
        self._folder = folder
        self._name = name or journal_file()
        self._warn = warn
        self._look = look
        self.environment: Mapping[str, str] | None = None
        """What the results were computed on; None where there are none."""
        self.facts: Mapping[str, str] = {}
        """What the workers said about the machine."""
        self._timed = True
        self._entries: dict[str, _Entry] = {}
        self._descriptor = self._open()
        try:
            if not look:
                self._lock()
            try:
                self._read()
            except _ForeignError as error:
                self._put_aside(str(error))
        except BaseException:
            os.close(self._descriptor)
            raise

    def _open(self) -> int:
        flags = os.O_RDONLY if self._look else os.O_RDWR | os.O_CREAT | os.O_APPEND
        try:
            return self._folder.open(self._name, flags)
        except NotAFileError as error:
            if self._look:
                raise
            set_aside(self._folder, self._name, str(error.strerror), self._warn, look=False)
        return self._folder.open(self._name, flags)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            path = str(self._folder.path / self._name)
            raise BusyError(error.errno, "another run is writing it", path) from error

    def _put_aside(self, why: str) -> None:
        """Keep a journal that is none under another name, and begin one that is empty."""
        set_aside(self._folder, self._name, why, self._warn, look=self._look)
        if not self._look:
            os.close(self._descriptor)
            self._descriptor = self._open()
            self._lock()
            # (Where it could not be renamed, this is the same file.)
            os.ftruncate(self._descriptor, 0)

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
        for entry in self._entries.values():
            seconds = entry.seconds if self._timed else None
            pasts[entry.id] = past_of(seconds, failed=not entry.expected)
        return pasts

    def results(self, keyed: Iterable[tuple[Sequence[str], Case]]) -> Results:
        """The results that the journal has of these cases; it then forgets what it has.

        A case may have been written under each of several keys; the first of them counts.
        """
        found = []
        for keys, case in keyed:
            entries = [self._entries[key] for key in keys if key in self._entries]
            if entries and entries[0].id == case.id:
                found.append((case, entries[0]))
        self._entries.clear()
        return Results(found, self._bytes_of, self._warn)

    def add(self, key: str, result: Result) -> None:
        """Write a result; raises OSError where the disk is full."""
        data = encode_result(result)
        known = {name: data[name] for name in ("id", "seconds", "expected")}
        self._line({"key": key, **known, "result": data})

    def add_facts(self, facts: Mapping[str, str]) -> None:
        """Write what the workers say about the machine."""
        self.facts = dict(facts)
        self._line({"facts": self.facts})

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)
        self._descriptor = -1  # the number will be another file's

    def _bytes_of(self, entry: _Entry) -> bytes:
        return os.pread(self._descriptor, entry.length, entry.start)

    def _line(self, data: Mapping[str, Any]) -> None:
        rest = memoryview(_ENCODER.encode(data).encode() + b"\n")
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def _read(self) -> None:
        size = os.fstat(self._descriptor).st_size
        if size > MAX_JOURNAL:
            raise _ForeignError(f"it is larger than {MAX_JOURNAL // 2**30} GiB")
        if not size:
            return
        with open(self._descriptor, "rb", closefd=False) as file:
            head = file.readline()
            self._take_head(head)
            place = len(head)
            bad = 0
            for line in file:
                if not line.endswith(b"\n"):
                    self._cut_off(place)
                    break
                bad += not self._take(line, place)
                place += len(line)
        if bad:
            path = self._folder.path / self._name
            self._warn(f"{path}: {bad} damaged line{'s' if bad > 1 else ''} ignored")

    def _take_head(self, line: bytes) -> None:
        try:
            if not line.endswith(b"\n"):
                raise ValueError("torn")
            header = typed.parse(line)
            if typed.count(header, "gradcheck_journal") != JOURNAL_FORMAT:
                raise ValueError("another version of the format")
            self.environment = typed.named_texts(header, "environment")
            self._timed = typed.flag(header, "timed")
        except MALFORMED:
            raise _ForeignError("it is damaged, or not a journal of this gradcheck") from None

    def _cut_off(self, place: int) -> None:
        """A line was begun and never ended: what comes next begins in its place."""
        if not self._look:
            os.ftruncate(self._descriptor, place)

    def _take(self, line: bytes, place: int) -> bool:
        """Note what a line says; whether it is sound, as far as that can be seen."""
        known, middle, rest = line.partition(_BEFORE_RESULT)
        try:
            data = typed.parse(known + b"}" if middle else known)
            if "facts" in data:
                self.facts = typed.named_texts(data, "facts")
                return True
            self._entries[typed.text(data, "key")] = _Entry(
                typed.text(data, "id"),
                typed.seconds(data, "seconds"),
                typed.flag(data, "expected"),
                place + len(known) + len(middle),
                len(rest) - len(_AFTER_RESULT),
            )
        except MALFORMED:
            return False
        return rest.endswith(_AFTER_RESULT)
