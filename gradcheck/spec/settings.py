"""The project's own settings: `[tool.gradcheck]` in the nearest pyproject.toml that has it."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError, nearest
from gradcheck.spec.discover import shown_path
from gradcheck.spec.format.expand import MAX_CASES
from gradcheck.spec.format.keys import DOTTED
from gradcheck.spec.setting_keys import KEYS, line_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """What the project says about gradcheck; None, and nothing, where it does not say."""

    root: Path
    """The folder of the pyproject.toml, from which user code is imported; else where we started."""
    allow: tuple[str, ...] = ()
    """The packages that `function:` and `layer:` may import from."""
    max_cases: int = MAX_CASES
    """What the specs of a run may expand to."""
    specs: tuple[str, ...] = ()
    """What is run where no path is given, as seen from the current folder."""
    jobs: int | None = None
    timeout: float | None = None
    """Seconds for a case that sets no limit itself."""
    budget: float | None = None
    """Seconds of processor time that a check may spend, where the case does not say."""
    memory_limit: str | None = None
    seed: int | None = None
    format: str | None = None
    """How a run shows itself on the screen."""
    reports: Mapping[str, str] = field(default_factory=dict)
    """The files that a run writes, by format."""
    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where each of these stands, by key: the file and the line."""

    def place(self, key: str) -> str:
        """Where a key stands, for a message about its value."""
        return f"{self.places.get(key, self.root)}: `{key}` in [tool.gradcheck]"


def read_settings(
    start: Path, *, allow: Sequence[str] = (), max_cases: int | None = None
) -> Settings:
    """Walk up from `start` to the nearest pyproject.toml with `[tool.gradcheck]`, and read it.

    `allow` are the packages that the command line allows besides, `max_cases` is its limit.
    """
    start, given = start.resolve(), _packages(allow)
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        text, table = _table(path)
        if table is None:
            continue
        places = {key: _place(path, text, key) for key in table}
        _must_be_known(table, places)
        known: dict[str, Any] = dict(table)
        return Settings(
            **known
            | {
                "root": folder,
                "allow": (*table.get("allow", ()), *given),
                "max_cases": max_cases or table.get("max_cases", MAX_CASES),
                "specs": tuple(_seen_from_here(folder, place) for place in table.get("specs", ())),
                "places": places,
                "reports": {
                    name: str(folder / file) for name, file in table.get("reports", {}).items()
                },
            }
        )
    return Settings(start, given, max_cases or MAX_CASES)


def _seen_from_here(folder: Path, place: str) -> str:
    """A path of the settings, which is meant from their folder, as the user would type it."""
    return shown_path(os.path.normpath(folder / place))


def _table(path: Path) -> tuple[str, dict[str, Any] | None]:
    """The file, and its table `[tool.gradcheck]`; None where the file or the table is missing."""
    if not path.is_file():
        return "", None
    try:
        text = path.read_text(encoding="utf-8")
        tool = tomllib.loads(text).get("tool", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    table = tool.get("gradcheck") if isinstance(tool, dict) else None
    if table is None or isinstance(table, dict):
        return text, table
    raise UsageError(f"{path}: `tool.gradcheck` must be a table, not {table!r}")


def _place(path: Path, text: str, key: str) -> str:
    line = line_of(text, key)
    return str(path) if line is None else f"{path}:{line}"


def _must_be_known(table: Mapping[str, Any], places: Mapping[str, str]) -> None:
    """UsageError, with the place, for a key that there is not and for a value that it cannot have.

    All of them at once: who has mended one wants to know of the next.
    """
    wrong = []
    for key, value in table.items():
        if key not in KEYS:
            near = nearest(key.replace("-", "_"), KEYS)
            hint = f"did you mean `{near}`?" if near else f"known are: {', '.join(KEYS)}"
            wrong.append(f"{places[key]}: [tool.gradcheck] has no key `{key}`; {hint}")
        elif not KEYS[key].good(value):
            entries = value if isinstance(value, list) else []
            bad = [entry for entry in entries if not KEYS[key].good([entry])][:1]
            which = "".join(f"; {repr(entry)[:60]} is none" for entry in bad)
            told = f"must be {KEYS[key].wanted}: {key} = {KEYS[key].example}{which}"
            wrong.append(f"{places[key]}: `{key}` in [tool.gradcheck] {told}")
    if wrong:
        raise UsageError("\n".join(wrong))


def _packages(entries: Sequence[str]) -> tuple[str, ...]:
    for entry in entries:
        if not re.fullmatch(DOTTED, entry):
            raise UsageError(
                f"--allow names packages, such as mypkg or mypkg.layers, not {entry[:60]!r}"
            )
    return tuple(entries)
