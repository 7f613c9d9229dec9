"""The verdict that a case expects: of the whole or by input, and under which conditions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gradcheck.errors import nearest
from gradcheck.model import Expectation, Verdict
from gradcheck.spec.format import fields
from gradcheck.spec.format.conditions import VARIANT, Condition, read_conditions
from gradcheck.spec.format.expect_keys import EXPECT_KEYS, EXPECTATIONS, NEED_A_REASON
from gradcheck.spec.yaml.nodes import ListNode, MapNode, Node
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.model import Input

_MOST_COMPARED = 100
"""Names that are compared with each other, letter by letter."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected where all its conditions hold."""

    verdict: Expectation = None
    reason: str = ""
    when: tuple[Condition, ...] = ()

    def holds(self, dtype: str, mode: str, checks: Collection[str]) -> bool:
        """Whether this is what a case of that dtype, mode and these checks expects here."""
        return all(condition.holds(dtype, mode, checks) for condition in self.when)

    def is_over(self, dtype: str, mode: str, checks: Collection[str]) -> bool:
        """Whether such a case expected this of older versions alone: here the bug is mended."""
        missing = [c for c in self.when if c.is_version and not c.holds(dtype, mode, checks)]
        over = bool(missing) and all(condition.is_over for condition in missing)
        return self.verdict is not None and over and self.is_of(dtype, mode, checks)

    def is_of(self, dtype: str, mode: str, checks: Collection[str]) -> bool:
        """Whether it is of such a case, in some version."""
        others = [condition for condition in self.when if not condition.is_version]
        return all(condition.holds(dtype, mode, checks) for condition in others)

    @property
    def verdict_text(self) -> str:
        """What is expected, in a few words: `mismatch`, or `x: mismatch`."""
        if self.verdict is None or isinstance(self.verdict, Verdict):
            return str(self.verdict or Verdict.PASS)
        return ", ".join(f"{name}: {verdict}" for name, verdict in self.verdict.items())

    @property
    def versions(self) -> str:
        """The versions of which it is expected, as the spec has them; empty for all."""
        return " and ".join(str(condition) for condition in self.when if condition.is_version)

    @property
    def names_variant(self) -> bool:
        """Whether a condition says in which mode or by which check it is expected."""
        return any(condition.name in VARIANT for condition in self.when)


class ExpectReader:
    """Reads the `expect` of one case.

    `others`: a name that is no input may be a variable's.
    """

    def __init__(
        self, source: Source, inputs: Collection[Input], reason: str, *, others: bool
    ) -> None:
        self._source = source
        self._known = [i.name for i in inputs if i.grad]
        self._names = frozenset(self._known)
        self._reason = reason
        self._others = others

    def read(self, node: Node) -> tuple[Expected, ...]:
        """What is expected, of which the first counts whose conditions hold."""
        if not isinstance(node, ListNode) or not any(isinstance(i, MapNode) for i in node.items):
            return (self._one(node),)
        found = [self._listed(item) for item in node.items]
        for item, expected in list(zip(node.items, found, strict=True))[:-1]:
            if not expected.when:
                message = "this is expected without a condition: what follows it never counts"
                self._source.problem(item, message, "give it a `when`, or put it last")
                break
        return tuple(found)

    def _one(self, node: Node) -> Expected:
        if not isinstance(node, MapNode) or not self._is_conditional(node):
            return self._checked(node, Expected(self._verdict(node), self._reason))
        fields.unknown_keys(self._source, node, "`expect`", EXPECT_KEYS)
        if "verdict" not in node.items:
            hint = "write {verdict: mismatch, when: tensorflow<2.22}"
            self._source.problem(node, "`expect` has a condition, and no `verdict`", hint)
            return Expected()
        when, reason = node.items.get("when"), node.items.get("reason")
        told = None if reason is None else fields.text(self._source, reason, "`reason`")
        expected = Expected(
            self._verdict(node.items["verdict"]),
            told or self._reason,
            () if when is None else read_conditions(self._source, when),
        )
        return self._checked(node, expected)

    def _listed(self, node: Node) -> Expected:
        if isinstance(node, MapNode) and self._is_conditional(node):
            return self._one(node)
        hint = "write {verdict: mismatch, when: tensorflow<2.22}"
        message = f"a list of expectations holds mappings with `verdict`, not {fields.found(node)}"
        self._source.problem(node, message, hint)
        return Expected()

    def _is_conditional(self, node: MapNode) -> bool:
        """Whether the mapping is no list of inputs: those may have any name."""
        if "verdict" in node.items and "when" in node.items:
            return True
        return any(key in node.items and key not in self._names for key in ("verdict", "when"))

    def _verdict(self, node: Node) -> Expectation:
        if isinstance(node, MapNode):
            return self._by_input(node)
        single = fields.choice(self._source, node, "`expect`", EXPECTATIONS)
        return None if single is None else Verdict(single)

    def _checked(self, node: Node, expected: Expected) -> Expected:
        """The same; a known bug must have its reason."""
        verdict = expected.verdict
        if verdict is None:
            return expected
        found = {verdict} if isinstance(verdict, Verdict) else set(verdict.values())
        if found & NEED_A_REASON and not expected.reason:
            worst = min(found & NEED_A_REASON)
            message = f"`expect: {worst}` is a known bug: it needs a `reason`"
            hint = "say in a sentence why, for example `reason: bug 123`"
            self._source.problem(node, message, hint)
        return expected

    def _by_input(self, node: MapNode) -> dict[str, Verdict]:
        if not node.items:
            hint = "name an input, or a verdict"
            self._source.problem(node, "`expect` is an empty mapping", hint)
        verdicts: dict[str, Verdict] = {}
        for number, (name, entry) in enumerate(node.entries.items()):
            if not self._may_be_named(name, number):
                message = f"`expect` names {shown(name)}, which is no differentiated input"
                self._source.problem(entry.key, message, partial(_meant, name, self._known))
            what = f"`expect` of `{name}`"
            verdict = fields.choice(self._source, entry.value, what, EXPECTATIONS)
            if verdict is not None:
                verdicts[name] = Verdict(verdict)
        return verdicts

    def _may_be_named(self, name: str, number: int) -> bool:
        """Whether it is an input, or may be a variable, which is not called almost as one."""
        if name in self._names or not self._others:
            return name in self._names
        few = number < _MOST_COMPARED and len(self._known) < _MOST_COMPARED
        return not (few and nearest(name, self._known, alike=0.8))


def _meant(name: str, known: list[str]) -> str:
    return fields.did_you_mean(name, known) or f"those are: {fields.listed(known)}"
