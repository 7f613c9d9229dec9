"""What has to be told where a gradient is not right: of samples, of complex eigenvectors.

The one place where a verdict is taken back: of outputs that have no derivative no gradient is
wrong. To find that out takes calls of the function, which only a doubt is worth.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.checker.judge.notes import joined
from gradcheck.checker.subject.phases import FREE_PHASE, depends_on_the_phase, shows_a_phase
from gradcheck.model import Comparison, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.problem import Problem

_DOUBTED = (Verdict.MISMATCH, Verdict.INCONCLUSIVE)


def _has_a_free_phase(problem: Problem) -> bool:
    """Whether the outputs depend on phases that nothing defines, as of complex eigenvectors."""
    if not problem.may_have_phases:
        return False
    values = [operand.value for operand in problem.operands]
    return shows_a_phase(problem.function, values) and depends_on_the_phase(
        problem.function, values
    )


def with_remarks(comparisons: Sequence[Comparison], problem: Problem) -> list[Comparison]:
    """The comparisons, with what is to be said of the function where one of them is doubted."""
    if not any(c.verdict in _DOUBTED for c in comparisons):
        return list(comparisons)
    free = _has_a_free_phase(problem)
    return [_with_remark(comparison, problem, free=free) for comparison in comparisons]


def _with_remark(comparison: Comparison, problem: Problem, *, free: bool) -> Comparison:
    if comparison.verdict not in _DOUBTED:
        return comparison
    if problem.remark:
        comparison = replace(comparison, note=joined(comparison.note, problem.remark))
    # (One of another shape or dtype than its input's is wrong whatever the derivative is.)
    if not free or comparison.decided_by is Stage.SHAPE:
        return comparison
    return replace(
        comparison,
        verdict=Verdict.INCONCLUSIVE,
        decided_by=Stage.PHASE,
        note=joined(comparison.note, FREE_PHASE),
        diagnosis=None,
    )
