"""The variables that a function reads by itself, as operands beside its inputs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.operand import Captured, Operand
from gradcheck.checker.subject.reachable import handle_of
from gradcheck.checker.subject.tensors import is_differentiable
from gradcheck.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.reachable import Reachable
    from gradcheck.checker.subject.recording import Recording


def captured_operands(
    problem: Problem, seen: Recording, trainable: Sequence[Any], around: Reachable
) -> tuple[Operand, ...]:
    """One for each variable that is read, before anything is written to it, and wanted."""
    read = {id(handle_of(v)): v for v in (*trainable, *around.variables.values())}
    read |= {id(handle_of(v)): v for v in problem.wanted.variables}
    read = {
        key: read[key]
        for key, resource in seen.resources.items()
        if key in read and resource.read_first and _is_float(resource.before)
    }
    names = _names(problem, read, around)
    # (A tape does not watch a variable whose gradient is stopped at once; its owner still has it.)
    trained = {key for key, v in read.items() if getattr(v, "trainable", False)}
    trained |= {id(v.handle) for v in trainable}
    chosen = _chosen(problem, read, names, trained)
    return tuple(
        Operand(
            name=names[key],
            value=np.asarray(seen.resources[key].before.numpy()),
            captured=Captured(getattr(read[key], "_value", read[key])),
        )
        for key in read
        if key in chosen
    )


def _is_float(value: Any) -> bool:
    return value is not None and is_differentiable(np.dtype(value.dtype.as_numpy_dtype))


def _names(problem: Problem, read: dict[int, Any], around: Reachable) -> dict[int, str]:
    """A name for each variable that no other one and no input has."""
    names: dict[int, str] = {}
    taken = {operand.name for operand in problem.operands}
    own = {
        key: around.names.get(key) or str(variable.name).partition(":")[0]
        for key, variable in read.items()
    }
    often = {name for name, times in Counter([*own.values(), *taken]).items() if times > 1}
    for key, given in own.items():
        # Where it is found tells more than a name that others have as well.
        name = (around.paths.get(key) or given) if given in often else given
        free, number = name, 1
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken.add(free)
        names[key] = free
    return names


def _chosen(
    problem: Problem, read: dict[int, Any], names: dict[int, str], trainable: set[int]
) -> set[int]:
    """The variables that are wanted; raises UsageError for one that the function does not read."""
    wanted = problem.wanted
    chosen = trainable if wanted.trainable else set()
    by_name = {name: key for key, name in names.items()}
    for name in wanted.names:
        if name not in by_name:
            known = [operand.name for operand in problem.operands] + list(by_name)
            there = f"{', '.join(known)}{did_you_mean(name, known)}"
            raise UsageError(f"wrt names {name!r}, but there are {there}")
        chosen = chosen | {by_name[name]}
    for variable in wanted.variables:
        key = id(handle_of(variable))
        if key not in read:
            name = getattr(variable, "path", variable.name.partition(":")[0])
            raise UsageError(f"wrt holds the variable {name!r}, which the function does not read")
        chosen = chosen | {key}
    return chosen


def disconnection_hint(problem: Problem, seen: Recording, trainable: Sequence[Any]) -> str:
    """What to say of an input without a gradient, where variables may be why.

    Without it `test_a_weight_that_is_assigned` and `test_a_weight_that_is_passed_and_captured`
    fail.
    """
    given = {id(operand.given) for operand in problem.operands if operand.given is not None}
    if given & seen.resources.keys():
        return (
            "The function does not use what it is given: it reads the variable itself, which is "
            "checked under its own name. Leave this input out"
        )
    if any(seen.resources[id(v.handle)].written for v in trainable):
        return (
            "The function assigns to a variable, and TensorFlow does not differentiate through "
            "assign. Leave the assignment and this input out: the variables that a function reads "
            "are checked by themselves"
        )
    return ""
