"""Values into variables, by the shortest way.

A function that reads variables has them moved at each point, and put back after it. TensorFlow's
own way looks at what anybody may give it, and takes five times as long as the op. Other variables
than plain ones go that way.

Speed alone: an assignment of an array takes less than half of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcheck.checker.subject.private_names import Absent, Private, private


def assign(variable: Any, value: Any) -> None:
    """Give a variable this value, an array or a tensor."""
    import tensorflow as tf

    try:
        is_plain = type(variable) is private(Private.VARIABLE)
    except Absent:
        is_plain = False
    # (What takes no values of that shape says so itself: the op would change the variable's.)
    if not (is_plain and tf.executing_eagerly() and variable.shape == value.shape):
        variable.assign(value)
        return
    tensor = tf.constant(value) if isinstance(value, np.ndarray) else value
    tf.raw_ops.AssignVariableOp(resource=variable.handle, value=tensor)
