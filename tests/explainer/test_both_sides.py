"""Proofs see both sides of a condition: what is wrong on the other side alone is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcheck import ops
from gradcheck.explainer import Subject, make_call, trees
from gradcheck.explainer.both_sides import conditions_in, covering
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.proof_points import expression_points, op_points
from gradcheck.explainer.verify import verify_op


def _subject(name: str, **changed: Any) -> Subject:
    op = ops.find(name)
    assert op is not None
    call = make_call(op, {}, {})
    return Subject(replace(op, **changed), call)


def test_points_are_chosen_until_both_sides_are_seen() -> None:
    conditions = conditions_in([trees.read("where(x > 2, x, where(x > 2, 0, 1))")])
    assert len(conditions) == 1
    found = covering(conditions, float, lambda value: {"x": value})
    assert sorted(found) == [0.0, 3.0]
    assert found[0] == 3.0  # where the condition holds there is more to see
    assert covering([], float, lambda value: {"x": value}) == [0.0]
    assert covering([trees.read("unknown > 0")], float, lambda _: {}) == [0.0]


def test_a_vector_is_clipped_at_one_of_the_points() -> None:
    lengths = [np.linalg.norm(p.values["t"]) for p in op_points(_subject("clip_by_norm"), None)]
    assert min(lengths) < 1 < max(lengths)
    assert lengths[0] > 1
    given = {"t": np.array([0.1, 0.2, 0.3])}
    assert len(op_points(_subject("clip_by_norm"), given)) == 1


@pytest.mark.parametrize("wrong", ["G", "where(sum(square(t)) > 1, G, 2 * G)", "0 * G"])
def test_what_is_wrong_on_one_side_alone_fails(wrong: str) -> None:
    formulas = {"t": f"{wrong} + where(sum(square(t)) > 1, 0, 0)"}
    proofs = verify_op(_subject("clip_by_norm", formula=formulas, code={}))
    assert not all(proof.holds for proof in proofs)


def test_what_is_right_on_both_sides_holds() -> None:
    for name in ("clip_by_norm", "relu", "leaky_relu", "huber", "elu", "clip_by_value"):
        proofs = verify_op(_subject(name))
        assert all(proof.holds for proof in proofs), name


def test_an_expression_is_seen_on_both_sides() -> None:
    text = "tf.where(tf.norm(x) > 2.0, x / tf.norm(x), x)"
    points = expression_points(read_graph(text, {"x": (3,)}), None)
    lengths = [np.linalg.norm(point.values["x"]) for point in points]
    assert min(lengths) < 2 < max(lengths)
    page, proofs = answer(Question(expr=text, shapes={"x": (3,)}, verify=True))
    assert all(proof.holds and proof.points == len(points) for proof in proofs)
    assert f"At {len(points)} random points" in str(page.sections[-1])


def test_a_second_derivative_is_proved_where_there_is_one() -> None:
    _, proofs = answer(Question("clip_by_norm", second=True, verify=True))
    assert all(proof.holds for proof in proofs)
