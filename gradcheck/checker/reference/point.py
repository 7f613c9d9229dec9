"""A function under test at its point, in the best precision it has, and what weighs its outputs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import costs, limits, tolerances
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.subject.evaluator import Evaluator
from gradcheck.checker.subject.function_rounding import rounded_off
from gradcheck.checker.subject.tensors import FunctionRaised, in_double
from gradcheck.checker.subject.upstream import draw_upstream
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.vectors import Layout
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.row_function import RowFunction
    from gradcheck.checker.subject.tape import Tape
    from gradcheck.model import Array


@frozen()
class Point:
    """What one evaluation of the function tells; nothing here calls it again but the evaluator."""

    problem: Problem
    evaluator: RowFunction
    """The function on rows of points."""
    moved: tuple[Operand, ...]
    """The operands that are differentiated."""
    values: Sequence[Array]
    """Of all the operands, in the precision that the function is evaluated in."""
    upstream: Sequence[Array]
    """The cotangent, an array for each output."""
    weights: Array
    """The cotangent as one vector: what is differentiated is `weights @ base`."""
    at: Array
    """The moved operands as one vector of real numbers."""
    base: Array
    """The outputs there, as one vector of real numbers."""
    inputs: Layout
    outputs: Layout
    """Where each moved operand and each output lies in its vector."""
    precision: np.dtype[Any] | None
    """What the moved values are rounded to; None for double precision."""
    dtypes: Sequence[np.dtype[Any]]
    """What each moved operand is evaluated in."""
    no_double: str
    """Why double precision is not to be had, where it is not."""
    two_questions: bool
    """Whether the formula and the arithmetic are judged apart: in float64, then in less."""
    rounds: bool = False
    """Whether the function was seen to compute in less than double precision, somewhere."""
    constants: float = 0.0
    """The unit in the last place to which constants of the function were rounded before it was
    promoted to double precision; zero where none was."""

    @cached_property
    def rounded_off(self) -> Array:
        """By output: what its results round off on the way, as far as that is to be seen.

        It takes a pass: whoever meets something that stands still, or looks wrong, asks.
        """
        if self.precision is not None or self.no_double or self.is_exact:
            return np.zeros(len(self.base))
        found = rounded_off(self.problem, self.values, self.outputs.unflatten(self.base))
        return self._moved_by_last_digits if found is None else self.outputs.flatten(found)

    @property
    def _moved_by_last_digits(self) -> Array:
        """By output: how far last digits of the inputs move it, where nobody sees what it rounds.

        What adds up what it is given, and little is left, rounds off as much as that. Without it
        `test_what_is_added_where_nobody_sees_it` fails. What is moved as far by many last digits as
        by one jumps there, and rounds nothing off: else `test_a_jump_is_no_rounding` fails.
        """
        draws = generator(self.problem.seed, 0x6C61).uniform(
            -1.0, 1.0, (limits.ROUNDING_DRAWS_OF_ITS_OWN, len(self.at))
        )
        with np.errstate(all="ignore"):
            near = [tolerances.LAST_DIGIT * draws, tolerances.LAST_DIGITS * draws]
            one, many = (self.evaluator(self.at * (1.0 + change)) - self.base for change in near)
            jumps = np.abs(many - one) <= tolerances.ROUGH * np.abs(one)
            rounded = np.where(np.isfinite(one) & ~jumps, np.abs(one), 0.0)
            return np.asarray(np.max(rounded, axis=0))

    @cached_property
    def is_exact(self) -> bool:
        """Whether the function is known to round nothing: its outputs are some of its inputs.

        (Or their opposites, or zero, or the six of relu6. What Python computes by itself shows in
        that.)
        """
        if not self.problem.is_exact or not _some_of(self.base, self.at):
            return False
        # (It was watched in its own precision, in which a cast to that is none: numbers of more
        # digits tell. Else `test_a_cast_that_is_none_in_its_own_precision` fails.)
        if not self.two_questions:
            return True
        near = np.where(self.at == 0, 1.0, self.at) * (1.0 + limits.SPACINGS[0])
        return _some_of(self.evaluator(near[np.newaxis])[0], near)

    @property
    def passes_are_dear(self) -> bool:
        """Whether ways back are not to be gone some twenty times without need.

        Without it `test_a_loop_is_not_asked_for_rounding_that_could_not_explain_it` and
        `test_nor_is_a_function_of_many_ops` fail.
        """
        return self.evaluator.is_traced or self.problem.ops >= costs.OPS_OF_A_DEAR_PASS

    @property
    def keeps_its_digits(self) -> bool:
        """Whether the function is known to compute in double precision throughout."""
        return self.problem.keeps_its_digits and self.precision is None and not self.no_double


def _some_of(outputs: Array, inputs: Array) -> bool:
    return bool(np.isin(np.abs(outputs), np.append(np.abs(inputs), (0.0, 6.0))).all())


def evaluate_at(problem: Problem, tape: Tape | None = None) -> Point:
    """Evaluate the function of the problem once; raises FunctionRaised if it does.

    Args:
        problem: what is asked.
        tape: records that one call, so that whoever wants its gradients need not repeat it.
    """
    own = [operand.value for operand in problem.operands]
    values = in_double(own)
    is_low = any(a.dtype != b.dtype for a, b in zip(own, values, strict=True))
    no_double = ""
    try:
        evaluator = Evaluator(problem, values, tape)
    except FunctionRaised as error:
        if not is_low:
            raise
        # A function that cannot be had in double precision is checked in its own.
        evaluator, values = Evaluator(problem, own, tape), own
        no_double = str(error)
    outputs = evaluator.outputs
    upstream = draw_upstream(problem.upstream, outputs.shapes, outputs.complex_, problem.seed)
    weights = [
        ct.astype(np.complex128) if is_complex else np.real(ct).astype(np.float64)
        for ct, is_complex in zip(upstream, outputs.complex_, strict=True)
    ]
    return Point(
        problem=problem,
        evaluator=evaluator,
        moved=tuple(operand for operand in problem.operands if operand.differentiate),
        values=values,
        upstream=upstream,
        weights=outputs.flatten(weights),
        at=evaluator.point,
        base=evaluator.base,
        inputs=evaluator.inputs,
        outputs=outputs,
        precision=evaluator.precision,
        dtypes=evaluator.dtypes,
        no_double=no_double,
        two_questions=is_low and not no_double,
        rounds=bool(problem.rounds_in) or evaluator.gives_less,
        constants=0.0 if no_double else getattr(problem.function, "constants", 0.0),
    )
