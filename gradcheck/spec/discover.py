"""Arguments of the command line into spec files: files, folders, and the ids of single cases."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.errors import nearest
from gradcheck.model import Location, SpecProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = (".yaml", ".yml")

_ID = re.compile(r"(?P<name>[^\[\]]+)(?P<variant>\[[^\[\]]*\])?")


@dataclass(slots=True)
class SpecFile:
    """A file to read, and what to take from it."""

    path: str
    """As ids show it: with forward slashes, relative where it lies below the current folder."""
    selected: list[str] = field(default_factory=list)
    """`name` or `name[variant]`; empty for all cases."""


def discover(arguments: Sequence[str]) -> tuple[list[SpecFile], list[SpecProblem]]:
    """The files that the arguments name, each once, in their order."""
    files: dict[str, SpecFile] = {}
    whole: set[str] = set()
    problems: list[SpecProblem] = []
    for argument in arguments:
        path, wanted = _split(argument)
        if wanted is not None and not _ID.fullmatch(wanted):
            message = f"`{argument}` is not the id of a case: write file.yaml::name[variant]"
            problems.append(_problem(path, message))
            continue
        found = _files(path, problems)
        for name in found:
            spec = files.setdefault(name, SpecFile(name))
            if wanted is None:
                whole.add(name)
            else:
                spec.selected.append(wanted)
    for name in whole:
        files[name].selected.clear()
    return list(files.values()), problems


def _split(argument: str) -> tuple[str, str | None]:
    path, separator, name = argument.partition("::")
    if not separator or Path(argument).is_file():
        return argument, None
    return path, name


def _files(path: str, problems: list[SpecProblem]) -> list[str]:
    place = Path(path)
    try:
        if not path:
            problems.append(_problem(path, "no such file or folder: the name is empty"))
            return []
        if place.is_dir():
            found = [shown_path(name) for name in sorted(_walk(path))]
            if not found:
                message = "the folder holds no specs: no *.yaml or *.yml in it or below"
                problems.append(_problem(path, message))
            return found
        if place.is_file():
            return [shown_path(path)]
        exists = place.exists()
    except (OSError, ValueError) as error:
        problems.append(_problem(path, f"cannot be read: {_why(error)}"))
        return []
    if exists:
        problems.append(_problem(path, "is neither a file nor a folder"))
    else:
        problems.append(_missing(path))
    return []


def _walk(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield os.path.join(root, name)  # noqa: PTH118  # os.walk gives texts


def _missing(path: str) -> SpecProblem:
    parent = Path(path).parent
    hint = ""
    if parent.is_dir():
        try:
            names = sorted(p.name for p in parent.iterdir() if p.is_dir() or p.suffix in SUFFIXES)
        except OSError:
            names = []
        near = nearest(Path(path).name, names)
        hint = f"did you mean `{shown_path(str(parent / near))}`?" if near else ""
    else:
        hint = f"there is no folder `{parent}` either"
    return _problem(path, "no such file or folder", hint)


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _problem(path: str, message: str, hint: str = "") -> SpecProblem:
    return SpecProblem(message, Location(shown_path(path), 1, 1), hint)


def shown_path(path: str) -> str:
    """The path as ids show it."""
    if not path:
        return ""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # on another drive, or not a path at all
        return path.replace(os.sep, "/")
    inside = relative != os.pardir and not relative.startswith(os.pardir + os.sep)
    return (relative if inside else os.path.normpath(path)).replace(os.sep, "/")
