"""Constants of a graph with all the digits that they were written with.

`0.1 * x` of a float32 tensor has a constant that is off in its eighth digit. Forward and back such
constants round apart, `0.1` here and `0.01` there, and a gradient that is right in float64 would be
wrong at that digit in the promoted graph: it has to have what the user wrote.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.private_names import Absent, Private, private, replaced
from gradcheck.checker.subject.promote_graph import FULL_VALUE
from gradcheck.checker.subject.tensors import widen

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def full_constants() -> Iterator[None]:
    """Within this, constants that are added to a graph know what they were before rounding.

    Without it `test_constants_keep_the_digits_they_were_written_with` fails.
    """
    try:
        create = private(Private.CREATE_CONSTANT)
    except Absent:  # they are as they were rounded
        yield
        return

    def noted(value: Any, dtype: Any, shape: Any, *rest: Any, **named: Any) -> Any:
        tensor = create(value, dtype, shape, *rest, **named)
        _note(tensor, value)
        return tensor

    with replaced(Private.CREATE_CONSTANT, noted):
        yield


def _note(tensor: Any, value: Any) -> None:
    import tensorflow as tf
    from tensorflow.core.framework import attr_value_pb2

    own = np.dtype(tensor.dtype.as_numpy_dtype)
    double = np.complex128 if own.kind == "c" else np.float64
    if not (tensor.dtype.is_floating or tensor.dtype.is_complex) or own == double:
        return
    try:
        given = np.asarray(value)
        if given.dtype == own or given.dtype.kind not in "fciub":
            return  # (It was no more than that.)
        full = np.broadcast_to(widen(given).astype(double), tensor.shape)
    except (TypeError, ValueError):  # a list that holds tensors
        return
    proto = tf.make_tensor_proto(full, shape=full.shape)
    tensor.op._set_attr(FULL_VALUE, attr_value_pb2.AttrValue(tensor=proto))
