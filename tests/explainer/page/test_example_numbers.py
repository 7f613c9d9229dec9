"""The numbers of pictures: against central differences of the forward, and what they depend on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.explainer import Subject, make_call
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.page.example_chain import expression_picture, op_picture
from gradcheck.ops import Op, all_ops, find
from gradcheck.ops.samples.registry import SAMPLES

if TYPE_CHECKING:
    from gradcheck.explainer.worked_example import Numbers, Picture

OPS = [op for op in all_ops() if not op.is_complex]
"""Those of real numbers: complex ones are not shown one by one."""
MLP = "tf.matmul(tf.tanh(tf.matmul(x, w) + b), u)"
SHAPES = {"x": (2, 3), "w": (3, 4), "b": (4,), "u": (4, 2)}


def subject_of(name: str, args: dict[str, Any] | None = None, **shapes: Any) -> Subject:
    op = find(name)
    assert op is not None
    return Subject(op, make_call(op, shapes, args or {}))


def numbers_of(picture: Picture) -> Numbers:
    assert picture.numbers is not None, picture.missing
    return picture.numbers


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_every_op_has_numbers_whose_terms_add_up(op: Op) -> None:
    numbers = numbers_of(op_picture(Subject(op, make_call(op, {}, {})), {}))
    assert numbers.jacobians
    for jacobian in numbers.jacobians:
        summed = numbers.weights() @ jacobian.matrix
        gradient = numbers.gradients[jacobian.name]
        assert gradient.shape == jacobian.shape
        assert np.allclose(summed, np.ravel(gradient), rtol=1e-9, atol=1e-9 * _size(gradient))


def _size(array: Any) -> float:
    return max(1.0, float(np.max(np.abs(array))))


def by_differences(subject: Subject, numbers: Numbers, name: str) -> Any:
    """The Jacobian from the forward alone, with no formula of a gradient."""
    from gradcheck.explainer import trees

    assert subject.forward is not None

    def flat(values: Any) -> Any:
        out = trees.run(subject.forward, values)  # type: ignore[arg-type]
        parts = out if subject.op.outputs else [out]
        return np.concatenate([np.ravel(part) for part in parts])

    values = {n: numbers.values[n] for n in subject.call.shapes}
    columns = []
    for place in range(values[name].size):
        moved = []
        for step in (1e-6, -1e-6):
            there = np.array(values[name], dtype=float)
            there.flat[place] += step
            moved.append(flat({**values, name: there}))
        columns.append((moved[0] - moved[1]) / 2e-6)
    return np.array(columns).T


def free(op: Op) -> bool:
    """Whether every element of the inputs may move alone."""
    kinds = {SAMPLES[p.domain.sample.name].structure for p in op.inputs}
    return kinds <= {"general", "discrete", "invertible"}


FREE = [op for op in OPS if free(op)]


@pytest.mark.parametrize("op", FREE, ids=[op.name for op in FREE])
def test_the_jacobian_is_that_of_the_forward(op: Op) -> None:
    subject = Subject(op, make_call(op, {}, {}))
    numbers = numbers_of(op_picture(subject, {}))
    for jacobian in numbers.jacobians:
        expected = by_differences(subject, numbers, jacobian.name)
        assert np.allclose(jacobian.matrix, expected, rtol=1e-5, atol=1e-6 * _size(expected))


def test_a_wrong_formula_would_show() -> None:
    right = subject_of("square")
    wrong = Subject(replace(right.op, formula={"x": "2.01 * G * x"}), right.call)
    numbers = numbers_of(op_picture(wrong, {}))
    expected = by_differences(wrong, numbers, "x")
    assert not np.allclose(numbers.jacobians[0].matrix, expected, rtol=1e-5)


def test_nothing_but_rounding_is_zero() -> None:
    numbers = numbers_of(op_picture(subject_of("qr"), {}))
    matrix = np.abs(numbers.jacobians[0].matrix)
    assert float(np.min(matrix[matrix > 0])) > 1e-12
    assert (matrix == 0).any()


def test_which_elements_a_product_is_made_of() -> None:
    numbers = numbers_of(op_picture(subject_of("matmul", a=(2, 3), b=(3, 2)), {}))
    of_a, of_b = numbers.jacobians
    made = of_a.made_of()
    assert list(made) == ["b"]
    # dA[0,1] = G[0,:] · B[1,:]: two elements of B, and the first row of C.
    assert np.flatnonzero(made["b"][1]).tolist() == [2, 3]
    assert np.flatnonzero(of_a.matrix[:, 1]).tolist() == [0, 1]
    assert list(of_b.made_of()) == ["a"]


def test_what_decides_which_is_the_largest_counts() -> None:
    subject = subject_of("reduce_max", {"axis": 1}, input_tensor=(2, 3))
    numbers = numbers_of(op_picture(subject, {}))
    jacobian = numbers.jacobians[0]
    made = jacobian.made_of()["input_tensor"]
    for row, largest in enumerate(np.argmax(jacobian.matrix, axis=1)):
        # Any other of its row could take its place; those of other rows cannot.
        assert np.flatnonzero(made[largest]).tolist() == [3 * row, 3 * row + 1, 3 * row + 2]
    assert np.count_nonzero(jacobian.matrix) == 2


def test_a_sum_is_made_of_no_values() -> None:
    numbers = numbers_of(op_picture(subject_of("add", x=(2,), y=(2,)), {}))
    assert [jacobian.made_of() for jacobian in numbers.jacobians] == [{}, {}]


def test_an_expression_adds_up_along_its_chain() -> None:
    graph = read_graph(MLP, SHAPES)
    picture = expression_picture(graph, {}, ("x", "w"))
    numbers = numbers_of(picture)
    assert [jacobian.name for jacobian in numbers.jacobians] == ["x", "w"]
    values = {name: numbers.values[name] for name in SHAPES}
    out = np.tanh(values["x"] @ values["w"] + values["b"]) @ values["u"]
    assert np.allclose(numbers.upstreams[0].result, out)
    slope = 1 - np.tanh(values["x"] @ values["w"] + values["b"]) ** 2
    expected = ((numbers.upstreams[0].value @ values["u"].T) * slope) @ values["w"].T
    assert np.allclose(numbers.gradients["x"], expected)
    assert np.allclose(numbers.weights() @ numbers.jacobians[0].matrix, expected.ravel())


def test_given_values_are_taken_and_g_is_ones() -> None:
    picture = op_picture(subject_of("square", x=(2,)), {"x": np.array([1.0, -3.0])})
    numbers = numbers_of(picture)
    assert numbers.given
    assert numbers.gradients["x"].tolist() == [2.0, -6.0]
    own = {"x": np.array([1.0, -3.0]), "G": np.array([2.0, 0.0])}
    assert numbers_of(op_picture(subject_of("square", x=(2,)), own)).gradients["x"][0] == 4.0


@pytest.mark.parametrize(
    ("name", "shapes", "at", "said"),
    [
        ("exp", {"x": (30, 30)}, {}, "900 elements"),
        ("exp", {"x": (0, 3)}, {}, "no elements"),
        ("log", {"x": (2,)}, {"x": np.array([0.0, 1.0])}, "not all numbers are finite"),
        ("exp", {"x": (2,)}, {"x": np.ones(2), "G": np.ones(3)}, "not of the shape"),
        ("cholesky", {"input": (2, 2)}, {"input": -np.eye(2)}, "nothing can be computed"),
    ],
)
def test_where_there_are_no_numbers_the_reason_is_said(
    name: str, shapes: Any, at: Any, said: str
) -> None:
    picture = op_picture(subject_of(name, **shapes), at)
    assert picture.numbers is None
    assert said in picture.missing
    assert len(picture.places) == 2


def test_nothing_large_is_computed_on_the_way() -> None:
    """An array of ten million elements between a small input and a small output."""
    text = "tf.reduce_sum(tf.broadcast_to(x, [10000, 1000]))"
    picture = expression_picture(read_graph(text, {"x": ()}), {}, None)
    assert picture.numbers is None
    assert "10000000 elements, and 10000 are computed" in picture.missing


def test_where_no_gradient_goes_there_is_no_way_back() -> None:
    graph = read_graph("tf.stop_gradient(x) * x", {"x": (2,)})
    held, product = expression_picture(graph, {}, None).places[1:]
    assert (held.op, held.returns) == ("stop_gradient", frozenset())
    assert product.returns >= {"x"}
