"""Functions that write variables: the page is about what they compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.explainer.traced.users_code import UsersCode

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
    import tensorflow as tf

    v = tf.Variable([1.0, 2.0, 3.0], dtype=tf.float64)
    mean = tf.Variable([1.0, 2.0, 3.0], dtype=tf.float64, trainable=False)
    count = tf.Variable(0)

    def of_the_input(x):
        v.assign(2.0 * x)
        return v * x

    def added_to(x):
        v.assign(tf.ones([3], x.dtype))
        v.assign_add(x)
        return x * v * v

    def of_itself(x):
        v.assign(v * 2.0)
        return tf.concat([v, x], 0)

    def moving_mean(x):
        mean.assign_sub((mean - x) * 0.1)
        return x / mean

    def by_a_number(x):
        v.assign_add(tf.ones([3], x.dtype))
        return x * v

    single = tf.Variable(1.0)

    def in_single(x):
        single.assign(tf.reduce_sum(x))
        return x * single

    def counted(x):
        count.assign_add(1)
        return x * v * tf.cast(count, x.dtype)
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UsersCode:
    return UsersCode(tmp_path, monkeypatch, "writing_variables", CODE)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("of_the_input", "∂L/∂x = 4·G ⊙ x"),
        ("added_to", ""),
        ("of_itself", "∂L/∂v = 2·part(G, 0, 0, 3)"),
        ("moving_mean", ""),
    ],
)
def test_what_is_read_is_what_was_written(code: UsersCode, name: str, form: str) -> None:
    text, proofs = code.explained(name)
    assert form in text
    assert "TensorFlow's tape does not go through an assignment" in text
    formulas = [proof for proof in proofs if not proof.formula.startswith("code")]
    # (The formulas are what differences say. The tape is not, for one of the inputs at least.)
    assert max(proof.against_numeric for proof in formulas) < 1e-9
    assert max(proof.against_tape for proof in formulas) > 1e-3
    assert all(proof.holds for proof in proofs if proof.formula.startswith("code"))


@pytest.mark.parametrize("name", ["by_a_number", "counted"])
def test_where_the_tape_is_right_all_holds(code: UsersCode, name: str) -> None:
    _, proofs = code.explained(name)
    assert {proof.name for proof in proofs} == {"x", "v"}
    assert all(proof.holds for proof in proofs)


@pytest.mark.parametrize("name", ["by_a_number", "counted"])
def test_along_a_direction_too_what_is_written_is_read(code: UsersCode, name: str) -> None:
    _, proofs = code.explained(name, forward=True, second=True)
    assert any(proof.formula == "the Hessian" for proof in proofs)
    assert [proof for proof in proofs if not proof.holds] == []


def test_through_a_variable_the_page_has_the_hessian(code: UsersCode) -> None:
    text, proofs = code.explained("added_to", forward=True, second=True)
    assert "TensorFlow DIFFERS" in text
    assert "against differences of this page's gradient" in text
    along = [proof for proof in proofs if proof.formula in ("by the lines", "the Hessian")]
    assert len(along) == 3
    assert max(proof.against_numeric for proof in along) < 1e-9


def test_code_of_single_precision_is_right_where_the_tape_is_not(code: UsersCode) -> None:
    _, proofs = code.explained("in_single")
    assert not any(proof.holds for proof in proofs if proof.formula == "chain rule")
    assert all(proof.holds for proof in proofs if proof.formula.startswith("code"))


CUSTOM = """
    import tensorflow as tf

    w = tf.Variable([1.0, 2.0, 3.0], dtype=tf.float64)

    def times(factor):
        @tf.custom_gradient
        def product(x):
            def back(g, variables=None):
                return factor * g * w, [g * x]
            return x * w, back
        return product

    right, wrong = times(1.0), times(2.0)
"""


@pytest.mark.parametrize("name", ["right", "wrong"])
def test_a_gradient_that_is_given_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text, proofs = UsersCode(tmp_path, monkeypatch, "given_variables", CUSTOM).explained(name)
    assert ("DIFFERS from the derivation" in text) == (name == "wrong")
    of_x = [p.holds for p in proofs if p.name == "x" and p.formula == "chain rule"]
    assert of_x == [name == "right"]
    assert all(p.holds for p in proofs if p.name == "w" or p.formula.startswith("code"))
