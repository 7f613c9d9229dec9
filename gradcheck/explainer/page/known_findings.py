"""What TensorFlow gets wrong of an op, as the suite shows it.

`known_findings.json` is written by `python -m tools.findings` from `specs/`, which no wheel has.
Every entry is a case of the suite: `tests/ops/test_findings.py` runs it, and what is said instead.
"""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gradcheck.explainer.document import Bullets, Section

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Finding", "findings_of", "known_bugs", "told_of_findings"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One wrong gradient of an op."""

    case: str
    """The case that shows it: `specs/math/known_bugs.yaml::xlogy-at-zero`."""
    where: str
    """In which dtype, mode and check: `float16`."""
    reason: str
    versions: str
    """Those that have it, in words: `before 2.22`; empty for all."""
    instead: str
    """The same function, whose gradient is right; at the shapes of the case."""

    @property
    def text(self) -> str:
        """All of it in a few words."""
        versions = f", TensorFlow {self.versions}" if self.versions else ""
        return f"{self.where}{versions}: {self.reason} Written so it is right: {self.instead}"


@cache
def _table() -> dict[str, tuple[Finding, ...]]:
    # (importlib.resources would take a twentieth of the time of a whole page.)
    text = pkgutil.get_data(__package__ or "", "known_findings.json") or b"{}"
    return {
        op: tuple(Finding(**entry) for entry in entries) for op, entries in json.loads(text).items()
    }


def findings_of(op: str) -> tuple[Finding, ...]:
    """What is known to be wrong; nothing for most ops."""
    return _table().get(op, ())


def told_of_findings(ops: Iterable[str], check: str = "") -> str:
    """What is said where TensorFlow was seen to be wrong; empty where nothing is known of these.

    Args:
        ops: those that the function is made of.
        check: the derivative: `second` or `forward`; the gradient if empty.
    """
    wanted = f"float64, {check}" if check else "float64"
    found = [each for op in sorted({*ops}) for each in findings_of(op) if each.where == wanted]
    if not found:
        return ""
    told = " ".join(f"{each.reason} ({each.case})" for each in found)
    return f"What is known to be wrong in TensorFlow, and may be why: {told}"


def known_bugs(op: str) -> list[Section]:
    """A section about that; none where there is nothing to say."""
    found = findings_of(op)
    lines = tuple(finding.text for finding in found)
    return [Section("Known bugs of TensorFlow", (Bullets(lines),))] if lines else []
