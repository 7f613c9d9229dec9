"""Einstein-notation expressions executed with numpy."""

from __future__ import annotations

import ast
import operator
from functools import reduce, singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Node,
    Number,
    Product,
    Select,
    Sum,
    Tensor,
    Total,
    children,
    free,
)
from gradcheck.explainer.calculus.indices import Index, extent, value_of
from gradcheck.ops.language.vocabulary import CONSTANTS, FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["evaluate"]

Labelled = tuple[np.ndarray[Any, Any], tuple[str, ...]]


def evaluate(node: Node, values: Mapping[str, Any], indices: tuple[Index, ...]) -> Any:
    """The array of all values of the expression, one axis per index; 0 makes an axis of size 1."""
    wanted = tuple(i for i in indices if isinstance(i, str))
    with np.errstate(all="ignore"):
        array = _spread(_evaluate(node, values), wanted)
    shape = tuple(extent(i) if isinstance(i, str) else 1 for i in indices)
    return np.broadcast_to(array, tuple(extent(i) for i in wanted)).reshape(shape)


def _spread(labelled: Labelled, wanted: tuple[str, ...]) -> Any:
    """The array with an axis (of size 1 where it does not depend on it) per wanted index."""
    array, labels = labelled
    order = [labels.index(i) for i in wanted if i in labels]
    array = np.transpose(array, order)
    return array.reshape([extent(i) if i in labels else 1 for i in wanted])


@singledispatch
def _evaluate(node: Node, _values: Mapping[str, Any]) -> Labelled:
    """The array of an expression, and the index of each of its axes."""
    raise TypeError(type(node).__name__)


@_evaluate.register
def _(node: Number, _values: Any) -> Labelled:
    return np.asarray(float(node.value)), ()


@_evaluate.register
def _(node: Tensor, values: Any) -> Labelled:
    found = values[node.name] if node.name in values else CONSTANTS[node.name]
    return _pick(np.asarray(found), node.indices)


@_evaluate.register
def _(node: Array, values: Any) -> Labelled:
    return _pick(_whole_value(node, values), node.indices)


@_evaluate.register
def _(node: Delta, _values: Any) -> Labelled:
    if node.left == node.right:
        return np.asarray(1.0), ()
    if isinstance(node.left, str) and isinstance(node.right, str):
        return np.eye(extent(node.left), extent(node.right)), (node.left, node.right)
    index, at = (node.left, node.right) if isinstance(node.left, str) else (node.right, node.left)
    unit = np.zeros(extent(str(index)))
    unit[int(at)] = 1.0
    return unit, (str(index),)


@_evaluate.register
def _(node: Select, values: Any) -> Labelled:
    """Ones and zeros, an axis for each index of the condition."""
    labels = tuple(free(node))
    shape = tuple(extent(i) for i in labels)
    at = {label: _along(np.arange(extent(label)), label, labels) for label in labels}

    def lookup(name: str, indices: tuple[Index, ...]) -> Any:
        return _spread(_pick(np.asarray(values[name]), indices), labels)

    found = value_of(node.form, at, lookup)
    held = found == 0 if node.sign == "=" else found <= 0
    return np.broadcast_to(np.asarray(held, dtype=np.float64), shape), labels


@_evaluate.register
def _(node: Total, values: Any) -> Labelled:
    array, labels = _evaluate(node.body, values)
    gone = tuple(labels.index(i) for i in node.indices if i in labels)
    absent = [extent(i) for i in node.indices if i not in labels]
    summed = np.sum(array, axis=gone) * float(np.prod(absent))
    return np.asarray(summed), tuple(i for i in labels if i not in node.indices)


@_evaluate.register
def _(node: Product, values: Any) -> Labelled:
    return _combined(node, values, lambda arrays: reduce(operator.mul, arrays, np.asarray(1.0)))


@_evaluate.register
def _(node: Sum, values: Any) -> Labelled:
    return _combined(node, values, lambda arrays: reduce(operator.add, arrays, np.asarray(0.0)))


@_evaluate.register
def _(node: Apply, values: Any) -> Labelled:
    return _combined(node, values, lambda arrays: _apply_function(node.function, arrays))


def _combined(
    node: Product | Sum | Apply, values: Any, combine: Callable[[list[Any]], Any]
) -> Labelled:
    """The arrays of the parts, laid along the same axes and put together."""
    wanted = tuple(free(node))
    arrays = [_spread(_evaluate(part, values), wanted) for part in children(node)]
    return np.broadcast_to(combine(arrays), tuple(extent(i) for i in wanted)), wanted


def _along(numbers: Any, label: str, labels: tuple[str, ...]) -> Any:
    """A vector laid along the axis of its label."""
    return numbers.reshape([-1 if other == label else 1 for other in labels])


def _apply_function(function: str, arrays: list[Any]) -> Any:
    if function == "reciprocal":
        return 1 / arrays[0]
    if function in ("holds", "fails"):
        held = arrays[0].astype(bool)
        return (held if function == "holds" else ~held).astype(np.float64)
    return FUNCTIONS[function](*arrays)


def _whole_value(node: Array, values: Mapping[str, Any]) -> Any:
    args = [
        evaluate(arg.body, values, arg.indices) if isinstance(arg, Grid) else _plain(arg)
        for arg in node.args
    ]
    return (
        np.asarray(args[0])
        if node.function == "constant"
        else np.asarray(FUNCTIONS[node.function](*args))
    )


def _plain(text: str) -> Any:
    """A plain value from its text; Python's own reader does not know infinity."""
    return float(text) if text.lstrip("-") == "inf" else ast.literal_eval(text)


def _pick(array: Any, indices: tuple[Index, ...]) -> Labelled:
    """The array with labelled axes: numbers picked, an index that stands twice on the diagonal."""
    array = array[tuple(slice(None) if isinstance(i, str) else i for i in indices)]
    labels = [i for i in indices if isinstance(i, str)]
    if len(set(labels)) == len(labels):
        return array, tuple(labels)
    unique = list(dict.fromkeys(labels))
    numbers = [unique.index(i) for i in labels]
    return np.einsum(array, numbers, list(range(len(unique)))), tuple(unique)
