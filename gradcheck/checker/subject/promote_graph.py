"""A graph rewritten so that whatever it computes in low precision it computes in float64.

Every float32, float16 and bfloat16 of its nodes, constants and functions becomes float64, and
complex64 complex128: a cast between any of these then does nothing, and what is left is the
function of real numbers that the graph stands for. What cannot mean the same in another precision
is refused.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.numerics.vectors import epsilon_of
from gradcheck.checker.subject.tensors import widen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.model import Array

FULL_VALUE = "_gradcheck_full_value"
"""The attribute of a constant that holds what it was before it was rounded."""


class CannotBePromoted(Exception):  # noqa: N818  (nothing is wrong: there is no twin)
    """The graph holds something that float64 has not, or that is another thing there."""


def promoted_graph(graph: Any) -> Any:
    """A copy of a GraphDef, with its functions, in double precision.

    Without it `test_a_function_of_float32_alone_is_judged_in_float64` fails.
    """
    from tensorflow.core.framework import graph_pb2

    graph = _of_what_is_called(graph)
    _refuse_what_cannot_be(node for nodes in _all_nodes(graph) for node in nodes)
    names = {function.signature.name: "" for function in graph.library.function}
    for name in names:
        names[name] = f"{name}_in_double_{next(_numbers)}"
    double = graph_pb2.GraphDef()
    double.CopyFrom(graph)
    _promote_nodes(double.node, names, inside=False)
    for function in double.library.function:
        _promote_function(function, names)
    return double


def _of_what_is_called(graph: Any) -> Any:
    """The graph with those functions alone that it calls: others may be meant for other devices."""
    from tensorflow.core.framework import graph_pb2

    functions = {function.signature.name: function for function in graph.library.function}
    called, waiting = set[str](), [graph.node]
    while waiting:
        for node in waiting.pop():
            values = node.attr.values()
            own = {node.op, *(a.func.name for a in values)}
            own |= {each.name for a in values for each in a.list.func}
            found = (own & functions.keys()) - called
            called |= found
            waiting += [functions[name].node_def for name in found]
    kept = graph_pb2.GraphDef()
    kept.CopyFrom(graph)
    kept.library.Clear()
    kept.library.function.extend(f for name, f in functions.items() if name in called)
    return kept


def lowest_dtype(graph: Any) -> np.dtype[Any] | None:
    """The least precise floating-point dtype that a node of the graph has; None if there is none.

    Complex numbers count as what their parts are.
    """
    from tensorflow.core.framework import types_pb2

    real = {types_pb2.DT_COMPLEX64: types_pb2.DT_FLOAT}
    seen = {
        real.get(kind, kind) for nodes in _all_nodes(graph) for n in nodes for kind in _kinds(n)
    }
    order = (types_pb2.DT_BFLOAT16, types_pb2.DT_HALF, types_pb2.DT_FLOAT)
    return next((np.dtype(_as_numpy(kind)) for kind in order if kind in seen), None)


def rounding_of_constants(graph: Any) -> float:
    """The unit in the last place to which constants of the graph were rounded; zero if none was.

    Those that know all their digits were not, nor those that have few.
    """
    found = 0.0
    for node in (node for nodes in _all_nodes(graph) for node in nodes):
        if node.op == "Const" and FULL_VALUE not in node.attr:
            tensor = node.attr["value"].tensor
            if _wide(tensor.dtype) != tensor.dtype:
                found = max(found, rounding_of(_value(tensor)))
    return found


def rounding_of(value: Array) -> float:
    """The unit in the last place of one, if any of these numbers needs all the digits of its dtype.

    Numbers such as 0.5 or 3 are what they were meant to be.
    """
    unit = epsilon_of(value.dtype)
    parts = [np.real(value), np.imag(value)] if np.iscomplexobj(value) else [value]
    digits, _ = np.frexp(np.concatenate([widen(part).ravel() for part in parts]))
    # (Half of the digits: what was rounded has one of the others in all likelihood.)
    short = digits[np.isfinite(digits)] * 2.0 ** (-np.log2(unit) // 2)
    return 0.0 if (short == np.round(short)).all() else unit


_numbers = count()
"""No two functions of a process may have one name."""

_DRAWN_BY_SEED = frozenset(
    {"StatelessRandomUniform", "StatelessRandomUniformV2", "StatelessRandomNormal"}
    | {"StatelessRandomNormalV2", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2"}
)
"""Ops that draw by seeds and shapes alone: in float64 they would draw other numbers, so they stay
as they are, and what they draw is cast."""

_NO_MEANING = "PyFunc EagerPyFunc Bitcast Quantized Requantize FakeQuant Cudnn"
_DRAWS = """
    Random Multinomial TruncatedNormal Parameterized StatefulRandom StatefulStandard
    StatefulTruncated StatefulUniform
"""
_REFUSED = tuple(f"{_NO_MEANING} {_DRAWS}".split())
"""How the names of ops begin that have no meaning in float64, draw anew in each call, or are
Python."""

_FORGOTTEN = frozenset(
    {"forward_function_name", "backward_function_name", "gradient_op_type", "_gradient_op_type"}
    | {
        "_XlaMustCompile",
        "api_implements",
        "api_preferred_device",
        "_implements",
        "_class",
        FULL_VALUE,
    }
)
"""Attributes that name other functions, or say how to run this one."""


def _all_nodes(graph: Any) -> Iterable[Any]:
    yield graph.node
    for function in graph.library.function:
        yield function.node_def


def _kinds(node: Any) -> Iterable[int]:
    """The types among the attributes of a node."""
    for attribute in node.attr.values():
        if attribute.WhichOneof("value") == "type":
            yield attribute.type
        yield from attribute.list.type


def _refuse_what_cannot_be(nodes: Iterable[Any]) -> None:
    from tensorflow.core.framework import types_pb2

    quantised = {types_pb2.DT_QINT8, types_pb2.DT_QUINT8, types_pb2.DT_QINT16} | {
        types_pb2.DT_QUINT16,
        types_pb2.DT_QINT32,
    }
    for node in nodes:
        if node.op.startswith(_REFUSED) or quantised & set(_kinds(node)):
            raise CannotBePromoted(node.op)


def _wide(kind: int) -> int:
    from tensorflow.core.framework import types_pb2

    if kind in (types_pb2.DT_FLOAT, types_pb2.DT_HALF, types_pb2.DT_BFLOAT16):
        return int(types_pb2.DT_DOUBLE)
    return int(types_pb2.DT_COMPLEX128) if kind == types_pb2.DT_COMPLEX64 else kind


def _as_numpy(kind: int) -> Any:
    import tensorflow as tf

    return tf.as_dtype(kind).as_numpy_dtype


def _promote_function(function: Any, names: dict[str, str]) -> None:
    signature = function.signature
    signature.name = names[signature.name]
    for argument in (*signature.input_arg, *signature.output_arg):
        argument.type = _wide(argument.type)
        argument.ClearField("experimental_full_type")
    _promote_attributes(function.attr, names)
    for own in function.arg_attr.values():
        _promote_attributes(own.attr, names)
    drawn = _promote_nodes(function.node_def, names, inside=True)
    if drawn:
        # In a function a result goes by its op's name for it, which is another of a cast.
        for node in function.node_def:
            for i, given in enumerate(node.input):
                node.input[i] = _renamed(given, drawn)
        for result, given in function.ret.items():
            function.ret[result] = _renamed(given, drawn)


def _renamed(given: str, drawn: set[str]) -> str:
    name, _, place = given.partition(":")
    return f"{name}:y:0" if place and name in drawn else given


def _promote_nodes(nodes: Any, names: dict[str, str], *, inside: bool) -> set[str]:
    """Promote these in their place; the names of those that a cast has taken over."""
    drawn: set[str] = set()
    for node in list(nodes):
        node.ClearField("experimental_type")
        # (A function may be called as if it were an op.)
        node.op = names.get(node.op, node.op)
        low = (
            node.op in _DRAWN_BY_SEED and _wide(node.attr["dtype"].type) != node.attr["dtype"].type
        )
        if low:
            drawn.add(node.name)
            _cast_what_is_drawn(nodes, node, inside=inside)
        else:
            _promote_attributes(node.attr, names)
    return drawn


def _cast_what_is_drawn(nodes: Any, node: Any, *, inside: bool) -> None:
    """Let a cast have the name of this node, so that all who read it read the cast."""
    cast = nodes.add()
    cast.name, cast.op = node.name, "Cast"
    node.name = f"{node.name}_drawn"
    cast.input.append(f"{node.name}:output:0" if inside else node.name)
    cast.attr["SrcT"].type = node.attr["dtype"].type
    cast.attr["DstT"].type = _wide(node.attr["dtype"].type)


def _promote_attributes(attributes: Any, names: dict[str, str]) -> None:
    full = attributes[FULL_VALUE].tensor if FULL_VALUE in attributes else None
    for key in _FORGOTTEN & set(attributes):
        del attributes[key]
    for attribute in attributes.values():
        match attribute.WhichOneof("value"):
            case "type":
                attribute.type = _wide(attribute.type)
            case "tensor":
                _promote_tensor(attribute.tensor, full)
            case "func":
                _promote_call(attribute.func, names)
            case "list":
                for i, kind in enumerate(attribute.list.type):
                    attribute.list.type[i] = _wide(kind)
                for called in attribute.list.func:
                    _promote_call(called, names)


def _promote_call(called: Any, names: dict[str, str]) -> None:
    called.name = names.get(called.name, called.name)
    _promote_attributes(called.attr, names)


def _promote_tensor(tensor: Any, full: Any) -> None:
    import tensorflow as tf

    if _wide(tensor.dtype) == tensor.dtype:
        return
    if full is not None:
        tensor.CopyFrom(full)
        return
    value = widen(_value(tensor))
    tensor.CopyFrom(tf.make_tensor_proto(value, shape=value.shape))


def _value(tensor: Any) -> Array:
    import tensorflow as tf

    return np.asarray(tf.make_ndarray(tensor))
