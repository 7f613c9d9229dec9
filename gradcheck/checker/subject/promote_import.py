"""A function traced in its own precision, and its graph brought back in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.full_constants import full_constants
from gradcheck.checker.subject.private_names import Private, private
from gradcheck.checker.subject.promote_graph import promoted_graph, rounding_of
from gradcheck.checker.subject.tensors import widen, wider

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Twins:
    """What a graph captures, in double precision: its variables, and tensors from outside."""

    def __init__(self) -> None:
        """None yet."""
        self._known: dict[int, tuple[Any, Any]] = {}
        """By identity: what was captured (which so stays alive), and its twin."""

    def of(self, captured: Any) -> Any:
        """The variable, or tensor, that takes the place of this handle or tensor."""
        if id(captured) not in self._known:
            self._known[id(captured)] = (captured, _twin(captured))
        return self._known[id(captured)][1]

    @property
    def rounding(self) -> float:
        """The unit in the last place to which tensors from outside were rounded; else zero."""
        tensors = [t.numpy() for t, _ in self._known.values() if t.dtype in wider()]
        return max(map(rounding_of, tensors), default=0.0)

    def of_variable(self, variable: Any) -> Any:
        """The variable that takes the place of this one; itself if it has double precision."""
        twin = self.of(variable.handle)
        return variable if twin is variable.handle else twin


def _twin(captured: Any) -> Any:
    import tensorflow as tf

    if captured.dtype != tf.resource:
        return tf.constant(widen(captured.numpy())) if captured.dtype in wider() else captured
    data = getattr(captured, "_handle_data", None)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return captured
    dtype = tf.as_dtype(data.shape_and_type[0].dtype)
    if dtype not in wider():
        return captured
    value = tf.raw_ops.ReadVariableOp(resource=captured, dtype=dtype)
    return tf.Variable(widen(value.numpy()), trainable=False)


def traced(function: Callable[..., Any], specs: Sequence[Any]) -> Any:
    """The function as a graph, in its own precision, of constants with all their digits.

    A tf.function inside may have been traced before, with constants that were rounded: so it is
    traced again as part of this one, unless it can be traced on its own alone.
    """
    import tensorflow as tf

    try:
        with full_constants(), as_python():
            return tf.function(function, autograph=False).get_concrete_function(*specs)
    except Exception:  # what is written for autograph
        # (Its graphs stay with the user: they get no notes of ours.)
        return tf.function(function, autograph=False).get_concrete_function(*specs)


def _without(graph: Any, names: set[str]) -> None:
    """Remove the nodes of these names, and whatever waits for them without reading them."""
    kept = [node for node in graph.node if node.name not in names]
    for node in kept:
        inputs = [
            given for given in node.input if given.lstrip("^") not in names or given[0] != "^"
        ]
        del node.input[:]
        node.input.extend(inputs)
    copies = [type(node).FromString(node.SerializeToString()) for node in kept]
    del graph.node[:]
    graph.node.extend(copies)


def imported(own: Any, twins: Twins, outputs: int) -> tuple[Any, Any]:
    """The ways forward and back in double precision, of a graph of both; raises if it cannot be.

    Args:
        own: takes inputs and a cotangent for each output, gives outputs and gradients.
        twins: of whatever it captures.
        outputs: how many of its results are outputs.
    """
    import tensorflow as tf

    double = promoted_graph(own.graph.as_graph_def())
    captured = list(own.captured_inputs)
    given = own.inputs[: len(own.inputs) - len(captured)]
    names = [placeholder.op.name for placeholder in own.inputs]
    _without(double, set(names))
    read = {name.partition(":")[0] for node in double.node for name in node.input}
    outside = [getattr(twin, "handle", twin) for twin in map(twins.of, captured)]
    for function in double.library.function:
        private(Private.CONTEXT)().add_function_def(function)
    results = [result.name for result in own.outputs]

    specs = [
        tf.TensorSpec(tensor.shape, wider().get(tensor.dtype, tensor.dtype)) for tensor in given
    ]

    def way(number: int, results: list[str]) -> Any:
        """The graph up to these results, of so many inputs; what leads elsewhere is never run."""

        def run(*tensors: Any) -> Any:
            graph = tf.compat.v1.get_default_graph()
            unread = [tf.zeros(spec.shape, spec.dtype) for spec in specs[number:]]
            fed = zip(names, [*tensors, *unread, *map(graph.capture, outside)], strict=True)
            read_ones = {f"{name}:0": tensor for name, tensor in fed if name in read}
            return tf.graph_util.import_graph_def(double, read_ones, results, name="")

        return tf.function(run, autograph=False).get_concrete_function(*specs[:number])

    return way(len(specs) - outputs, results[:outputs]), way(len(specs), results[outputs:])
