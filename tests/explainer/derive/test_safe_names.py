"""Inputs may be called anything: what means something else on the page gets another name there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gradcheck
from gradcheck.explainer.derive.safe_names import renamed

NAMES = ["G", "L", "I", "e", "pi", "inf", "out", "i", "j", "v", "t", "dx", "x_bar", "v1", "d", "δ"]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_proved(name: str) -> None:
    text = f"tf.reduce_sum(tf.exp(0.3 * {name}) * x + tf.matmul({name}, x))"
    explained = gradcheck.explain(expr=text, shapes={name: (3, 3), "x": (3, 3)}, verify=True)
    assert explained.title == text
    assert explained.holds, str(explained)


def test_what_was_renamed_is_said() -> None:
    page = str(gradcheck.explain(expr="tf.exp(G * x)", shapes={"G": (3,), "x": (3,)}))
    assert "The input G is written G1 here, in the code too: G is the upstream gradient." in page
    assert "∂L/∂x = G ⊙ G₁ ⊙ exp(G₁ ⊙ x)" in page
    assert "Names" not in str(gradcheck.explain(expr="tf.exp(x)", shapes={"x": (3,)}))
    assert "∂ℓ/∂L" in str(gradcheck.explain(expr="tf.exp(L)", shapes={"L": (3,)}))


def test_values_find_their_inputs() -> None:
    page = gradcheck.explain(expr="tf.square(e)", at={"e": np.array([3.0])})
    assert "∂L/∂e₁ = 2·e₁ ⊙ G = [6]" in str(page).replace("G ⊙ 2·e₁", "2·e₁ ⊙ G") or "[6]" in str(
        page
    )


def test_new_names_are_new() -> None:
    found = renamed(["G", "G1", "G2", "e", "x"])
    assert found.names == {"G": "G3", "e": "e1"}
    assert len({*found.names.values()}) == len(found.names)


@pytest.mark.parametrize("names", list(itertools.permutations("abG", 2)))
def test_letters_of_an_equation_are_no_inputs(names: tuple[str, str]) -> None:
    one, other = names
    shapes = {one: (2, 3), other: (3, 2)}
    for page in (
        gradcheck.explain("einsum", args={"equation": "ab,bG"}, shapes=shapes, verify=True),
        gradcheck.explain(expr=f"tf.einsum('ab,bG', {one}, {other})", shapes=shapes, verify=True),
    ):
        assert page.holds
        assert f"[{one}," not in str(page)
        assert "is written" in str(page)
