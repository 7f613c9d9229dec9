"""The folder `.gradcheck/` itself, held open: what is in it is reached through it alone.

A checkout may come from anybody, and may bring such a folder along. No link in it is followed, so
that nothing outside of it is read or written; what is no plain file of its own is put aside, and
what is written is written beside and then renamed. Without it the tests of
`tests/hostile/test_cache_files.py` fail.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_MOST_ASIDE = 9
"""Bad files of one name that are kept: the next takes the place of the last."""

_SAFELY = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""No link is followed, no worker inherits it, and a pipe without a writer keeps nobody waiting."""


class NotAFileError(OSError):
    """Something else stands where a file should: a link, a folder, a pipe, a device."""


class CacheFolder:
    """An open folder; OSError where there is none that can be used.

    `create`: make it, where it is missing.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        if create:
            with contextlib.suppress(FileExistsError):
                path.mkdir()
        if path.is_symlink():
            raise NotAFileError(errno.ELOOP, "it is a link, which is not followed", str(path))
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        self.descriptor = os.open(path, flags)

    def close(self) -> None:
        """Give the folder back."""
        os.close(self.descriptor)

    def open(self, name: str, flags: int) -> int:
        """A descriptor of the file; NotAFileError where it is none, or not this folder's alone."""
        try:
            descriptor = os.open(name, flags | _SAFELY, 0o644, dir_fd=self.descriptor)
        except OSError as error:
            # (A pipe nobody reads, a socket, a device that is not there.)
            odd = (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENODEV, errno.EMLINK)
            if error.errno in odd:
                raise NotAFileError(error.errno, self._kind(name), name) from error
            raise
        status = os.fstat(descriptor)
        # What has a second name may be a file of the user's elsewhere.
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            os.close(descriptor)
            raise NotAFileError(errno.EINVAL, self._kind(name), name)
        return descriptor

    def read(self, name: str, most: int) -> bytes:
        """What a file holds; OSError where it cannot be read, or holds more than that."""
        with os.fdopen(self.open(name, os.O_RDONLY), "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise OSError(errno.EFBIG, f"it is larger than {most // 2**20:,} MiB", name)
        return data

    def write(self, name: str, data: bytes) -> None:
        """Replace a file, whole. Two must not do this at the same time: the caller holds a lock."""
        temporary = f".{name}.tmp"
        self._remove(temporary)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            with os.fdopen(self.open(temporary, flags), "wb") as file:
                file.write(data)
            self._rename(temporary, name)
        except BaseException:
            self._remove(temporary)
            raise

    def create(self, name: str, data: bytes) -> None:
        """Write a file that is not there yet; what is there stays as it is."""
        with contextlib.suppress(FileExistsError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(self.open(name, flags), "wb") as file:
                file.write(data)

    def put_aside(self, name: str) -> str:
        """Rename what is no good, so that it can be looked at; its new name.

        A link is renamed itself: what it points to stays as it is.
        """
        for number in range(1, _MOST_ASIDE + 1):
            new = f"{name}.bad" if number == 1 else f"{name}.bad-{number}"
            if not self._exists(new):
                break
        self._rename(name, new)
        return new

    def _kind(self, name: str) -> str:
        """What stands there, for a sentence."""
        try:
            status = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError:
            return "it is no file"
        mode = status.st_mode
        if stat.S_ISREG(mode):
            return "it is a second name of another file"
        if stat.S_ISLNK(mode):
            return "it is a link, which is not followed"
        return "it is a folder" if stat.S_ISDIR(mode) else "it is a pipe or a device"

    def _exists(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def _rename(self, old: str, new: str) -> None:
        os.replace(old, new, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def _remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.descriptor)


def set_aside(
    folder: CacheFolder, name: str, why: str, warn: Callable[[str], None], *, look: bool
) -> None:
    """Say what is wrong with a file, and put it aside unless this is but a look."""
    told = f"{folder.path / name} is ignored: {why}"
    if not look:
        try:
            told += f"; it is kept as {folder.put_aside(name)}"
        except OSError as error:
            told += f"; it cannot be put aside: {error.strerror}"
    warn(told)
