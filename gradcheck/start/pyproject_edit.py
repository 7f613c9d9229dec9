"""`allow` in pyproject.toml, added to a text that is somebody's: all the rest stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADER = re.compile(
    r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*gradcheck[ \t]*\][ \t]*(#.*)?$", re.MULTILINE
)
_ALLOW = re.compile(r"^([ \t]*allow[ \t]*=[ \t]*\[)([^\]#]*)(\])", re.MULTILINE)
"""A list without comments in it: one with comments is left to its author."""


class NotEditableError(Exception):
    """The text is written in a way that cannot be added to with certainty."""


def allowed_in(text: str) -> list[str]:
    """The packages that a pyproject.toml allows."""
    found = tomllib.loads(text).get("tool", {}).get("gradcheck", {}).get("allow", [])
    return [str(name) for name in found]


def with_allowed(text: str, packages: Sequence[str]) -> str:
    """The text with these packages allowed too; as it is where they are.

    NotEditableError where the outcome would say anything else than before, but for them.
    """
    there = allowed_in(text)
    new = [name for name in packages if name not in there]
    if not new:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    edited = _edited(text, new, end)
    if not _says(edited, tomllib.loads(text), [*there, *new]):
        raise NotEditableError
    return edited


def _edited(text: str, new: Sequence[str], end: str) -> str:
    names = ", ".join(json.dumps(name) for name in new)
    header = _HEADER.search(text)
    if header is None:
        before = text if not text or text.endswith("\n") else text + end
        gap = end if before.strip() else ""
        return f"{before}{gap}[tool.gradcheck]{end}allow = [{names}]{end}"
    start = header.end()
    following = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, start)
    stop = following.start() if following else len(text)
    allow = _ALLOW.search(text, start, stop)
    if allow is None:
        return f"{text[:start].rstrip()}{end}allow = [{names}]{text[start:]}"
    held = allow[2].rstrip()
    comma = "" if not held.strip() else " " if held.endswith(",") else ", "
    place = allow.start(2) + len(held)
    return f"{text[:place]}{comma}{names}{text[place:]}"


def _says(text: str, before: dict[str, Any], allow: list[str]) -> bool:
    """Whether a text says what it did before, and these packages."""
    try:
        now = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    wanted = {**before, "tool": {**before.get("tool", {})}}
    wanted["tool"]["gradcheck"] = {**wanted["tool"].get("gradcheck", {}), "allow": allow}
    return bool(now == wanted)
