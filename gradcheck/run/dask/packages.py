"""Whether the user's packages are the same on all machines: otherwise their verdicts are not.

What is compared are the files of each package that a spec names, whole, by their content: also
those that are no Python, such as tables and compiled ops. What a package imports from elsewhere is
not looked at.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from gradcheck.model import Case

COMPARED_FILES = 5_000
"""A package of more files is compared by the first of them, in the order of their names."""

NAMED = 3
"""How many files a sentence names."""

_READ_BYTES = 2**20


def packages_of(cases: Iterable[Case]) -> tuple[str, ...]:
    """The packages of the user's that the cases run, by the names at their top."""
    texts = {case.target.text for case in cases if case.target.users_own}
    return tuple(sorted({text.partition(":")[0].partition(".")[0] for text in texts}))


def fingerprints(packages: Collection[str], root: str) -> dict[str, str]:
    """A text for each file of the packages that changes with its content; nothing is imported.

    They are found as a worker finds them: below the root first.
    """
    importlib.invalidate_caches()
    found: dict[str, str] = {}
    for package in packages:
        for name, path in _files(package, root):
            if len(found) >= COMPARED_FILES:
                break
            found[name] = _digest(path)
    return found


def difference(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """What is not the same, in half a sentence; empty where all is."""
    told = []
    for name in sorted({*here, *there}):
        if name not in there:
            told.append(f"{name} is missing there")
        elif name not in here:
            told.append(f"{name} is only there")
        elif here[name] != there[name]:
            told.append(f"{name} differs")
    more = len(told) - NAMED
    return ", ".join(told[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _files(package: str, root: str) -> Iterator[tuple[str, Path]]:
    """The files of a package, each with a name that is the same wherever it lies."""
    spec = importlib.machinery.PathFinder.find_spec(package, [root, *sys.path])
    if spec is None and package not in sys.modules:
        spec = importlib.util.find_spec(package)  # one that is found in another way
    if spec is None:
        return
    if spec.submodule_search_locations is None:
        if spec.origin is not None and Path(spec.origin).is_file():
            yield Path(spec.origin).name, Path(spec.origin)
        return
    for location in spec.submodule_search_locations:
        for base, folders, names in os.walk(location):
            folders[:] = sorted(f for f in folders if f != "__pycache__" and not f.startswith("."))
            for name in sorted(names):
                path = Path(base, name)
                if not name.startswith(".") and not name.endswith(".pyc") and path.is_file():
                    yield str(Path(package) / path.relative_to(location)), path


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_READ_BYTES):
                digest.update(chunk)
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return digest.hexdigest()[:16]
