"""What a function drew is held: the page, the tape and the differences are of the same numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.errors import UsageError
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.render.terminal import render_text
from gradcheck.explainer.traced import same_draws

if TYPE_CHECKING:
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.traced.ran_ops import Watched


def asked(text: str) -> Question:
    return Question(expr=text, shapes={"x": (2, 3)}, verify=True)


@pytest.mark.parametrize(
    "text",
    [
        "tf.reduce_sum(tf.nn.dropout(x * x, 0.5, seed=3))",
        "tf.nn.dropout(tf.sin(x), 0.4) + tf.random.normal([2, 3], dtype=x.dtype) * x",
    ],
)
def test_a_mask_is_held_and_proved(text: str) -> None:
    document, proofs = answer(asked(text))
    assert same_draws.DRAWN in document.lead
    assert "∂L/∂x = " in render_text(document)
    wanted = {"chain rule", "closed", "code, float64", "code, float32"}
    assert wanted <= {proof.formula for proof in proofs}
    assert all(proof.holds for proof in proofs)


def test_another_mask_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcheck.explainer.traced import traced_answer

    def other(problem: Problem, watched: Watched) -> tuple[Problem, Watched]:
        """What the page is about is drawn with one seed, what is compared with it with another."""
        _, seen = same_draws.drawn_again(problem, watched)
        return same_draws.drawn_again(replace(problem, seed=problem.seed + 5), watched)[0], seen

    monkeypatch.setattr(traced_answer, "drawn_again", other)
    _, proofs = answer(asked("tf.nn.dropout(tf.exp(x), 0.5, seed=3)"))
    assert not any(proof.holds for proof in proofs if proof.formula == "closed")


def test_the_random_numbers_of_the_process_go_on_as_they_would() -> None:
    import tensorflow as tf

    def drawn(*, explained: bool) -> np.ndarray:
        tf.random.set_seed(11)
        first = tf.random.uniform([2]).numpy()
        if explained:
            answer(asked("tf.nn.dropout(x, 0.5)"))
        return np.concatenate([first, tf.random.uniform([2]).numpy()])

    np.testing.assert_array_equal(drawn(explained=True)[:2], drawn(explained=False)[:2])
    assert np.array_equal(drawn(explained=True), drawn(explained=False))


def test_a_sample_that_depends_on_its_input_is_no_number_that_is_held() -> None:
    with pytest.raises(UsageError, match="not deterministic"):
        answer(asked("tf.random.gamma([2], tf.exp(x), seed=3, dtype=x.dtype)"))
