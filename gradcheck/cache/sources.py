"""The Python files of the user's that a case may run: those of the allowed packages."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MOST_FILES = 5_000
"""A package of more files is not looked through to its end: a stamp must cost next to nothing, and
`--watch` takes one ten times a second."""


def source_files(allow: Collection[str], root: Path) -> list[Path]:
    """The files of the packages that lie below the root, in a fixed order.

    `mypkg.layers` may import anything of `mypkg`, so the whole of that is meant.
    """
    found: list[Path] = []
    for name in sorted({package.partition(".")[0] for package in allow}):
        place = root / name
        if place.with_suffix(".py").is_file():
            found.append(place.with_suffix(".py"))
        for path in _walk(place):
            found.append(path)
            if len(found) >= MOST_FILES:
                return found
    return found


def stamp(path: Path) -> tuple[int, int, int]:
    """What changes when the file is saved; zeros where it is gone."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def sources_stamp(allow: Collection[str], root: Path) -> str:
    """A text that changes when one of the files does."""
    digest = hashlib.sha256()
    for path in source_files(allow, root):
        digest.update(f"{path} {stamp(path)}\n".encode())
    return digest.hexdigest()[:32]


def _walk(folder: Path) -> Iterator[Path]:
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != "__pycache__" and not f.startswith("."))
        for name in sorted(names):
            if name.endswith(".py"):
                yield Path(base, name)
