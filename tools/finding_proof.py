"""Wrong gradients, shown and confirmed: each finding is run, what is right is found in two ways.

A finding is a case with the tag `known_bug`. It is checked as any case is. Then the same check is
made of a graft: TensorFlow's own function, whose gradient is replaced by that of the function as
`instead` writes it. Where that passes, the numeric derivative of the function (which no gradient
takes part in) and the gradient of the other writing agree on every element, within error bars.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from gradcheck.checker.case import problem_of
from gradcheck.checker.check import check_problem
from gradcheck.checker.subject.build_function import build
from gradcheck.model import Case, Result, Target, TargetKind, Verdict
from gradcheck.spec import load
from gradcheck.spec.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gradcheck.model import Array, Comparison

TAG = "known_bug"


@dataclass(frozen=True)
class Proof:
    """One finding as it was run."""

    case: Case
    wrong: Result
    """The case itself."""
    right: Result
    """The graft: the numeric derivative is that of the case, the gradient that of `instead`."""
    values: dict[str, Array]
    """The inputs at which it was run, by name."""

    @property
    def is_shown(self) -> bool:
        """Whether the verdict is the one that the spec expects, and not a right one."""
        return self.wrong.expected and not self.wrong.verdict.acceptable

    @property
    def is_confirmed(self) -> bool:
        """Whether what is right is known, and by two ways that agree."""
        return bool(self.right.comparisons) and self.right.verdict.acceptable

    @property
    def is_refused(self) -> bool:
        """Whether the function itself raises: then this version has no gradient that is wrong."""
        raised = self.wrong.message.startswith("the function raised")
        return self.wrong.verdict is Verdict.ERROR and raised

    @cached_property
    def inputs(self) -> tuple[tuple[Comparison | None, Comparison], ...]:
        """What is wrong of each input, and what is right; those that are right are left out."""
        told = {c.name: c for c in self.wrong.comparisons}
        pairs = ((told.get(c.name), c) for c in self.right.comparisons)
        return tuple((w, r) for w, r in pairs if w is None or not w.verdict.acceptable)


def findings(root: Path) -> list[Case]:
    """The cases of the suite that are known to be wrong in the installed version, in its order."""
    return [case for case in _tagged(root) if case.expect is not None]


def mended(root: Path) -> list[Case]:
    """Those that are wrong in older versions alone."""
    return [case for case in _tagged(root) if case.bug is not None and case.bug.mended]


@cache
def _tagged(root: Path) -> tuple[Case, ...]:
    loaded = load([str(path) for path in sorted(root.glob("specs/*/*.yaml"))], allow=["specs"])
    return tuple(_moved(case, root) for case in loaded.cases if TAG in case.tags)


def prove(case: Case) -> Proof:
    """Run a finding; ValueError where it does not say what is right."""
    if case.bug is None or not case.bug.instead:
        raise ValueError(f"{case.location}: a finding needs `instead`: what is right?")
    problem = problem_of(case, allow=(), root=".")
    written = replace(
        case,
        target=Target(TargetKind.EXPR, case.bug.instead, case.location),
        args={},
        init={},
        gradient={},
    )
    other = build(resolve(written), allow=(), root=".")
    # (A declared formula need not hold where TensorFlow fails: that of det divides by zero, too.)
    graft = replace(problem, function=grafted(problem.function, other), formulas={}, claims={})
    return Proof(
        case,
        replace(check_problem(problem, case.id), case=case),
        check_problem(graft, case.id),
        {operand.name: operand.value for operand in problem.operands},
    )


def grafted(function: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the values of the first and the gradient of the second."""
    import tensorflow as tf

    def graft(value: Any, same: Any) -> Any:
        if not (value.dtype.is_floating or value.dtype.is_complex):
            return value
        return same + tf.stop_gradient(value - same)

    def whole(*tensors: Any) -> Any:
        values, same = function(*tensors), other(*tensors)
        return tf.nest.map_structure(graft, values, same, expand_composites=True)

    return whole


def _moved(case: Case, root: Path) -> Case:
    """The case, whose id and place begin at the root whatever folder this is run in."""
    path = case.path.removeprefix(f"{root}/")
    return replace(case, path=path, id=case.id.removeprefix(f"{root}/"))
