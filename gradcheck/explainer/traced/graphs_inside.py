"""Traced functions whose Python is gone: run op by op in their place, so that their ops are seen.

A `ConcreteFunction`, and what a saved model holds, is a graph and nothing else. What it runs is run
as ops of their own here, a loop as its rounds and a branch as the side that is taken. A graph with
something that cannot be run so (a custom gradient, an op without a function) is called as it is.
Without it `test_a_traced_function_is_seen` and `test_a_saved_model_is_seen` fail.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.private_names import (
    Absent,
    Private,
    definition_of_function,
    private,
    replaced,
)
from gradcheck.explainer.traced.single_op import can_be_run, run_op

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["graphs_inside"]

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_BRANCHES = frozenset({"If", "StatelessIf"})
_CASES = frozenset({"Case", "StatelessCase"})
_LOOPS = frozenset({"While", "StatelessWhile"})
_OF_GRAPHS = _CALLS | _BRANCHES | _CASES | _LOOPS
_FUNCTIONS = ("f", "then_branch", "else_branch", "branches", "cond", "body")
_MARKS = frozenset({"Placeholder", "NoOp", "Assert"})
"""What does nothing to any number."""
_CUSTOM = "_gradient_op_type"


@contextmanager
def graphs_inside() -> Iterator[list[str]]:
    """Within this, a traced function is run op by op where that is possible; names them."""
    seen: list[str] = []
    try:
        own = private(Private.CALL_TRACED)
    except Absent:
        yield seen
        return

    def called(traced: Any, tensor_inputs: Sequence[Any], captured_inputs: Sequence[Any]) -> Any:
        import tensorflow as tf

        graph = traced.graph
        pack = getattr(getattr(traced, "function_type", None), "pack_output", None)
        given = [*tensor_inputs, *captured_inputs]
        fits = [each.dtype for each in given] == [each.dtype for each in graph.inputs]
        if pack is None or not (tf.executing_eagerly() and fits and _is_runnable(graph)):
            return own(traced, tensor_inputs, captured_inputs)
        seen.append(graph.name)
        variables = {id(each.handle): each for each in graph.variables}
        return pack(_run(graph, given, variables))

    with replaced(Private.CALL_TRACED, called):
        yield seen


def _is_runnable(graph: Any) -> bool:
    """Whether each of its ops can be run by itself, with the gradient that it has by itself."""
    given = {tensor.op.name for tensor in graph.inputs}
    for op in graph.get_operations():
        if op.type == "Placeholder" and op.name not in given:
            return False
        if op.type in _MARKS or op.type == "Const":
            continue
        if op.type in _OF_GRAPHS:
            inner = [_graph_of(function) for function in _functions_of(op)]
            if not all(each is not None and _is_runnable(each) for each in inner):
                return False
        elif _CUSTOM in op.node_def.attr or not can_be_run(op.type):
            return False
    return True


def _functions_of(op: Any) -> list[str]:
    """The names of the functions that it calls."""
    found: list[str] = []
    for name in _FUNCTIONS:
        if name in op.node_def.attr:
            value = op.node_def.attr[name]
            found += [each.name for each in value.list.func] or [value.func.name]
    return found


def _graph_of(name: str) -> Any:
    """The graph of a function that a graph calls; None if TensorFlow does not tell."""
    definition = definition_of_function(name)
    with suppress(Absent, ValueError):
        return None if definition is None else private(Private.GRAPH_OF)(definition)
    return None


def _run(graph: Any, given: Sequence[Any], variables: dict[int, Any]) -> Sequence[Any]:
    """What its outputs are for these inputs."""
    import tensorflow as tf

    known = {own.name: value for own, value in zip(graph.inputs, given, strict=True)}
    for op in _in_order(graph.get_operations()):
        if op.type in _MARKS:
            continue
        inputs = [known[tensor.name] for tensor in op.inputs]
        if op.type == "Const":
            outputs: Sequence[Any] = [
                tf.constant(tf.make_ndarray(op.get_attr("value")), op.outputs[0].dtype)
            ]
        elif op.type in _OF_GRAPHS:
            outputs = _called(op, inputs, variables)
        elif op.type == "ReadVariableOp" and id(inputs[0]) in variables:
            outputs = [tf.convert_to_tensor(variables[id(inputs[0])])]
        else:
            outputs = run_op(op.type, inputs, _attributes(op))
        known |= {own.name: value for own, value in zip(op.outputs, outputs, strict=False)}
    return [known[tensor.name] for tensor in graph.outputs]


def _in_order(ops: Sequence[Any]) -> Iterator[Any]:
    """Each after those that it needs, else in the order in which they were made.

    (What is made for a loop's gradient is made after the loop, and given to it.)
    """
    done: set[str] = set()
    for last in ops:
        waiting = [last]
        while waiting:
            op = waiting[-1]
            needed = [each.op for each in op.inputs] + list(op.control_inputs)
            lacking = [each for each in needed if each.name not in done]
            if lacking and op.name not in done:
                waiting += lacking
                continue
            waiting.pop()
            if op.name not in done:
                done.add(op.name)
                yield op


def _attributes(op: Any) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in op.node_def.attr if not name.startswith("_")}


def _called(op: Any, inputs: Sequence[Any], variables: dict[int, Any]) -> Sequence[Any]:
    """What an op does that calls functions."""
    graphs = [_graph_of(name) for name in _functions_of(op)]
    if op.type in _CALLS:
        return _run(graphs[0], inputs, variables)
    if op.type in _BRANCHES:
        return _run(graphs[0 if bool(inputs[0]) else 1], inputs[1:], variables)
    if op.type in _CASES:
        chosen = int(inputs[0])
        last = len(graphs) - 1
        return _run(graphs[chosen if 0 <= chosen <= last else last], inputs[1:], variables)
    condition, body = graphs
    while bool(_run(condition, inputs, variables)[0]):
        inputs = _run(body, inputs, variables)
    return inputs
