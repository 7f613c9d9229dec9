"""The stages of a check: which of them decided a verdict is part of the result."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """Where a verdict arose, in the order of a check; `meaning` says what happens there."""

    WORKER = "worker"
    SET_UP = "set-up"
    FIRST_LOOK = "first look"
    NOISE = "measured noise"
    CONFIRMATION = "confirmation"
    ROUNDING = "rounding on the way"
    DIRECTIONS = "random directions"
    TIES = "ties"
    REPEATABILITY = "repeatability"
    CONNECTION = "connection"
    SHAPE = "shape and dtype"
    FORMULA = "formula"
    PRECISION = "low precision"
    FORWARD = "forward mode"
    PHASE = "free phase"
    JACOBIAN = "jacobian"
    BUDGET = "budget"

    @property
    def meaning(self) -> str:
        """What happens in this stage, in a sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    Stage.WORKER: "The process that ran the case ended before the check did.",
    Stage.SET_UP: "The function, its inputs or its gradient could not be had at all.",
    Stage.FIRST_LOOK: (
        "Supposing an ideal function, the numeric derivative and the gradient agree to 1e-8."
    ),
    Stage.NOISE: "The function's noise was measured, and the steps chosen again.",
    Stage.CONFIRMATION: (
        "What looked wrong was moved again, alone and with smaller steps, and what rounding of the "
        "inputs does to the gradient was allowed for."
    ),
    Stage.ROUNDING: (
        "The gradient was taken in arithmetic that rounds differently each time, which explains "
        "what it is off."
    ),
    Stage.DIRECTIONS: "Random directions of all the elements of a large input were compared.",
    Stage.TIES: "Equal elements at a kink were moved together.",
    Stage.REPEATABILITY: "The function and its gradient were called again.",
    Stage.CONNECTION: "The tape returned no gradient.",
    Stage.SHAPE: "The shape and dtype of the gradient were compared with those of its input.",
    Stage.FORMULA: "A closed formula, declared or claimed, was compared with the gradient.",
    Stage.PRECISION: "The gradient in its own precision was compared with the one in float64.",
    Stage.FORWARD: "The forward accumulator was compared with the numeric derivative.",
    Stage.PHASE: (
        "Vectors were turned by a phase that nothing defines, and the outputs turned with them: "
        "they have no derivative."
    ),
    Stage.JACOBIAN: "The ways to make a Jacobian were compared, and the numeric derivative.",
    Stage.BUDGET: "What may be spent on evaluating the function was spent before all was known.",
}
