"""One input of a function under test, at the point where its gradient is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.assign import assign
from gradcheck.checker.subject.tensors import FunctionRaised
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    from gradcheck.model import Array


@frozen(slots=True)
class Captured:
    """A variable that the function finds by itself: it is moved by being assigned to."""

    own: Any
    double: Any = None
    """That of the function's twin in double precision, if it has one."""

    def fit_for(self, dtype: np.dtype[Any]) -> Any:
        """The variable that takes values of this dtype; raises FunctionRaised if none does."""
        for variable in (self.own, self.double):
            if variable is not None and variable.dtype.as_numpy_dtype == dtype:
                return variable
        raise FunctionRaised(f"the variable is {self.own.dtype.name}")


@frozen(slots=True)
class Operand:
    """An input: its name, its values and what may be done to them.

    A variable that the function captures is one too.
    """

    name: str
    value: Array
    """In the dtype of the case."""
    differentiate: bool = True
    variable: bool = False
    """Whether the function is given a variable in place of a tensor."""
    captured: Captured | None = None
    """The variable that the function reads without being given it."""
    computed_in: np.dtype[Any] | None = None
    """Of a variable: the lower precision to which a layer casts it before it is used."""
    given: Any = None
    """The handle of the variable that the user passed for this input, if it was one."""
    low: float = float("-inf")
    high: float = float("inf")
    """The domain, which numeric steps do not leave."""
    structure: str = "general"
    """`symmetric` and `lower` matrices are only moved to matrices of the same kind."""

    @property
    def precision(self) -> np.dtype[Any]:
        """What the function computes in, as far as this operand is concerned."""
        return self.value.dtype if self.computed_in is None else self.computed_in

    @property
    def is_unbounded(self) -> bool:
        """Whether it may have any value."""
        return self.low == float("-inf") and self.high == float("inf")

    @property
    def is_held(self) -> bool:
        """Whether the function finds its value in a variable."""
        return self.variable or self.captured is not None

    def give(self, value: Array) -> Any:
        """What stands for this value where it need not be held.

        That is a tensor even for a captured variable, whose readers can be given one.
        """
        import tensorflow as tf

        return self.hold(value) if self.captured is None else tf.constant(value)

    def hold(self, value: Array) -> Any:
        """What the function is given for this value: a tensor, or a variable that has it."""
        import tensorflow as tf

        if self.captured is not None:
            variable = self.captured.fit_for(value.dtype)
            assign(variable, value)
            return variable
        return tf.Variable(value) if self.variable else tf.constant(value)
