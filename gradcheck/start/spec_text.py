"""Specs as text, written as a person would: short mappings in one line, reasons in comments."""

from __future__ import annotations

import json
import math
import re
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/\-]*[A-Za-z0-9_]|[A-Za-z]")
"""Texts that YAML reads as they are, also inside of brackets."""
_OTHERWISE = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"})
"""Texts that some reader of YAML takes for something else."""
_WIDTH = 98
"""Of comments."""


def flow(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHERWISE:
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    # (A reason is to be read: what can be printed stands as it is.)
    return json.dumps(value, ensure_ascii=not (isinstance(value, str) and value.isprintable()))


def case_lines(draft: Mapping[str, Any]) -> list[str]:
    """A case, a line for each key."""
    return [f"{key}: {flow(value)}" for key, value in draft.items()]


def listed(draft: Mapping[str, Any]) -> list[str]:
    """A case as an item of `cases`."""
    first, *rest = case_lines(draft)
    return [f"- {first}", *(f"  {line}" for line in rest)]


def comment(text: str, indent: str = "") -> list[str]:
    """A text as comments, broken into lines."""
    told = " ".join(text.split())
    return [
        f"{indent}# {line}"
        for line in textwrap.wrap(told, _WIDTH - len(indent), break_on_hyphens=False)
    ]


def commented_out(lines: list[str], indent: str = "") -> list[str]:
    """Lines that are there to be put back."""
    return [f"{indent}# {line}" for line in lines]
