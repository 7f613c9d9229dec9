"""The keys of `[tool.gradcheck]`: what each may hold, and what to say where it holds another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.spec.format.keys import DOTTED, MAX_SEED, MAX_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class SettingKey:
    """What a key holds."""

    good: Callable[[Any], bool]
    wanted: str
    """What it must be, as the end of a sentence."""
    example: str


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _packages(value: Any) -> bool:
    return _texts(value) and all(re.fullmatch(DOTTED, entry) for entry in value)


def _whole(least: int, most: float = float("inf")) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= MAX_TIMEOUT


def _files(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return _texts(list(value.values()))


_SECONDS = f"a number of seconds, above 0 and {MAX_TIMEOUT:,} at most"

KEYS: dict[str, SettingKey] = {
    "specs": SettingKey(
        _texts, "a list of files and folders, from the folder of this file", '["specs"]'
    ),
    "allow": SettingKey(
        _packages, "a list of texts that name packages, such as mypkg or mypkg.layers", '["mypkg"]'
    ),
    "jobs": SettingKey(_whole(1), "a whole number, 1 or more", "4"),
    "timeout": SettingKey(_seconds, _SECONDS, "120"),
    "budget": SettingKey(_seconds, _SECONDS, "30"),
    "memory_limit": SettingKey(_text, "a size as a text, or none", '"4G"'),
    "max_cases": SettingKey(_whole(1), "a whole number, 1 or more", "500000"),
    "seed": SettingKey(_whole(0, MAX_SEED), "a whole number, 0 or more", "7"),
    "format": SettingKey(_text, "the name of a format", '"plain"'),
    "reports": SettingKey(
        _files, "a table of files by format", '{html = "gradients.html", junit = "gradients.xml"}'
    ),
}
"""By name, in the order in which the documentation has them."""


def line_of(text: str, key: str) -> int | None:
    """The line of a key of `[tool.gradcheck]` in a file; None where it is written another way.

    TOML's reader tells no places. A key stands below the header of its table, or is a table with a
    header of its own, or both are dotted: `gradcheck.allow` below `[tool]`.
    """
    name = rf"""["']?{re.escape(key)}["']?"""
    header = re.compile(rf"\s*\[\s*tool\s*\.\s*gradcheck\s*(\.\s*{name}\s*)?\]")
    below = {
        "tool.gradcheck": re.compile(rf"\s*{name}\s*[.=]"),
        "tool": re.compile(rf"\s*gradcheck\s*\.\s*{name}\s*[.=]"),
        "": re.compile(rf"\s*tool\s*\.\s*gradcheck\s*\.\s*{name}\s*[.=]"),
    }
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(r"\s*\[", line) and "=" not in line.partition("]")[0]:
            found = header.match(line)
            if found and found[1]:
                return number
            table = re.sub(r"\s", "", line).strip("[").partition("]")[0]
        elif table in below and below[table].match(line):
            return number
    return None
