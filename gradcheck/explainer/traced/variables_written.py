"""Variables that a function writes: what is read behind that is what was written.

An op that writes gives nothing, and one that reads is given the variable's handle alone. Here
whoever reads gets the tensor that was written, as if the function handed it on itself. TensorFlow's
tape does not go through an assignment: the page says so, and derives what is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.recording import value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.checker.subject.operand import Operand

__all__ = ["Variables", "is_write"]

_ADDS = {"AssignAddVariableOp": "AddV2", "AssignSubVariableOp": "Sub"}
"""By op that changes a variable: the op that makes the new value of the old one."""


def is_write(kind: str) -> bool:
    """Whether an op of this kind writes a variable."""
    return kind.startswith(("Assign", "Resource")) and not kind.startswith("ResourceGather")


class Variables:
    """What each variable holds while a function runs.

    Without it `test_what_is_read_is_what_was_written` fails.
    """

    def __init__(
        self, operands: Iterable[Operand], given: Sequence[Any], written: Iterable[Any]
    ) -> None:
        """Before the call.

        Args:
            operands: the inputs, and the variables that are differentiated.
            given: a tensor for each operand.
            written: the handles of what is written.
        """
        self.before = {id(handle): value_of(handle) for handle in written}
        self.now: dict[int, Any] = {}
        """By id of a handle: what is read of it, where that is not what the variable holds."""
        for operand, value in zip(operands, given, strict=True):
            held = operand.captured
            own = [] if held is None else [held.own, held.double]
            self.now |= {id(each.handle): value for each in own if each is not None}
        self.made: set[int] = set()
        """The ids of tensors that stand for what was written."""

    def written(self, kind: str, inputs: Sequence[Any]) -> tuple[str, tuple[Any, ...], Any] | None:
        """The op that makes the value which is written; None where nobody can know it.

        Args:
            kind: of the op that wrote, a moment ago.
            inputs: what it was given.
        """
        import tensorflow as tf

        handle, change = inputs[0], inputs[1] if len(inputs) > 1 else None
        made: tuple[str, tuple[Any, ...], Any]
        if kind == "AssignVariableOp":
            made = "Identity", (change,), tf.identity(change)
        elif kind in _ADDS:
            adds = kind == "AssignAddVariableOp"
            before = self.now.get(id(handle), self.before.get(id(handle)))
            if before is None:
                return None  # it was made in this call
            value = before + change if adds else before - change
            made = _ADDS[kind], (before, change), value
        else:
            self.now.pop(id(handle), None)
            return None
        self.now[id(handle)] = made[2]
        self.made.add(id(made[2]))
        return made
