"""What all errands of a hunt share; an errand yields cases for workers and gets their results."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradcheck.hunter.drafts import Draft, case_of, task_case
from gradcheck.model import Case, Result, Verdict

if TYPE_CHECKING:
    from gradcheck.hunter.ledger import Finding, Ledger
    from gradcheck.hunter.shrinker import Checked

Errand = Generator[Case, Result, None]

CHECK_BUDGET = 3.0
"""Seconds of processor time for one check of a hunt: what takes longer is not judged."""
CHECK_SECONDS = 25.0
"""Seconds after which a worker is ended: whatever is drawn here is small."""


@dataclass(slots=True)
class Hunt:
    """What all errands share."""

    ledger: Ledger
    allow: tuple[str, ...]
    root: str
    version: str = ""
    """Of TensorFlow."""
    found: Callable[[Finding], None] = lambda _finding: None
    _number: int = 0
    open: set[str] = field(default_factory=set)
    """Causes that an errand is at."""

    def number(self) -> int:
        """A new one for each case."""
        self._number += 1
        return self._number

    def check(self, draft: Draft) -> Checked:
        """Check a draft; one that is no case is an error."""
        number = self.number()
        case = case_of(draft, number, self.allow, budget=CHECK_BUDGET, timeout=CHECK_SECONDS)
        if isinstance(case, str):
            return Result(f"hunt{number}", Verdict.ERROR, message=case)
        self.ledger.cases += 1
        return (yield case)

    def ask(self, task_kind: str, /, **request: object) -> Checked:
        """Give a worker a task that is no check."""
        return (yield task_case(task_kind, self.number(), request, timeout=CHECK_SECONDS))
