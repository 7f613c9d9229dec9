"""A function in its own precision, and in double precision wherever that can be had.

Told apart by what the function is given: arguments that all have the dtypes of the case are for the
function itself, others for what stands for it in float64.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.left_by_calls import noted_apart
from gradcheck.checker.subject.promote import Promoted, PromotedTwin, promoted
from gradcheck.checker.subject.promote_eagerly import NoDouble, PromotedEagerly, promoted_eagerly
from gradcheck.checker.subject.tensors import (
    FunctionRaised,
    is_low_precision,
    tf_dtype,
    wider,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.tape import Tape
    from gradcheck.checker.subject.tensors import Function

NO_TWIN = "the layer computes in less, and cannot be made again in float64"


def is_low(operands: Sequence[Operand]) -> bool:
    """Whether any of these has less than double precision."""
    return any(is_low_precision(o.value.dtype) for o in operands)


def either_promoted(
    function: Function, operands: Sequence[Operand], recorded: Tape | None = None, seed: int = 0
) -> PromotedTwin | None:
    """The twin of a function in double precision, as it is called or as a graph; None: neither.

    Args:
        function: leaves no traces.
        operands: its own.
        recorded: what has recorded its call at the point, if anything has.
        seed: for the upstream for which that goes back.
    """
    try:
        twin = promoted_eagerly(function, operands, recorded, seed)
    except NoDouble:
        return None
    return twin or promoted(function, operands)


def _is_low_again(returned: Any) -> bool:
    """Whether a function that was given float64 casts to less, and stays there.

    Without it `test_nor_one_that_casts_to_what_it_was_written_for` fails.
    """
    import tensorflow as tf

    if isinstance(returned, tf.Tensor):
        return returned.dtype in wider()
    return any(getattr(each, "dtype", None) in wider() for each in tf.nest.flatten(returned))


class InEither:
    """A function in its own precision, or its twin where it is given double precision."""

    def __init__(
        self,
        own: Function,
        double: Function | None,
        operands: Sequence[Operand],
        why_not_double: str = NO_TWIN,
        within: AbstractContextManager[None] | None = None,
    ) -> None:
        """Nothing is called yet; `within` is what the gradient of the twin is taken within."""
        self._own, self._double, self._why_not = own, double, why_not_double
        self._within = within or nullcontext()
        self._operands = tuple(operands)
        self._dtypes = [tf_dtype(operand.value.dtype) for operand in operands]

    @property
    def is_promoted(self) -> bool:
        """Whether what stands for it in double precision is itself, promoted."""
        return isinstance(self._double, Promoted | PromotedEagerly)

    @property
    def cannot_be_promoted(self) -> bool:
        """Whether that was tried already."""
        return False

    @property
    def is_a_graph(self) -> bool:
        """Whether that is a graph."""
        return isinstance(self._double, Promoted)

    @property
    def constants(self) -> float:
        """What the constants of a promoted one were rounded to; zero where they were not."""
        if isinstance(self._double, Promoted | PromotedEagerly):
            return self._double.constants
        return 0.0

    def going_back(self, arguments: Sequence[Any]) -> AbstractContextManager[None]:
        """Within this, the gradient is taken of what the function was given.

        Without it `test_the_way_back_is_gone_in_double_precision` fails.
        """
        if self._is_own(arguments):
            return nullcontext()
        if isinstance(self._double, PromotedEagerly):
            return self._double.going_back(arguments)
        return self._within

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns, or its twin."""
        if self._is_own(arguments):
            return self._own(*arguments)
        return self._in_double(arguments)

    def _is_own(self, arguments: Sequence[Any]) -> bool:
        return [argument.dtype for argument in arguments] == self._dtypes

    def _in_double(self, arguments: Sequence[Any]) -> Any:
        if self._double is None:
            # (It would round what it is given, and not say so.)
            raise FunctionRaised(self._why_not)
        return self._double(*arguments)

    def without_promotion(self) -> InEither:
        """The same, but in double precision only if that takes no promoted graph.

        Its gradient is known to a tape, and to nothing else: not to forward mode.
        """
        double = None if self.is_promoted else self._double
        return InEither(self._own, double, self._operands, self._why_not, self._within)


class Promotable(InEither):
    """A function that is called in double precision as it is, or promoted where it raises so.

    A function that takes float64 is never traced for this. Without it
    `test_a_function_that_takes_float64_is_not_traced` fails.
    """

    def __init__(
        self,
        own: Function,
        operands: Sequence[Operand],
        why_not_double: str = NO_TWIN,
        *,
        direct: bool = True,
        recorded: Tape | None = None,
        seed: int = 0,
    ) -> None:
        """Nothing is called yet.

        Args:
            own: the function, leaving no traces.
            operands: its own, at the point, in their own precision.
            why_not_double: what to say where there is none.
            direct: whether to try what the function itself does in double precision.
            recorded: what has recorded its call at the point, if anything has.
            seed: for the upstream for which that goes back.
        """
        super().__init__(own, None, operands, why_not_double)
        self._direct, self._promotes = direct, True
        self._recorded, self._seed = recorded, seed
        self.recorded_in_double: Tape | None = None
        """What has recorded the promoted call at the point, and gone back, if that is known."""

    @property
    def cannot_be_promoted(self) -> bool:
        """Whether that was tried already."""
        return not self._promotes and not self.is_promoted

    def _in_double(self, arguments: Sequence[Any]) -> Any:
        if self._double is not None:
            return self._double(*arguments)
        with (trial := noted_apart()):
            if self._direct and (returned := self._as_it_is(arguments)) is not None:
                trial.take_over()
                return returned
            if not self._direct and not self._promote():
                raise FunctionRaised(self._why_not)
        # (What a trial left is not what this call leaves.)
        return super()._in_double(arguments)

    def _as_it_is(self, arguments: Sequence[Any]) -> Any:
        """What the function itself gives for double precision; None where a twin was found."""
        try:
            returned = self._own(*arguments)
        except Exception:
            # (Nobody knows yet whether it is the precision: it may be another shape.)
            if not self._at_own_shapes(arguments) or not self._promote():
                raise
            return None
        if _is_low_again(returned) and self._at_own_shapes(arguments) and self._promote():
            return None
        self._double = self._own
        return returned

    def _at_own_shapes(self, arguments: Sequence[Any]) -> bool:
        shapes = [tuple(argument.shape) for argument in arguments]
        return shapes == [operand.value.shape for operand in self._operands]

    def _promote(self) -> bool:
        """Look for the twin, once."""
        import tensorflow as tf

        if not (self._promotes and tf.executing_eagerly()):
            return False
        self._promotes = False
        twin = either_promoted(self._own, self._operands, self._recorded, self._seed)
        if twin is None or any(
            after.precision != before.precision
            for after, before in zip(twin.operands, self._operands, strict=True)
        ):
            # (What computes in less than its operands say cannot tell the judge so any more.)
            return False
        self._double = twin.function
        if self._recorded is not None and all(o.captured is None for o in self._operands):
            self.recorded_in_double = twin.recorded
        return True

    def without_promotion(self) -> InEither:
        """The same, but only as it is."""
        if not self._direct:
            return InEither(self._own, None, self._operands, self._why_not)
        only = Promotable(self._own, self._operands, self._why_not)
        only._promotes = False
        return only
