"""Structures of tensors, taken apart and put together again; what a report calls the parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradcheck
from gradcheck import UsageError
from gradcheck.checker.subject.flatten import flatten
from tests.checker.planted import planted
from tests.checker.test_api import verdicts

X = np.array([[1.0, -2.0], [0.5, 3.0]])


class Pair(NamedTuple):
    u: Any
    v: Any


@dataclass
class Batch:
    data: Any
    scale: float = 2.0
    label: str = "text"


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        (X, ["x"]),
        ([1.0, 2.0], ["x"]),
        ([X, X], ["x[0]", "x[1]"]),
        ((X, None, "text", 3), ["x[0]"]),
        ({"b": X, "a": {"c": X}}, ["x['a']['c']", "x['b']"]),
        (Pair(X, [X]), ["x.u", "x.v[0]"]),
        (Batch(X), ["x.data", "x.scale"]),
        ({}, []),
    ],
)
def test_there_and_back(given: Any, paths: list[str]) -> None:
    flat = flatten(given, "x")
    assert list(flat.paths) == paths
    back = flat.build(iter(flat.leaves))
    assert type(back) is type(given)
    again = flatten(back, "x")
    assert all(a is b for a, b in zip(flat.leaves, again.leaves, strict=True))


def test_in_and_out_of_a_function(tf: Any) -> None:
    def function(given: Any) -> Any:
        return {"pair": Pair(given["a"] * 2.0, None), "batch": Batch(tf.sin(given["b"][0]))}

    result = gradcheck.check(function, {"a": X, "b": (X, "text")})
    assert verdicts(result) == {"given['a']": "pass", "given['b'][0]": "pass"}


def test_the_part_that_is_wrong_is_named(tf: Any) -> None:
    wrong = planted(tf.sin, lambda gs: [2.0 * gs[0]])
    result = gradcheck.check(lambda d: d["a"] + wrong(d["b"]), {"a": X, "b": X})
    assert verdicts(result) == {"d['a']": "pass", "d['b']": "mismatch"}


def test_ragged_and_sparse(tf: Any) -> None:
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]], dtype=tf.float64)
    deep = tf.ragged.constant([[[1.0], [2.0, 5.0]], [[3.0]]], dtype=tf.float64)
    sparse = tf.sparse.from_dense(X)
    slices = tf.IndexedSlices(tf.constant(X), tf.constant([0, 2]), tf.constant([3, 2]))
    for given, path in (
        (ragged, "x.values"),
        (deep, "x.flat_values"),
        (sparse, "x.values"),
        (slices, "x.values"),
    ):
        result = gradcheck.check(
            lambda x: (
                tf.convert_to_tensor(x.to_tensor() if hasattr(x, "to_tensor") else x.values) ** 2
            ),
            given,
        )
        assert verdicts(result) == {path: "pass"}
    result = gradcheck.check(lambda inputs: inputs["mask"] * 2.0, {"mask": ragged})
    assert verdicts(result) == {"inputs['mask'].values": "pass"}


def test_inputs_by_name(tf: Any) -> None:
    wrong = planted(lambda a, b: a - b, lambda gs: [gs[0], gs[1] * 2.0])
    result = gradcheck.check(lambda a, *, b: wrong(a, b), X, b=X)
    assert verdicts(result) == {"a": "pass", "b": "mismatch"}
    # In another order, and so that a custom gradient sees them.
    result = gradcheck.check(lambda a, b: wrong(a, b) * 2.0, b=X, a=X + 1)
    assert verdicts(result) == {"a": "pass", "b": "mismatch"}


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"no input 'c'.*it takes a, b"):
        gradcheck.check(lambda a, b: a * b, X, c=X)
    with pytest.raises(UsageError, match="did you mean 'tolerance'"):
        gradcheck.check(lambda a: a, X, tolerence=(0, 0))


def test_wrt_a_structure_or_a_part() -> None:
    def function(d: Any, y: Any) -> Any:
        return d["a"] * d["b"] * y

    given = {"a": X, "b": X}
    assert list(verdicts(gradcheck.check(function, given, X, wrt="d"))) == ["d['a']", "d['b']"]
    assert list(verdicts(gradcheck.check(function, given, X, wrt=0))) == ["d['a']", "d['b']"]
    assert list(verdicts(gradcheck.check(function, given, X, wrt="d['b']"))) == ["d['b']"]


def test_chosen_outputs(tf: Any) -> None:
    wrong = planted(tf.sin, lambda gs: [2.0 * gs[0]])

    def function(x: Any) -> Any:
        return Pair(wrong(x), tf.cos(x))

    assert verdicts(gradcheck.check(function, X)) == {"x": "mismatch"}
    for chosen in (1, -1, "v", [1], ["v"]):
        assert verdicts(gradcheck.check(function, X, outputs=chosen)) == {"x": "pass"}
    for chosen in (0, "u", ["u", "v"]):
        assert verdicts(gradcheck.check(function, X, outputs=chosen)) == {"x": "mismatch"}
    result = gradcheck.check(function, X, outputs="w")
    assert result.verdict == "error"
    assert "there are 2: u, v" in result.message


def test_dictionaries_keep_their_order_and_kind(tf: Any) -> None:
    from collections import OrderedDict, defaultdict

    def product(d: Any) -> Any:
        first, second = d.values()
        return first @ second

    left, right = np.ones((2, 3)), np.ones((3, 4))
    assert verdicts(gradcheck.check(product, {"b": left, "a": right})) == {
        "d['a']": "pass",
        "d['b']": "pass",
    }
    for kind in (OrderedDict, lambda items: defaultdict(list, items)):
        given = kind({"b": left, "a": right})
        back = flatten(given, "x").build(iter(flatten(given, "x").leaves))
        assert type(back) is type(given)
        assert list(back) == ["b", "a"]


def test_what_is_empty_stays() -> None:
    assert flatten({"a": X, "b": ()}, "x").paths == ("x['a']",)
