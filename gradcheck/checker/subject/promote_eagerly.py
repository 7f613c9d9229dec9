"""A function that takes low precision alone, called in double precision: op by op.

Most functions that refuse float64 meet one float32 constant or variable on their way, or cast to
what they were written for. Called so that float64 wins in every op they need not be traced: a graph
that is promoted (`promote.py`) takes a hundred times as long to be made, and takes no other shapes.
What comes of it is believed only if it gives what the function itself gives, but for rounding: at
the point on both ways, and beside it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.alike import alike, gradients_alike
from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.promote import (
    PromotedTwin,
    beside,
    passed,
    record_at,
    with_twin,
)
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.subject.tensors import lowest_precision, widen, wider
from gradcheck.checker.subject.widened_ops import Seen, double_wins

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    import numpy as np

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.tensors import Function


class NoDouble(Exception):  # noqa: N818  (an answer, not an error)
    """One of the kernels that the function runs is not to be had in double precision."""


class PromotedEagerly:
    """A function of tensors, and of variables that it captures, in double precision."""

    def __init__(
        self, function: Function, captured: Sequence[int], own: np.dtype[Any] | None
    ) -> None:
        """Nothing is called yet.

        Args:
            function: takes tensors in place of the variables that it captures.
            captured: the positions of those.
            own: the precision of its inputs.
        """
        self._function, self._captured, self._own = function, frozenset(captured), own
        self.seen = Seen()
        self._looks: Seen | None = self.seen

    @property
    def constants(self) -> float:
        """The unit in the last place to which some of its constants were rounded; else zero."""
        return self.seen.rounding

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns."""
        import tensorflow as tf

        given = [
            tf.convert_to_tensor(each) if i in self._captured else each
            for i, each in enumerate(arguments)
        ]
        with double_wins(self._looks, self._own), as_python():
            return self._function(*given)

    def look_no_more(self) -> None:
        """What gives way is known: it was called, and its gradient taken."""
        self._looks = None

    def going_back(self, _: Sequence[Any]) -> AbstractContextManager[None]:
        """Within this, the gradient is taken of what the function was given."""
        return double_wins(self._looks, self._own)


def promoted_eagerly(
    function: Function, operands: Sequence[Operand], recorded: Tape | None = None, seed: int = 0
) -> PromotedTwin | None:
    """The twin of a function that leaves no traces; None where it has none.

    Raises NoDouble where a promoted graph could not be run either. Without it
    `test_a_closure_over_float32_is_not_traced` fails.

    Args:
        function: what it is.
        operands: its own.
        recorded: what has recorded its call at the point, if anything has.
        seed: for the upstream for which both go back.
    """
    try:
        return _promoted(function, operands, recorded or Tape(function, operands), seed)
    except NoDouble:
        raise
    except Exception as error:  # it cannot be called so, or its gradient cannot
        if _NO_KERNEL.search(str(error)):
            raise NoDouble from error
        return None


_NO_KERNEL = re.compile(r"(has|takes) no (float64|complex128)\b")
"""What `explain_exception` makes of it."""


def _promoted(
    function: Function, operands: Sequence[Operand], recorded: Tape, seed: int
) -> PromotedTwin | None:
    import tensorflow as tf

    own = [operand.value for operand in operands]
    upstream, at_point = passed(recorded, own, seed)
    captured = [i for i, operand in enumerate(operands) if operand.captured is not None]
    low = lowest_precision([value.dtype for value in own])
    double = PromotedEagerly(function, captured, low)
    twins = {i: tf.Variable(widen(own[i]), trainable=False) for i in captured}
    theirs = tuple(with_twin(o, twins.get(i), o.precision) for i, o in enumerate(operands))
    there = Tape(double, theirs)
    if any(each.dtype in wider() for each in record_at(there, [widen(value) for value in own])):
        raise NoDouble  # (A kernel that has no other outputs has none in a graph either.)
    first = there.back(upstream)
    # (By now it is known what gave way.)
    lower = double.seen.lowest or low
    if lower is None or not (
        alike(at_point.outputs, first.outputs, lower)
        and gradients_alike(at_point.gradients, first.gradients, lower)
        and _is_alike_beside(Tape(function, operands), Tape(double, theirs), operands, lower)
    ):
        return None
    theirs = tuple(with_twin(o, twins.get(i), lower) for i, o in enumerate(operands))
    double.look_no_more()
    return PromotedTwin(double, theirs, there)


def _is_alike_beside(
    own: Tape, double: Tape, operands: Sequence[Operand], lower: np.dtype[Any]
) -> bool:
    """Whether both give the same but for rounding beside the point, too.

    At the point itself what is rounded may be none the less what it was. Without it
    `test_what_rounding_leaves_is_no_zero` fails.
    """
    values = [beside(operand) for operand in operands]
    at = [operand.value for operand in operands]
    try:
        mine = record_at(own, values)
        other = record_at(double, [widen(value) for value in values])
        return alike([o.numpy() for o in mine], [o.numpy() for o in other], lower)
    finally:
        # (What is recomputed on the way back may read the function's own variables.)
        own.hold(at)
        double.hold([widen(value) for value in at])
