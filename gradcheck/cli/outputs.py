"""Which report goes where: formats paired with files, and files that are whole or not there."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gradcheck.errors import UsageError
from gradcheck.report import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Destination:
    """A report's format and its file; None is the screen."""

    format: str
    path: Path | None = None


def pair(
    formats: Sequence[str], outputs: Sequence[str], junitxml: str | None, default: str
) -> list[Destination]:
    """Match files with formats: the files belong to the last formats, in their order.

    One format may be left over for the screen, and beside it those whose lines are for a machine
    that reads along; if none is, the screen gets the default.
    """
    if len(outputs) > len(formats):
        raise UsageError(
            f"--output {outputs[len(formats)]} has no format of its own: "
            f"say which, as in --format json --output {outputs[len(formats)]}"
        )
    split = len(formats) - len(outputs)
    screen = tuple(dict.fromkeys(formats[:split])) or (default,)
    alone = [name for name in screen if not FORMATS[name].beside]
    if len(alone) > 1:
        raise UsageError(
            f"{' and '.join(alone)} cannot share the screen: "
            "give all but one of them a file with --output (the files go to the last formats)"
        )
    for name in screen:
        if FORMATS[name].file and sys.stdout.isatty():
            file = FORMATS[name].file
            raise UsageError(f"a page is not for the screen: add --output {file}, or > {file}")
    destinations = [Destination(name) for name in screen]
    destinations += [
        Destination(name, Path(path)) for name, path in zip(formats[split:], outputs, strict=True)
    ]
    if junitxml is not None:
        destinations.append(Destination("junit", Path(junitxml)))
    seen: set[Path] = set()
    for destination in destinations:
        if destination.path is None:
            continue
        path = Path(os.path.realpath(str(destination.path)))
        if path in seen:
            raise UsageError(f"two reports would be written to {destination.path}")
        seen.add(path)
    return destinations


class OutputFile:
    """A file that appears, whole, when it is committed; until then an older one stays."""

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))
        self._temporary: Path | None = None
        try:
            self.stream = self._open()
        except OSError as error:
            raise UsageError(f"cannot write {path}: {_reason(path, error)}") from error

    def commit(self) -> None:
        """Put the file in its place."""
        self.stream.close()
        if self._temporary is not None:
            self._temporary.replace(self._path)
            self._temporary = None

    def discard(self) -> None:
        """Leave things as they were; nothing after a commit."""
        with contextlib.suppress(OSError):
            self.stream.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None

    def _open(self) -> TextIO:
        mode = _mode(self._path)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        if not stat.S_ISREG(mode):
            # A pipe or a device cannot be replaced, only written to.
            return self._path.open("w", encoding="utf-8")
        descriptor, name = tempfile.mkstemp(
            prefix=f".{self._path.name}.", suffix=".tmp", dir=self._path.parent
        )
        self._temporary = Path(name)
        self._temporary.chmod(stat.S_IMODE(mode))
        return os.fdopen(descriptor, "w", encoding="utf-8")


def _mode(path: Path) -> int:
    """Type and permissions of the file, or those that a new one would get."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return stat.S_IFREG | (0o666 & ~mask)


def _reason(path: Path, error: OSError) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    return error.strerror or str(error)
