"""An index that puts axes in takes no part: it is read as the op that puts them in."""

from __future__ import annotations

import pytest

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.render.terminal import render_text


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (":, tf.newaxis", (3, 1)),
        ("None", (1, 3)),
        ("..., None", (3, 1)),
        ("None, :, None", (1, 3, 1)),
        ("None, ..., None, None", (1, 3, 1, 1)),
        ("..., None, :", (1, 3)),
    ],
)
def test_a_new_axis_is_no_slice(index: str, shape: tuple[int, ...]) -> None:
    asked = Question(expr=f"tf.exp(x)[{index}]", shapes={"x": (3,)}, verify=True)
    document, proofs = answer(asked)
    text = render_text(document)
    assert "expand_dims" in text
    assert "put_slice" not in text
    assert f"expand_dims, {'×'.join(map(str, shape))})" in text
    assert [proof for proof in proofs if not proof.holds] == []


def test_beside_a_part_it_is_an_index() -> None:
    asked = Question(expr="tf.exp(x)[1:, None]", shapes={"x": (3,)}, verify=True)
    document, proofs = answer(asked)
    assert "getitem" in render_text(document)
    assert [proof for proof in proofs if not proof.holds] == []
