"""Rows of points through a function: batched only where that is the same."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.evaluator import Evaluator
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.subject.called import (
    CARRIED,
    LEADING,
    draw,
    evaluator,
    functions,
    rows,
)


@pytest.mark.parametrize("name", LEADING + CARRIED)
def test_as_if_called_one_by_one(tf: Any, name: str) -> None:
    function, values = functions(tf)[name]
    found = evaluator(function, *values)
    points = rows(found)
    outputs = found(points)
    for point, output in zip(points, outputs, strict=True):
        arrays = [tf.constant(a) for a in found.inputs.unflatten(point)]
        np.testing.assert_allclose(output, function(*arrays).numpy().ravel(), rtol=1e-12)


def test_a_constant_operand_stays(tf: Any) -> None:
    operands = (Operand("x", draw(3)), Operand("i", np.array([0, 2]), differentiate=False))
    problem = Problem(tf.gather, operands, takes_other_shapes=True)
    found = Evaluator(problem, [o.value for o in operands])
    points = rows(found)
    np.testing.assert_array_equal(found(points), points[:, [0, 2]])


def test_a_batch_that_only_fits_once(tf: Any) -> None:
    # Seven rows are taken for a batch, any other number is not.
    def fussy(x: Any) -> Any:
        if x.shape.rank == 2 and x.shape[0] > 100:
            raise ValueError("too many")
        return tf.sin(x)

    found = evaluator(fussy, draw(3))
    few, many = rows(found, 20), rows(found, 150)
    np.testing.assert_allclose(found(few), np.sin(few))
    np.testing.assert_allclose(found(many), np.sin(many))


def test_precision() -> None:
    assert evaluator(lambda x: x, draw(2)).precision is None
    assert evaluator(lambda x: x, draw(2).astype(np.float32)).precision == np.float32
    assert evaluator(lambda x: x, draw(2).astype(np.complex64)).precision == np.float32


def test_must_repeat(tf: Any) -> None:
    evaluator(tf.sin, draw(3)).must_repeat(4)
    chance = evaluator(lambda x: x + tf.random.normal([3], dtype=tf.float64), draw(3))
    with pytest.raises(Ended, match="not deterministic"):
        chance.must_repeat(4)


def test_what_a_check_made_goes_with_it(tf: Any) -> None:
    """Its tensors and points do not wait for Python to look for cycles."""
    x = np.array([0.3, -0.7])
    gc.collect()
    gc.disable()
    try:
        assert gradcheck.check(tf.sin, x).verdict == "pass"
        assert not [each for each in gc.get_objects() if type(each) is Evaluator]
    finally:
        gc.enable()
