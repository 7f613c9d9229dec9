"""Indices and labels: drawn as whole numbers, and written as a textbook writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.render.terminal import render_text
from tests.explainer.traced.users_code import UsersCode, flat

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
    import tensorflow as tf

    def bag(ids, table):
        return tf.reduce_mean(tf.gather(table, tf.maximum(ids, 0)), 0)

    def labelled(logits, labels):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
"""


@pytest.mark.parametrize("at", [None, [1, 4, 1]])
def test_an_embedding_is_what_a_textbook_prints(at: list[int] | None) -> None:
    asked = Question(
        layer="keras.layers.Embedding",
        args={"input_dim": 5, "output_dim": 2},
        shapes={"x": (3,)},
        at={} if at is None else {"x": np.array(at)},
        verify=True,
    )
    document, proofs = answer(asked)
    text = flat(render_text(document))
    assert "v₁ = take(embeddings, x, 0) (step 1: gather, 3×2)" in text
    assert "∂L/∂embeddings[i,j] = Σₖ G[k,j]·[i = x[k]]" in text
    assert "where" not in text
    assert {"code, float64", "closed"} <= {proof.formula for proof in proofs}
    assert all(proof.holds for proof in proofs)


@pytest.mark.parametrize(
    ("name", "shapes", "form"),
    [
        ("bag", {"ids": (3,), "table": (4, 2)}, "[i,j] = (Σₖ G[j]·[i = ids[k]]) / 3"),
        ("labelled", {"logits": (2, 3), "labels": (2,)}, "one_hot(labels, 3)"),
    ],
)
def test_what_takes_whole_numbers_alone_is_given_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    shapes: dict[str, tuple[int, ...]],
    form: str,
) -> None:
    code = UsersCode(tmp_path, monkeypatch, "whole_numbers", CODE)
    text, proofs = code.explained(name, shapes=shapes)
    assert form in text
    assert all(proof.holds for proof in proofs)


@pytest.mark.parametrize(
    ("layer", "args", "said"),
    [
        ("keras.layers.Dropout", {"rate": 0.5}, "It draws random numbers"),
        ("keras.layers.BatchNormalization", {}, "All of it is batch_norm_training"),
    ],
)
def test_a_layer_in_training(layer: str, args: dict[str, float], said: str) -> None:
    asked = Question(
        layer=layer, args={**args, "training": True}, shapes={"x": (4, 2)}, verify=True
    )
    document, proofs = answer(asked)
    text = flat(render_text(document))
    assert "(training=True): as it runs" in text
    assert said in text
    assert proofs
    assert all(proof.holds for proof in proofs)
