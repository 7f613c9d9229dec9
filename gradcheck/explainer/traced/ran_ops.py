"""The ops that a function runs at a point, one after the other: imports TensorFlow.

The function is called once, with every tf.function run as the Python that it was made of, or, where
that is gone, as the ops of its graph: so what is nested is seen as if it stood in one place, a loop
as its rounds, a branch as the side that was taken.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.private_names import Absent, called_back
from gradcheck.checker.subject.substituted import reads_as
from gradcheck.checker.subject.tensors import FunctionRaised, call
from gradcheck.errors import ExplainError, UsageError
from gradcheck.explainer.traced.branches import Read, by_the_inputs, noting_reads
from gradcheck.explainer.traced.called_functions import Called, noting_calls
from gradcheck.explainer.traced.graphs_inside import graphs_inside
from gradcheck.explainer.traced.python_inside import python_inside, users_line
from gradcheck.explainer.traced.variables_written import Variables, is_write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.model import Array

__all__ = ["Ran", "Watched", "watch"]

MOST_OPS = 20_000
"""A function that runs more is not recorded: nobody would read them."""


@dataclass(frozen=True, slots=True, eq=False)
class Ran:
    """One op that ran."""

    kind: str
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any]
    outputs: tuple[Any, ...]
    place: int = 0
    """Among all that ran."""
    line: str = ""
    """Where in the user's code it was called, if somebody asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A call: what it was given, what ran, what came of it."""

    operands: tuple[Operand, ...]
    """The inputs, and the variables that the function reads."""
    given: tuple[Any, ...]
    """A tensor for each operand."""
    ran: tuple[Ran, ...]
    outputs: tuple[Any, ...]
    needed: frozenset[int] = frozenset()
    """The ids of those tensors that the outputs are made of."""
    kinds: frozenset[str] = frozenset()
    """All that ran, what decides on a branch too."""
    calls: tuple[Called, ...] = ()
    """The functions that have a declaration, as they were called."""
    written: frozenset[int] = frozenset()
    """The ids of what was written to variables."""
    reads: tuple[Read, ...] = ()
    """What Python read that depends on the inputs."""
    graphs: tuple[str, ...] = ()
    """The traced functions whose ops it ran, which have variables of their own."""
    outside: Mapping[int, str] = field(default_factory=dict)
    """By id of a tensor that depends on the inputs by a way that no op shows: where it is used."""

    @property
    def values(self) -> dict[str, Array]:
        """By operand: its value."""
        return {o.name: np.asarray(o.value) for o in self.operands}

    @property
    def writes(self) -> bool:
        """Whether it writes a variable."""
        return any(map(is_write, self.kinds))

    @property
    def assigns(self) -> bool:
        """Whether the outputs are made of what came of the inputs by way of a variable."""
        moving = {id(given) for given in self.given}
        for ran in self.ran:
            if any(id(given) in moving for given in ran.inputs):
                moving |= {id(out) for out in ran.outputs}
        return bool(self.written & self.needed & moving)

    @property
    def is_finite(self) -> bool:
        """Whether every output is finite at this point."""
        arrays = [out.numpy() for out in self.outputs if _is_inexact(out)]
        return all(bool(np.isfinite(array).all()) for array in arrays)

    @property
    def is_single(self) -> bool:
        """Whether it takes float32, or makes it of more: what it gives has the digits of that."""
        given = any(operand.value.dtype == np.float32 for operand in self.operands)
        return given or any(
            any(tensor.dtype.name in ("float64", "complex128") for tensor in ran.inputs)
            and any(tensor.dtype.name in ("float32", "complex64") for tensor in ran.outputs)
            for ran in self.ran
        )


def watch(
    problem: Problem, at: Callable[[Operand], Array] | None = None, *, lines: bool = False
) -> Watched:
    """Call the function at its operands; raises UsageError where it cannot be called.

    Args:
        problem: whose function it is.
        at: by operand, the value to call it at; its own if None.
        lines: note where in the user's code each op is called.
    """
    with explored(problem) as whole:
        values = [o.value if at is None else at(o) for o in whole.operands]
        given = tuple(o.give(v) for o, v in zip(whole.operands, values, strict=True))
        found = _called(whole, given, None, lines=lines)
        written = [each.inputs[0] for each in found.ran if is_write(each.kind)]
        if written:
            held = Variables(whole.operands, given, written)
            found = _called(whole, given, held, lines=lines)
        return _alive(found)


def _called(
    whole: Problem, given: tuple[Any, ...], variables: Variables | None, *, lines: bool
) -> Watched:
    """What runs when the function is called.

    Args:
        whole: a problem with all its operands.
        given: a tensor for each operand.
        variables: what they hold, where they are written.
        lines: note where each op is called.
    """
    ran: list[Ran] = []
    calls: list[Called] = []

    def note(kind: str, inputs: Any, attrs: Any, outputs: Any, *_: Any, **others: Any) -> None:
        if others.get("graph") is not None or len(ran) > MOST_OPS:
            return
        pairs = dict(zip(attrs[::2], attrs[1::2], strict=False)) if attrs else {}
        line = users_line() if lines else ""
        ran.append(Ran(kind, tuple(inputs), pairs, tuple(outputs), len(ran), line))
        made = variables.written(kind, inputs) if variables and is_write(kind) else None
        if made is not None:
            ran.append(Ran(made[0], made[1], {}, (made[2],), len(ran), line))

    arguments = list(given)
    seen: list[Read] = []
    reading: AbstractContextManager[None] = nullcontext()
    if variables is not None:
        # (Tensors in their place would be read for good: what is written has to be read, too.)
        held = zip(whole.operands, given, strict=True)
        arguments = [t if o.captured is None else o.hold(o.value) for o, t in held]
        reading = reads_as(variables.now)
    try:
        with (
            as_python(),
            python_inside(),
            graphs_inside() as graphs,
            reading,
            called_back(note),
            noting_calls(calls, lambda: len(ran)) as is_within_one,
            noting_reads(seen, is_within_one),
        ):
            outputs = call(whole.function, arguments)
    except Absent:
        raise ExplainError("this version of TensorFlow does not tell which ops run") from None
    except FunctionRaised as error:
        raise UsageError(f"the function raised {error}") from error
    if len(ran) > MOST_OPS:
        raise UsageError(f"it runs more than {MOST_OPS} ops: explain a part of it")
    return Watched(
        whole.operands,
        given,
        tuple(ran),
        tuple(outputs),
        kinds=frozenset(each.kind for each in ran),
        calls=tuple(calls),
        written=frozenset() if variables is None else frozenset(variables.made),
        reads=by_the_inputs(seen, ran, given),
        graphs=tuple(graphs),
    )


def _alive(found: Watched) -> Watched:
    """With the ops alone that the outputs are made of."""
    needed = {id(out) for out in found.outputs}
    kept: list[Ran] = []
    for ran in reversed(found.ran):
        if any(id(out) in needed for out in ran.outputs):
            kept.append(ran)
            needed |= {id(given) for given in ran.inputs}
    return replace(found, ran=tuple(reversed(kept)), needed=frozenset(needed))


def _is_inexact(tensor: Any) -> bool:
    return bool(tensor.dtype.is_floating or tensor.dtype.is_complex)
