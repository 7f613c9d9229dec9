"""The ways to call a function under test at many points: one by one, or many in one call.

Most TensorFlow functions take a leading batch axis. Through most of the others many points can be
carried, op by op. None of this is assumed of a function; `evaluator.py` tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.budget import current
from gradcheck.checker.subject.assign import assign
from gradcheck.checker.subject.carry.carried_changes import Changes
from gradcheck.checker.subject.carry.carrying import carried, load
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.checker.subject.stacking import Stacking
from gradcheck.checker.subject.tensors import FunctionRaised, call
from gradcheck.model import Array, Shape, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.subject.probe_points import Domain
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tape import Tape

Batched = Callable[[Sequence[Array]], list[Array]]
"""Values of the moved operands to outputs, all with a leading axis of points; raises ValueError, or
whatever the function raises, where that cannot be had."""


class Calls:
    """A function with some operands that move and others that stay."""

    def __init__(
        self,
        problem: Problem,
        values: Sequence[Array],
        tape: Tape | None = None,
    ) -> None:
        """Evaluate once at the point itself; raises whatever the function raises.

        Args:
            problem: has the function and its operands.
            values: of all the operands, in the precision to evaluate in.
            tape: records that first call, or has done so.
        """
        self._problem, self._function, self._operands = problem, problem.function, problem.operands
        self._values = list(values)
        self.moved = [i for i, operand in enumerate(self._operands) if operand.differentiate]
        self.at_point = [self._values[i] for i in self.moved]
        self._tensors, outputs = self._first_call(tape)
        self.outputs: list[Array] = [output.numpy() for output in outputs]
        self._shapes: list[Shape] = [output.shape for output in self.outputs]
        self.raised = ""
        """What the function raised last at a point where it is not defined, if it did."""

    def _first_call(self, tape: Tape | None) -> tuple[list[Any], list[Any]]:
        """The arguments at the point, and the outputs there."""
        if tape is not None and tape.recorded is not None:
            arguments, outputs = tape.recorded
            return list(arguments), outputs
        arguments = [self._tensor(i, value) for i, value in enumerate(self._values)]
        if tape is not None:
            return arguments, tape.record(arguments)
        return arguments, call(self._function, arguments)

    @property
    def domain(self) -> Domain:
        """The lowest and the highest value that each moved number may have."""
        chosen = [self._operands[i] for i in self.moved]
        if all(operand.is_unbounded for operand in chosen):
            return None
        counts = [value.size * (1 + np.iscomplexobj(value)) for value in self.at_point]
        return (
            np.repeat([operand.low for operand in chosen], counts),
            np.repeat([operand.high for operand in chosen], counts),
        )

    def once(self, values: Sequence[Array]) -> list[Array]:
        """The outputs at one point."""
        current().must_be_left()
        arguments = list(self._tensors)
        for position, value in zip(self.moved, values, strict=True):
            arguments[position] = self._tensor(position, value)
        return self._call(arguments)

    def one_by_one(self, stacked: Sequence[Array]) -> list[Array]:
        """A call per point; the conversions at both ends are done once for all of them."""
        import tensorflow as tf

        arguments: list[Any] = list(self._tensors)
        for position, operand in enumerate(self._operands):
            if operand.is_held:
                arguments[position] = operand.hold(self._values[position])
        columns = [tf.unstack(tf.constant(array)) for array in stacked]
        collected: list[list[Any]] = [[] for _ in self._shapes]
        budget = current()
        for tensors in zip(*columns, strict=True):
            budget.must_be_left()
            for position, tensor in zip(self.moved, tensors, strict=True):
                if isinstance(arguments[position], tf.Variable):
                    assign(arguments[position], tensor)
                else:
                    arguments[position] = tensor
            outputs = self._defined_or_nan(arguments)
            if [tuple(output.shape) for output in outputs] != self._shapes:
                raise Ended(
                    Verdict.INCONCLUSIVE,
                    "the shapes of the outputs depend on the values of the inputs, and change "
                    "around this point: there is no derivative to compare with",
                )
            for kept, output in zip(collected, outputs, strict=True):
                kept.append(output)
        return [tf.stack(outputs).numpy() for outputs in collected]

    def _defined_or_nan(self, arguments: Sequence[Any]) -> list[Any]:
        """The outputs at a point, which are NaN where the function raises: it is not defined there.

        Raises what the function raises where it raises at the point of the check as well. Without
        it `test_what_raises_beside_the_point_is_not_defined_there` fails.
        """
        import tensorflow as tf

        try:
            return call(self._function, arguments)
        except FunctionRaised as error:
            call(self._function, self._at_point())
            self.raised = str(error)
        return [tf.constant(np.full(o.shape, np.nan, o.dtype)) for o in self.outputs]

    def all_together(self, along: int) -> list[Batched]:
        """The ways in which all the moved operands may have many values, likely first.

        Args:
            along: how many points are wanted along with the probe; none where they are many.
        """
        ranks = [value.ndim for value in self.at_point]
        ways: list[Batched] = []
        if self._problem.takes_other_shapes:
            paddings = [max(ranks), None] if len(set(ranks)) > 1 else [None]
            ways = [Stacked(self, Stacking(pad_to=padding)) for padding in paddings]
            if len(self.moved) < len(self._values):
                ways.append(Stacked(self, Stacking(pad_to=max(ranks), stack_all=True)))
        # (Many points that are carried are dear: without this
        # `test_what_is_large_is_stacked_before_it_is_carried` fails.)
        stacks = self._problem.may_stack or not along
        place = len(ways) if stacks and self._is_likely_to_stack(ranks) else 0
        ways.insert(place, Carried(self))
        return ways

    @property
    def keeps_rows_apart(self) -> bool:
        """Whether nothing in a call along a leading axis could tell one row from the others.

        Then no call of its own has to say what one of them gives. Without it
        `test_what_looks_at_no_values_takes_no_call_of_its_own` fails.
        """
        problem = self._problem
        # (In a gradient others' code may run than in the function.)
        own = bool(problem.kinds) and not problem.is_gradient
        return own and problem.may_stack and (problem.is_of_a_library or problem.names_nothing)

    def _is_likely_to_stack(self, ranks: Sequence[int]) -> bool:
        """Not a layer, which looks at the ranks of its weights.

        Nor what makes one number of many, but for distributions: mostly it makes one of all the
        points, too, unless its ops are known to leave an axis more alone, as a determinant does:
        without that `test_a_determinant_gets_a_leading_axis` fails.
        """
        if any(self._operands[i].captured is not None for i in self.moved):
            return False
        known = bool(self._problem.kinds) and self._problem.may_stack
        return known or all(self._shapes) or not any(ranks)

    def _specs(self) -> list[Any]:
        """Many values of the moved operands."""
        import tensorflow as tf

        return [tf.TensorSpec((None, *v.shape), v.dtype) for v in self.at_point]

    def looped(self) -> Batched:
        """A loop over the points inside one function that is traced once.

        Without it `test_what_runs_many_ops_is_traced` fails.
        """
        import tensorflow as tf

        def one(row: Sequence[Any]) -> list[Any]:
            arguments = list(self._tensors)
            for position, tensor in zip(self.moved, row, strict=True):
                if self._operands[position].is_held:
                    arguments[position].assign(tensor)
                else:
                    arguments[position] = tensor
            return call(self._function, arguments)

        kinds = [tf.TensorSpec(output.shape, output.dtype, name=None) for output in self.outputs]

        @tf.function(autograph=False)  # type: ignore[untyped-decorator]  # no types in TF
        def many(stacked: list[Any]) -> Any:
            # (One after the other: each assigns to the same variables.)
            return tf.map_fn(one, stacked, fn_output_signature=kinds, parallel_iterations=1)

        with _same_variable_scope():
            traced = many.get_concrete_function(self._specs())
        return lambda stacked: [o.numpy() for o in traced([tf.constant(a) for a in stacked])]

    def _at_point(self) -> list[Any]:
        """Arguments at the point, where the variables have to be brought back to."""
        for operand, tensor, value in zip(self._operands, self._tensors, self._values, strict=True):
            if operand.is_held:
                assign(tensor, value)
        return list(self._tensors)

    def _call(self, arguments: Sequence[Any]) -> list[Array]:
        outputs = call(self._function, arguments)
        if len(outputs) != len(self._shapes):
            raise ValueError("there are more outputs, or fewer")
        return [output.numpy() for output in outputs]

    def _tensor(self, position: int, value: Array) -> Any:
        """A tensor, or the variable that the function may insist on."""
        return self._operands[position].hold(value)


@contextmanager
def _same_variable_scope() -> Iterator[None]:
    """Within this, what is raised in a `tf.map_fn` leaves no device behind for variables.

    Without it `test_what_cannot_be_traced_leaves_nothing_behind` fails.
    """
    try:
        scope = private(Private.VARIABLE_SCOPE)()
    except Absent:
        yield
        return
    before = scope.caching_device
    try:
        yield
    finally:
        scope._caching_device = before


class Stacked:
    """Calls in which the moved operands have a leading axis.

    Without it `test_batched_where_it_can_be` and `test_operands_that_stay_are_stacked_too` fail.
    """

    def __init__(self, calls: Calls, stacking: Stacking) -> None:
        self._calls = calls
        self.stacking = stacking

    def __call__(self, stacked: Sequence[Array]) -> list[Array]:
        """Outputs with a leading axis of points."""
        calls, rows = self._calls, len(stacked[0])
        values: list[Array | None] = [None] * len(calls._values)
        for position, array in zip(calls.moved, stacked, strict=True):
            values[position] = array
        outputs = calls._call(self.stacking.arguments(calls._operands, calls._tensors, values))
        if any(o.shape != (rows, *s) for o, s in zip(outputs, calls._shapes, strict=True)):
            raise ValueError("the outputs do not have the leading axis")
        return outputs


class Carried:
    """Calls at the point itself, which carry the others along.

    Without it `test_carried_where_no_batch_is_taken` fails.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def __call__(self, stacked: Sequence[Array]) -> list[Array]:
        """Outputs with a leading axis of points."""
        outputs, cargo = carried(*self._called(stacked), len(stacked[0]))
        if cargo.looped > cargo.batched:
            raise ValueError("most ops are run for each point")
        return outputs

    def changes(self, stacked: Sequence[Array]) -> list[tuple[Array, Array]]:
        """By output: how it changes from the point to others, and what that may be off."""
        cargo = Changes(len(stacked[0]))
        return [cargo.change_of(output) for output in load(cargo, *self._called(stacked))]

    def _called(self, stacked: Sequence[Array]) -> tuple[Callable[[], list[Any]], list[Any]]:
        """A call at the point, and what is moved in it."""
        calls, moved = self._calls, []
        arguments = calls._at_point()
        for position, values in zip(calls.moved, stacked, strict=True):
            # (A new tensor each time: some keep what they made of one, by its identity.)
            arguments[position] = calls._operands[position].give(calls._values[position])
            moved.append((arguments[position], values))
        return lambda: call(calls._function, arguments), moved
