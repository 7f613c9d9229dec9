"""Passes forward and back at many points, along a leading axis, of a function that takes one.

That it takes one was seen in calls that were compared with single ones. What its gradient function
makes of that axis was not: it may run only kernels that check their shapes, and whoever uses this
compares the first of the passes with one of its own.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.known_kernels import all_take_other_shapes
from gradcheck.checker.subject.private_names import Private, private, replaced
from gradcheck.checker.subject.substituted import executed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.checker.subject.carry.passes import Both, Passed
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.stacking import Stacking
    from gradcheck.checker.subject.substituted import Run
    from gradcheck.model import Array


def stacked_passes(
    both: Both,
    operands: Sequence[Operand],
    points: Sequence[Sequence[Array]],
    upstream: Sequence[Array],
    stacking: Stacking,
) -> list[Passed]:
    """A pass forward and one back for all of these points together.

    Raises ValueError where rows are not kept apart, or whatever the passes raise. Without it
    `test_neighbours_have_an_axis` fails.

    Args:
        both: goes forward and back.
        operands: of the function.
        points: the values of all the operands at each.
        upstream: the same at each.
        stacking: how operands get the axis.
    """
    import tensorflow as tf

    rows = len(points)
    values: list[Array | None] = [None] * len(operands)
    fixed: list[Any] = [None] * len(operands)
    for i, operand in enumerate(operands):
        if operand.differentiate:
            # (Of arrays that are alike, as `np.stack` has it, for less.)
            values[i] = np.array([point[i] for point in points])
        else:
            fixed[i] = operand.hold(points[0][i])
    arguments = stacking.arguments(operands, fixed, values)
    cotangents = [tf.constant(ct[np.newaxis].repeat(rows, axis=0)) for ct in upstream]
    with _known_kernels_only():
        outputs, gradients = both(arguments, cotangents, arguments)
    if any(o.shape != ct.shape for o, ct in zip(outputs, cotangents, strict=True)):
        raise ValueError("the outputs do not have the leading axis")
    shapes = [point.shape for point, o in zip(points[0], operands, strict=True) if o.differentiate]
    forth = [output.numpy() for output in outputs]
    back = [
        None if g is None else g.numpy().reshape(rows, *shape)
        for g, shape in zip(gradients, shapes, strict=True)
    ]
    return [
        ([each[row] for each in forth], [None if each is None else each[row] for each in back])
        for row in range(rows)
    ]


@contextmanager
def _known_kernels_only() -> Iterator[None]:
    """Within this, whoever runs another op, or a traced function, raises ValueError instead.

    Without it `test_no_gradient_kernel_that_does_not_check_its_shapes` fails.
    """
    slow, own = private(Private.SLOW), threading.get_ident()

    def known(kind: str, inputs: Sequence[Any], run: Run) -> Any:
        if not all_take_other_shapes({kind}):
            raise ValueError(kind)
        return run(*inputs)

    def execute(context: Any, device: Any, kind: Any, *rest: Any) -> Any:
        name = kind.decode() if isinstance(kind, bytes) else kind
        if threading.get_ident() == own and not all_take_other_shapes({name}):
            raise ValueError(name)
        return slow(context, device, kind, *rest)

    with executed(known), replaced(Private.SLOW, execute):
        yield
