"""Which variables a way back writes: found out once, so that no other has to pay for it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.recording import may_write, recording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.subject.kept_state import KeptState


@contextmanager
def writes_on(state: KeptState) -> Iterator[None]:
    """Within this, on the first way back, what is written is noted, to be put back each time.

    Args:
        state: takes the note.
    """
    import tensorflow as tf

    if not tf.executing_eagerly():
        graph = tf.compat.v1.get_default_graph()
        before = len(graph.get_operations())
        yield
        if any(map(_changes_something, graph.get_operations()[before:])):
            state.write_all()
        return
    if state.is_watched:
        yield
        return
    with recording(resources_alone=True) as seen:
        try:
            yield
        finally:
            state.is_watched = True
            state.add(resource for resource in seen.resources.values() if resource.written)
            if seen.is_blind:
                state.write_all()


def _changes_something(op: Any) -> bool:
    """Whether an op of a graph may write a variable: what a function inside does is not seen."""
    import tensorflow as tf

    if all(given.dtype != tf.resource for given in op.inputs):
        return False
    return may_write(op.type) or any(attribute.func.name for attribute in op.node_def.attr.values())
