"""The list of ops: names, aliases, and what a declaration must hold together."""

from __future__ import annotations

import pytest

from gradcheck.ops import Op, all_ops, find, names
from gradcheck.ops.catalogue import FAMILIES
from gradcheck.ops.samples.registry import SAMPLES
from tests.layers import import_graph
from tests.ops.oracle import resolve

REQUESTED = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "negative",
    "exp",
    "log",
    "sqrt",
    "square",
    "pow",
    "sigmoid",
    "tanh",
    "relu",
    "abs",
    "maximum",
    "minimum",
    "sin",
    "cos",
    "matmul",
    "einsum",
    "transpose",
    "reshape",
    "expand_dims",
    "broadcast_to",
    "reduce_sum",
    "reduce_mean",
    "reduce_max",
    "getitem",
    "slice",
    "gather",
    "softmax",
    "log_softmax",
    "concat",
    "stack",
    "where",
]


def test_the_first_ops_are_all_declared() -> None:
    assert set(REQUESTED) <= set(names())


def test_no_two_ops_share_a_name() -> None:
    # (The TensorFlow name of a part leads to the whole.)
    every = [op.name for op in all_ops()]
    every += [name for op in all_ops() if not op.is_part for name in (op.tf, *op.aliases)]
    assert len(every) == len(set(every))


@pytest.mark.parametrize("name", ["matmul", "tf.matmul", "tf.linalg.matmul"])
def test_an_op_is_found_by_each_of_its_names(name: str) -> None:
    found = find(name)
    assert found is not None
    assert found.name == "matmul"


def test_an_unknown_name_finds_nothing() -> None:
    assert find("matmull") is None


@pytest.mark.parametrize("op", all_ops(), ids=lambda op: op.name)
def test_names_and_aliases_are_one_tensorflow_callable(op: Op) -> None:
    own = resolve(op.tf)
    assert callable(own)
    assert all(resolve(alias) is own for alias in op.aliases)


@pytest.mark.parametrize("op", all_ops(), ids=lambda op: op.name)
def test_a_declaration_is_complete(op: Op) -> None:
    assert op.summary
    assert not set(op.required) & set(op.args)
    assert all(parameter.domain.sample.name in SAMPLES for parameter in op.inputs)
    assert all(text.endswith(".") for text in op.pitfalls)
    assert op.inputs
    assert not op.variadic or (len(op.inputs) == 1 and op.build)


def test_families_stand_side_by_side_and_all_are_listed() -> None:
    graph = import_graph("ops")
    families = {name for name in graph if name.startswith("gradcheck.ops.families.")}
    assert not [name for name in families if graph[name] & families]
    assert families == {family.__name__ for family in FAMILIES}
