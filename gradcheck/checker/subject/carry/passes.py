"""Passes forward and back, at many points or in many roundings, carried along with one of them.

A tape records the call at the point; its way back runs ops as well, which carry what they are given
like those on the way forth, through the user's own gradient functions. Whoever uses this compares
the first of the passes with one of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.carry.cargo import Cargo
from gradcheck.checker.subject.carry.carrying import carrying
from gradcheck.checker.subject.substituted import reads_as

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.carry.cargo import Change
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model import Array

Both = Callable[[list[Any], list[Any], list[Any]], tuple[list[Any], list[Any]]]
"""Arguments, upstream and what is differentiated to outputs and gradients."""

Passed = tuple[list["Array"], list["Array | None"]]
"""Outputs, and a gradient (or None) for each operand that is differentiated."""


def passes_at(
    both: Both,
    operands: Sequence[Operand],
    points: Sequence[Sequence[Array]],
    upstream: Sequence[Array],
    change: Change | None = None,
) -> list[Passed]:
    """A pass forward and one back for all of these points together.

    Raises CannotCarry, or whatever the passes raise. Without it `test_neighbours_share_a_pass`
    fails.

    Args:
        both: goes forward and back.
        operands: of the function.
        points: the values of all the operands at each.
        upstream: the same at each.
        change: what is done to the results of every op on the way.
    """
    import tensorflow as tf

    cargo = Cargo(len(points), change)
    arguments: list[Any] = []
    sources: dict[int, Any] = {}
    read: dict[int, Any] = {}
    for i, operand in enumerate(operands):
        if not operand.differentiate:
            arguments.append(operand.hold(points[0][i]))
            continue
        arguments.append(operand.give(points[0][i]))
        if operand.variable:
            # Whoever reads it gets a tensor, which is differentiated in its place.
            read[id(arguments[i].handle)] = sources[i] = tf.identity(arguments[i])
        cargo.put(sources.get(i, arguments[i]), tf.constant(np.stack([p[i] for p in points])))
    cotangents = [tf.constant(ct) for ct in upstream]
    with carrying(cargo), reads_as(read):
        given = [sources.get(i, argument) for i, argument in enumerate(arguments)]
        outputs, gradients = both(arguments, cotangents, given)
    cargo.must_not_be_refused()
    forth = [cargo.rows_of(output) for output in outputs]
    back = [None if gradient is None else cargo.rows_of(gradient) for gradient in gradients]
    return [
        ([each[row] for each in forth], [None if each is None else each[row] for each in back])
        for row in range(cargo.rows)
    ]
