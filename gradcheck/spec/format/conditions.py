"""The `when:` of an expectation: on which versions, in which mode, check and dtype it holds.

What is installed is looked up when a condition is first asked, in the metadata of the packages:
reading a spec does not load TensorFlow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.model.versions import COMPARISONS, compares, installed_version
from gradcheck.spec.format import fields
from gradcheck.spec.format.expect_keys import CONDITION, VERSIONED
from gradcheck.spec.format.keys import CASE_DTYPES, CHECKS, MODES
from gradcheck.spec.yaml.nodes import ListNode, ScalarNode
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.spec.yaml.nodes import Node

_WORDS = {"mode": MODES, "check": CHECKS, "dtype": CASE_DTYPES}
"""What a case is run in, and what that may be."""
VARIANT = ("mode", "check")
"""Those of them that a run may choose."""

_HINT = "write it as in tensorflow<2.22, keras>=3.5 or mode==xla; several are joined by `and`"


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison: `tensorflow<2.22`."""

    name: str
    comparison: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.name}{self.comparison}{self.wanted}"

    @property
    def is_version(self) -> bool:
        """Whether it asks for what is installed, and not for how the case is run."""
        return self.name in VERSIONED

    @property
    def is_over(self) -> bool:
        """Whether it asks for an older version than the one that is installed."""
        version = installed_version(self.name) if self.is_version else None
        older = self.comparison in ("<", "<=")
        return version is not None and older and not compares(version, self.comparison, self.wanted)

    def holds(self, dtype: str, mode: str, checks: Collection[str]) -> bool:
        """Whether it is so here, for a case of this dtype and mode that makes these checks.

        What is not installed fulfils no condition. `check==second` holds for a case that makes
        that check, whether or not it makes others.
        """
        if self.name in _WORDS:
            values = {"dtype": [dtype], "mode": [mode], "check": checks}[self.name]
            return COMPARISONS[self.comparison](self.wanted in values, True)
        version = installed_version(self.name)
        return version is not None and compares(version, self.comparison, self.wanted)


def read_conditions(source: Source, node: Node) -> tuple[Condition, ...]:
    """The conditions, all of which must hold: a text, or a list of them."""
    texts = node.items if isinstance(node, ListNode) else [node]
    if not texts:
        source.problem(node, "`when` is an empty list", "leave it out, or give a condition")
    found: list[Condition] = []
    for item in texts:
        if not isinstance(item, ScalarNode) or not isinstance(item.value, str):
            source.problem(item, f"`when` must be a condition, not {fields.found(item)}", _HINT)
            continue
        for part in re.split(r"\s+and\s+|\s*,\s*", item.value.strip()):
            condition = _condition(source, item, part.strip())
            found += [] if condition is None else [condition]
    return tuple(found)


def _condition(source: Source, node: Node, text: str) -> Condition | None:
    match = re.fullmatch(CONDITION, text)
    if match is None:
        source.problem(node, f"{shown(text)} is no condition", _HINT)
        return None
    name, comparison, wanted = match["name"], match["comparison"], match["wanted"]
    known = (*VERSIONED, *_WORDS)
    if name not in known:
        hint = fields.did_you_mean(name, known) or f"known are: {', '.join(known)}"
        source.problem(node, f"`when` cannot ask for {shown(name)}", hint)
        return None
    if name in _WORDS:
        if comparison not in ("==", "!="):
            source.problem(node, f"`{name}` has no order: {shown(text)}", "compare it by == or !=")
            return None
        if wanted not in _WORDS[name]:
            hint = f"there are: {', '.join(_WORDS[name])}"
            source.problem(node, f"there is no {name} {shown(wanted)}", hint)
            return None
    elif not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){0,5}", wanted):
        message = f"{shown(wanted)} is no version: numbers and dots make one"
        source.problem(node, message, "write 2.22 for its release candidates too")
        return None
    return Condition(name, comparison, wanted)
