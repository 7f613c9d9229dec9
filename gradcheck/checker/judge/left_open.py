"""What is to be said where the budget is spent before all is known.

What agrees with a derivative that is known is right; what disagrees with one that nobody confirmed
is open, and so is what was never moved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import costs
from gradcheck.checker.budget import Spent, current
from gradcheck.checker.judge.agreement import INCONCLUSIVE, KINK, PASS, Agreement, compare
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.model import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.judge.evidence import Evidence, OfInput


def as_far_as_it_goes(stage: Callable[[Evidence], Evidence], evidence: Evidence) -> Evidence:
    """What a stage makes of the evidence within its share of the budget, or what was known."""
    budget = current()
    try:
        with budget.up_to(costs.SPENT_BY_STAGE.get(stage.__name__, 1.0)):
            return stage(evidence)
    except Spent:
        return left_open(evidence)


def left_open(evidence: Evidence) -> Evidence:
    """The evidence as it stands: of every input that nothing settled, what is known and what not.

    Without it `test_a_dear_function_says_what_is_known_when_the_budget_is_spent` fails.
    """
    estimate = evidence.estimate
    if estimate is None:
        known = evidence.look
        estimate = Estimate.unknown(len(evidence.analytic)) if known is None else known.estimate
    inputs = evidence.inputs or evidence.by_input(estimate)

    def judged(own: OfInput) -> OfInput:
        if not own.can_be_compared or evidence.is_settled(own.part):
            return own
        if own.agreement is None:
            return open_(evidence, own)
        # What stands at a kink may be refuted by elements that tie: nobody has looked.
        grades = own.agreement.grades
        if not (grades == KINK).any():
            return own
        open_ones = replace(own.agreement, grades=np.where(grades == KINK, INCONCLUSIVE, grades))
        return replace(own, agreement=open_ones, stage=Stage.BUDGET)

    return replace(evidence, estimate=estimate, inputs=tuple(map(judged, inputs)))


def open_(evidence: Evidence, own: OfInput) -> OfInput:
    """An input whose elements could not all be judged."""
    span, look = own.part.span, evidence.look
    settled = np.zeros(own.part.count, dtype=bool) if look is None else look.settled[span]
    zeros = np.zeros(own.part.count)
    agreement = Agreement(np.where(settled, PASS, INCONCLUSIVE), zeros, zeros)
    if evidence.derivatives is not None:
        # Its noise is known: bars are what they should be, but nothing was looked at twice.
        told = compare(own.analytic, own.estimate, reference=_size(own))
        # (Elements of a sample vouch for no others: directions do, and nobody has compared those.)
        alone = look is None and len(own.part.directions) > 0
        right = settled | ((told.grades == PASS) & (not alone))
        agreement = replace(told, grades=np.where(right, PASS, INCONCLUSIVE))
    return replace(own, agreement=agreement, stage=Stage.BUDGET)


def labelled(own: OfInput) -> OfInput:
    """An input that was judged as far as it was known, saying so if some of it never was."""
    if own.agreement is None or not current().is_spent:
        return own
    never = np.isnan(own.estimate.value) & (own.agreement.grades == INCONCLUSIVE)
    return replace(own, stage=Stage.BUDGET) if never.any() else own


def _size(own: OfInput) -> float:
    claimed = np.abs(own.analytic[np.isfinite(own.analytic)])
    return float(claimed.max(initial=0.0))
