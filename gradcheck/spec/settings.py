"""The project's own settings: `[tool.gradcheck]` in the nearest pyproject.toml that has it."""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError
from gradcheck.spec.format.keys import IDENTIFIER

if TYPE_CHECKING:
    from pathlib import Path

_KEYS = ("allow",)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the project says about gradcheck."""

    root: Path
    """The folder of the pyproject.toml, from which user code is imported; else where we started."""
    allow: tuple[str, ...] = ()
    """The packages that `function:` and `layer:` may import from."""


def read_settings(start: Path) -> Settings:
    """Walk up from `start` to the nearest pyproject.toml with `[tool.gradcheck]`, and read it."""
    start = start.resolve()
    for folder in (start, *start.parents):
        table = _table(folder / "pyproject.toml")
        if table is not None:
            return Settings(folder, _allow(folder / "pyproject.toml", table))
    return Settings(start)


def _table(path: Path) -> dict[str, Any] | None:
    """The table `[tool.gradcheck]`; None where the file or the table is missing."""
    if not path.is_file():
        return None
    try:
        tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    table = tool.get("gradcheck") if isinstance(tool, dict) else None
    if table is None or isinstance(table, dict):
        return table
    raise UsageError(f"{path}: `tool.gradcheck` must be a table, not {table!r}")


def _allow(path: Path, table: dict[str, Any]) -> tuple[str, ...]:
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"known are: {', '.join(_KEYS)}"
            raise UsageError(f"{path}: [tool.gradcheck] has no key `{key}`; {hint}")
    allow = table.get("allow", [])
    if not isinstance(allow, list) or not all(isinstance(entry, str) for entry in allow):
        raise UsageError(
            f'{path}: `allow` in [tool.gradcheck] must be a list of texts: allow = ["mypkg"]'
        )
    for entry in allow:
        if not re.fullmatch(rf"{IDENTIFIER}(\.{IDENTIFIER})*", entry):
            raise UsageError(
                f"{path}: `allow` in [tool.gradcheck] names packages, such as mypkg or "
                f"mypkg.layers, not {entry!r}"
            )
    return tuple(allow)
