"""Functions that take a side by the numbers of their inputs: the page says which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.explainer.traced.users_code import UsersCode

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
    import tensorflow as tf

    def by_python(x):
        if tf.reduce_sum(x) > 0:
            return x ** 2
        return tf.exp(x)

    def by_cond(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x ** 2, lambda: tf.exp(x))

    @tf.function
    def until_large(x):
        while tf.reduce_sum(x * x) < 100.0:
            x = 2.0 * x
        return x

    def by_a_number(x):
        return x ** 2 if float(tf.reduce_sum(x)) > 0 else tf.exp(x)

    def asserted(x):
        tf.debugging.assert_greater(x, -100.0 * tf.ones_like(x))
        return x * x

    def of_a_counter(x):
        for i in tf.range(3):
            if i > 0:
                x = x * x
        return x

    def of_a_declared_op(x):
        return tf.linalg.expm(x)

    def of_the_shape(x):
        return tf.cond(tf.shape(x)[0] > 1, lambda: x * x, lambda: x)
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UsersCode:
    return UsersCode(tmp_path, monkeypatch, "taking_sides", CODE)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("by_python", "what is asked at taking_sides.py:5 is true here."),
        ("by_cond", "what is asked at taking_sides.py:10 is true here."),
        ("until_large", "what is asked at taking_sides.py:14 is true"),
    ],
)
def test_the_side_that_was_taken_is_told(code: UsersCode, name: str, said: str) -> None:
    text, _ = code.explained(name, verify=False)
    assert f"Which ops run depends on the numbers of the inputs: {said}" in text
    assert "Where an answer is another, the formulas are others too." in text


def test_how_often_a_loop_went_round(code: UsersCode) -> None:
    text, _ = code.explained("until_large", verify=False)
    assert ", then false once here." in text


def test_a_number_that_python_reads_may_decide(code: UsersCode) -> None:
    text, _ = code.explained("by_a_number", verify=False)
    assert "Python reads numbers that depend on the inputs (at taking_sides.py:19)." in text


@pytest.mark.parametrize("name", ["asserted", "of_a_counter", "of_a_declared_op", "of_the_shape"])
def test_no_side_is_taken(code: UsersCode, name: str) -> None:
    text, _ = code.explained(name, verify=False, x=(2, 2))
    assert "depend" not in text
