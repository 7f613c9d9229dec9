"""Sides that a function takes by the numbers of its inputs: a page is about those alone.

`if tf.reduce_sum(x) > 0:`, `tf.cond`, a loop that ends when a number is small: which ops run is
decided by Python, as tensors are read here. What is asked there, and where, is noted and told.
Without it `test_the_side_that_was_taken_is_told` fails.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gradcheck.explainer.traced.op_texts import CONSTANT_OPS
from gradcheck.explainer.traced.python_inside import is_users, users_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Read", "by_the_inputs", "noting_reads", "told_of_branches"]

_NUMBERS = ("__float__", "__int__", "__index__", "numpy")
_CHECKS = ("check_ops", "control_flow_assert")
"""Modules of TensorFlow's that ask whether something is wrong, and go on as if nobody had."""


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """One tensor that Python read."""

    tensor: Any
    line: str
    """Where in the user's code."""
    answer: bool | None
    """What it was as a condition; None where its number was read."""


@contextmanager
def noting_reads(found: list[Read], is_told: Callable[[], bool]) -> Iterator[None]:
    """Within this, what Python reads of tensors is added: conditions, and a user's own readings.

    Args:
        found: where they are added.
        is_told: whether a function runs that is one step by its declaration, whatever it asks.
    """
    import tensorflow as tf

    kept: list[tuple[Any, str, Any]] = []

    def note(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        def read(tensor: Any, *args: Any) -> Any:
            answer = own(tensor, *args)
            caller = sys._getframe(1)
            # (`tf.cond` takes the number of its condition.)
            is_condition = name == "__bool__" or (tensor.dtype == tf.bool and tensor.ndim == 0)
            asks = is_condition and not _is_check(caller)
            if (asks or is_users(caller.f_code.co_filename)) and not is_told():
                said = bool(answer) if asks else None
                found.append(Read(tensor, users_line(), said))
            return answer

        return read

    for name in ("__bool__", *_NUMBERS):
        owners = (each for each in type(tf.constant(0.0)).__mro__ if name in vars(each))
        owner = next(owners, None)
        if owner is not None:
            own = vars(owner)[name]
            kept.append((owner, name, own))
            setattr(owner, name, note(name, own))
    try:
        yield
    finally:
        for owner, name, own in kept:
            setattr(owner, name, own)


def _is_check(frame: Any) -> bool:
    """Whether a check of TensorFlow's asks, up to the user's line."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        if frame.f_globals.get("__name__", "").rpartition(".")[2] in _CHECKS:
            return True
        frame = frame.f_back
    return False


def by_the_inputs(
    reads: Iterable[Read], ran: Iterable[Any], given: Iterable[Any]
) -> tuple[Read, ...]:
    """Those of what depends on the numbers of the inputs; their shapes stand still."""
    moving = {id(tensor) for tensor in given}
    for each in ran:
        if each.kind not in CONSTANT_OPS and any(id(tensor) in moving for tensor in each.inputs):
            moving |= {id(out) for out in each.outputs}
    return tuple(read for read in reads if id(read.tensor) in moving)


def told_of_branches(reads: Sequence[Read]) -> str:
    """What is said of them; empty for none."""
    asked = [read for read in reads if read.answer is not None]
    lines = dict.fromkeys(read.line for read in asked)
    said = [_told(line, [r.answer for r in asked if r.line == line]) for line in lines]
    if said:
        return (
            f"Which ops run depends on the numbers of the inputs: {'; '.join(said)}. Where an "
            "answer is another, the formulas are others too."
        )
    read = ", ".join(dict.fromkeys(read.line for read in reads))
    return (
        f"Python reads numbers that depend on the inputs (at {read}). If it decides by them which "
        "ops run, the formulas are others on the other side."
        if read
        else ""
    )


def _told(line: str, answers: Iterable[bool | None]) -> str:
    runs = [(answer, len(list(same))) for answer, same in groupby(answers)]
    at = f"what is asked at {line}" if line else "what a function of a library asks"
    times = ["once", "twice"]
    said = [
        f"{'true' if answer else 'false'} {times[n - 1] if n < 3 else f'{n} times'}"
        for answer, n in runs
    ]
    if len(runs) == 1 and runs[0][1] == 1:
        return f"{at} is {'true' if runs[0][0] else 'false'} here"
    return f"{at} is {', then '.join(said[:4])}{', …' if len(said) > 4 else ''} here"
