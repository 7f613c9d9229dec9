"""The run that a page shows, with the runs before it: what all of its sections ask."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gradcheck.model import TargetKind
from gradcheck.report.difference import Difference, since_the_last
from gradcheck.report.formats.html.markup import tag
from gradcheck.report.row_names import target_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Result
    from gradcheck.report.background import Background
    from gradcheck.report.formats.html.markup import Html
    from gradcheck.report.reporter import Outcome

MOST_SHOWN_FAILURES = 40
"""Failures that stand in the page with all their details, script or none; of more, the others are
unfolded like any case. Who has more of them begins with these."""

_LONGEST_LABEL = 60
"""Characters of an expression that name it in a table."""

_CALLED = re.compile(r"\btf(?:\.\w+)+")


@dataclass(frozen=True, eq=False)
class ShownRun:
    """A run that is over, and what is known besides."""

    outcome: Outcome
    background: Background

    @property
    def environment(self) -> Mapping[str, str]:
        """On what it ran."""
        return self.outcome.plan.environment

    @property
    def results(self) -> tuple[Result, ...]:
        """In the order of the specs."""
        return self.outcome.results

    @cached_property
    def numbers(self) -> dict[str, int]:
        """By case: which row is its own."""
        return {result.id: number for number, result in enumerate(self.results)}

    @cached_property
    def in_full(self) -> frozenset[str]:
        """The failures that stand in the page with all their details."""
        return frozenset(r.id for r in self.outcome.failures[:MOST_SHOWN_FAILURES])

    @cached_property
    def difference(self) -> Difference | None:
        """What changed since the last run before it; None if there is none."""
        return since_the_last(self.background, self.outcome)

    @cached_property
    def changed(self) -> frozenset[str]:
        """The cases that are not as they were in that run."""
        if self.difference is None:
            return frozenset()
        found = self.difference
        changes = (*found.broken, *found.mended, *found.other, *found.grown)
        return frozenset((*(change.id for change in changes), *found.added))

    @cached_property
    def _earlier_results(self) -> list[dict[str, Result]]:
        return [{r.id: r for r in run.results} for run in self.background.earlier]

    def past(self, result: Result) -> list[Result | None]:
        """The case in the runs before, the oldest first, and in this one."""
        return [*(run.get(result.id) for run in self._earlier_results), result]

    @cached_property
    def _op_names(self) -> dict[str, str]:
        return {word: op.name for op in self.background.catalogue for word in op.spellings}

    def ops_in(self, result: Result) -> frozenset[str]:
        """The declared ops that the case is about: its own, or those that its expression calls."""
        target = result.case.target if result.case else None
        if target is None or target.kind not in (TargetKind.OP, TargetKind.EXPR):
            return frozenset()
        is_op = target.kind is TargetKind.OP
        words = [target.text] if is_op else _CALLED.findall(target.text)
        return frozenset(self._op_names[word] for word in words if word in self._op_names)

    def label(self, result: Result) -> str:
        """What the case is about in a few words; its name where the report does not tell."""
        text = self.function(result)
        return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"

    def function(self, result: Result) -> str:
        """The same in full."""
        text = target_text(result)
        return self._op_names.get(text, text)

    def link(self, case_id: str, text: str = "") -> Html | str:
        """A link to a case; its bare name where the run does not have it."""
        if case_id not in self.numbers:
            return text or case_id
        return tag("a", text or case_id, href=self.place(case_id))

    def place(self, case_id: str) -> str:
        """Where on the page the case stands."""
        return f"#{'f' if case_id in self.in_full else 'c'}{self.numbers[case_id]}"
