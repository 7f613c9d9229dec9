"""The project around the current folder: its root, its packages, and their modules."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError
from gradcheck.spec.format.keys import DOTTED

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_MODULES = 1000
"""Modules of a package that are looked at: each is imported, and most take milliseconds."""

_NOT_THE_PACKAGE = frozenset(
    {
        "benchmarks", "build", "dist", "doc", "docs", "example", "examples", "notebooks", "scripts",
        "specs", "test", "testing", "tests", "tools",
    }
)  # fmt: skip
"""Folders beside a package, as people call them."""

_NOT_A_MODULE = re.compile(
    r"(setup|conftest|noxfile|fabfile|tasks|manage|__main__|test_.*|.*_test)$"
)
"""Files that are for tools: to import one may do anything but define layers."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of a package, by its name and its file."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Project:
    """What `init` looks at."""

    root: Path
    """The folder of pyproject.toml or, where there is none, the current one."""
    packages: tuple[str, ...]
    """What is imported: packages, or single modules."""
    modules: tuple[Module, ...]
    installs: bool
    """Whether pip could install it."""
    cut: str = ""
    """Why not all of its modules are among these; empty if they are."""

    @classmethod
    def find(cls, start: Path, asked: str | None) -> Project:
        """Look around; UsageError where it is not clear what is meant, or it is not there."""
        root = next((f for f in (start, *start.parents) if (f / "pyproject.toml").is_file()), start)
        table = _project_table(root)
        names = (_name_of(asked, start),) if asked else _own_names(root, table)
        modules = [module for name in names for module in _modules(name, root)]
        installs = bool(table) or (root / "setup.py").is_file()
        return cls(root, names, tuple(modules[:MOST_MODULES]), installs, _cut(modules))


def _project_table(root: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except OSError:
        return {}
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{root / 'pyproject.toml'}: cannot be read: {error}") from None
    table = document.get("project")
    return table if isinstance(table, dict) else {}


def _name_of(asked: str, start: Path) -> str:
    """A package as the user names it: by name, or by its folder or file."""
    place = start / asked
    if place.exists() and not re.fullmatch(DOTTED, asked):
        inside = os.path.relpath(place, start).removesuffix(".py")
        parts = [part for part in Path(inside).parts if part != "src"]
        asked = ".".join(parts)
    if not re.fullmatch(DOTTED, asked):
        raise UsageError(f"{asked!r} is no package: name it as you import it, as in mypkg.layers")
    return asked


def _own_names(root: Path, table: dict[str, Any]) -> tuple[str, ...]:
    """The packages of a project: the one that is called like it, else those that lie there."""
    called = re.sub(r"[-.]+", "_", str(table.get("name", "")))
    for folder in (root, root / "src"):
        for name in filter(None, (called, called.lower())):
            if (folder / name).is_dir() or (folder / f"{name}.py").is_file():
                return (name,)
    for folder in (root / "src", root):
        packages = sorted(
            path.parent.name
            for path in folder.glob("*/__init__.py")
            if path.parent.name not in _NOT_THE_PACKAGE
        )
        if packages:
            return tuple(packages)
    modules = [path.stem for path in sorted(root.glob("*.py"))]
    modules = [name for name in modules if name.isidentifier() and not _NOT_A_MODULE.match(name)]
    if modules:
        return tuple(modules)
    raise UsageError(
        f"there is no Python package in {root}: go to the folder of your project, or name the "
        "package, as in `gradcheck init mypkg`"
    )


def _modules(name: str, root: Path) -> Iterator[Module]:
    """The modules of a package, those inside of packages in it too; nothing is imported."""
    place = _place(name, root)
    if place.is_file():
        yield Module(name, place)
        return
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(f for f in folders if f.isidentifier() and f not in ("tests", "test"))
        inside = Path(folder).relative_to(place).parts
        for file in sorted(files):
            stem = file.removesuffix(".py")
            if not file.endswith(".py") or not stem.isidentifier() or _NOT_A_MODULE.match(stem):
                continue
            parts = (name, *inside) if stem == "__init__" else (name, *inside, stem)
            yield Module(".".join(parts), Path(folder) / file)


def _cut(modules: list[Module]) -> str:
    if len(modules) <= MOST_MODULES:
        return ""
    first = modules[MOST_MODULES].name
    return (
        f"of {len(modules):,} modules the first {MOST_MODULES:,} were looked at, from {first} on "
        f"none; name a part of it to look there, as in `gradcheck init {first}`"
    )


def _place(name: str, root: Path) -> Path:
    """The file or the folder of a package, as Python would find it from the project's folder."""
    inside = Path(*name.split("."))
    for folder in (root, *map(Path, sys.path)):
        if (folder / inside).is_dir():
            return folder / inside
        if (folder / inside).with_suffix(".py").is_file():
            return (folder / inside).with_suffix(".py")
    # (What an editable install has put elsewhere is known to Python's own finders.)
    first, _, rest = name.partition(".")
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        spec = None
    for home in (spec and spec.submodule_search_locations) or ():
        found = Path(home, *rest.split(".")) if rest else Path(home)
        if found.is_dir():
            return found
        if found.with_suffix(".py").is_file():
            return found.with_suffix(".py")
    if spec is not None and spec.origin and not rest and spec.origin.endswith(".py"):
        return Path(spec.origin)
    if (root / "src" / inside).exists() or (root / "src" / inside).with_suffix(".py").exists():
        raise UsageError(
            f"{name} lies in src/, where Python does not look: install your project first, "
            "with `pip install -e .`"
        )
    raise UsageError(f"there is no package {name!r}, neither in {root} nor installed")
