"""What a function drew is held: the page, the tape and the differences are of the same numbers."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.errors import UsageError
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.render.terminal import render_text
from gradcheck.explainer.traced import same_draws

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.traced.ran_ops import Watched


MODULE = "functions_that_draw"
CODE = """
    import random

    import keras
    import numpy as np
    import tensorflow as tf

    GENERATOR = tf.random.Generator.from_seed(3)
    LAYER = keras.layers.Dropout(0.5, dtype="float64")

    @tf.function
    def masked(x):
        return tf.nn.dropout(x * x, 0.5)

    def outside(x):
        return tf.sin(masked(x))

    @tf.function
    def nested(x):
        return tf.map_fn(lambda row: tf.function(tf.nn.dropout)(row, 0.3) * 2.0, tf.exp(x))

    @tf.function
    def branches(x):
        if tf.random.uniform([]) > 0.5:
            return tf.sin(x) * tf.random.uniform([3], dtype=x.dtype)
        return tf.cos(x)

    @tf.function
    def of_a_generator(x):
        return x * GENERATOR.normal(x.shape, dtype=x.dtype)

    @tf.function
    def stateless(x):
        return tf.exp(x) * tf.random.stateless_normal([2, 3], [1, 2], dtype=x.dtype)

    @tf.function
    def of_a_layer(x):
        return LAYER(x * x, training=True)

    @tf.function
    def times_gamma(x):
        return tf.exp(x) * tf.random.gamma([3], 2.0, dtype=x.dtype)

    def of_numpy(x):
        return tf.sin(x) * np.random.normal(size=x.shape) * random.random()

    class Noisy(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.noise = keras.layers.GaussianNoise(0.5)

        @tf.function
        def call(self, x):
            return tf.sin(self.noise(x, training=True))

    RNG = np.random.default_rng(0)

    def from_its_own(x):
        return x * RNG.normal(size=x.shape)

    @tf.function
    def drawn_with_x(x):
        return tf.random.gamma([2], tf.exp(x), dtype=x.dtype)

    @tf.custom_gradient
    def wrong(x):
        def grad(g):
            return 3.0 * g * x
        return x * x, grad

    @tf.function
    def wrong_and_masked(x):
        return tf.nn.dropout(wrong(x), 0.3)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{MODULE}.py").write_text(textwrap.dedent(CODE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def inside(name: str) -> Question:
    return Question(function=f"{MODULE}:{name}", shapes={"x": (2, 3)}, verify=True)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    "name",
    ["masked", "outside", "nested", "branches", "of_a_generator", "stateless", "of_a_layer",
     "times_gamma", "of_numpy"],
)  # fmt: skip
def test_a_mask_inside_of_a_function_is_held(name: str) -> None:
    document, proofs = answer(inside(name))
    assert same_draws.DRAWN in document.lead
    assert {"chain rule", "code, float64"} <= {proof.formula for proof in proofs}
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_what_a_layer_draws_is_held() -> None:
    question = Question(layer=f"{MODULE}:Noisy", shapes={"x": (2, 3)}, verify=True)
    document, proofs = answer(question)
    assert same_draws.DRAWN in document.lead
    assert proofs
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_a_wrong_gradient_under_a_mask_fails() -> None:
    _, proofs = answer(inside("wrong_and_masked"))
    assert proofs
    assert not any(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("name", ["from_its_own", "drawn_with_x"])
def test_what_cannot_be_held_is_told(name: str) -> None:
    with pytest.raises(UsageError, match="not deterministic"):
        answer(inside(name))


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
