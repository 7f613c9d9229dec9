"""A declared function of several ops is one step where it is called, by whatever name."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.traced import composite_steps

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.explainer.traced.called_functions import Called
    from gradcheck.model import Shape

MODULE = "functions_that_call"
CODE = """
    import keras
    import tensorflow as tf
    from tensorflow import reduce_logsumexp as lse

    def labels_lost(logits):
        labels = tf.constant([[1, 2], [2, 1]])
        return tf.nn.ctc_loss(labels, logits, tf.constant([2, 1]), tf.constant([4, 3]),
                              logits_time_major=False, blank_index=0)

    def frames_first(logits):
        return tf.nn.ctc_loss([[1, 2]], tf.sin(logits), [2], [4], blank_index=0)

    @tf.function
    def by_another_name(x):
        return tf.sin(lse(x * x, axis=1))

    def of_moments(x):
        mean, variance = tf.nn.moments(tf.exp(x), axes=[0])
        return (x - mean) * variance

    def of_keras(x):
        return keras.activations.gelu(x) * keras.losses.mean_squared_error(x, tf.sin(x))[:, None]

    class Lost(keras.layers.Layer):
        def call(self, x):
            return tf.linalg.expm(tf.matmul(x, x, transpose_b=True))

    def alike(x):
        return x + reduce_logsumexp(x)

    def reduce_logsumexp(x):
        return tf.reduce_sum(tf.exp(x)) * 2.0

    def softly(x):
        return tf.math.reduce_variance(x) * 3.0
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{MODULE}.py").write_text(textwrap.dedent(CODE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def steps(name: str, shapes: dict[str, Shape], *, verify: bool = True) -> list[str]:
    """The ops of the page, which is proved."""
    place = f"{MODULE}:{name}"
    question = Question(layer=place) if name[0].isupper() else Question(function=place)
    page, proofs = answer(replace(question, shapes=shapes, verify=verify))
    assert all(proof.holds for proof in proofs)
    assert bool(proofs) is verify
    section = next(s for s in page.sections if s.heading.startswith("Forward"))
    notes = [getattr(block, "note", "") for block in section.blocks]
    return [note.split(": ")[1].split(",")[0] for note in notes if note.startswith("step ")]


@pytest.mark.parametrize(
    ("name", "shapes", "wanted"),
    [
        ("labels_lost", {"logits": (2, 4, 3)}, ["transpose", "ctc_loss"]),
        ("frames_first", {"logits": (4, 1, 3)}, ["sin", "ctc_loss"]),
        ("by_another_name", {"x": (2, 3)}, ["multiply", "reduce_logsumexp", "sin"]),
        ("softly", {"x": (2, 3)}, ["reduce_variance", "multiply"]),
        ("Lost", {"x": (2, 3)}, ["matmul", "expm"]),
    ],
)
def test_a_declared_function_is_one_step(
    name: str, shapes: dict[str, Shape], wanted: list[str]
) -> None:
    assert steps(name, shapes) == wanted


@pytest.mark.parametrize("name", ["of_moments", "of_keras"])
def test_what_the_parts_of_others_call_is_proved(name: str) -> None:
    assert len(steps(name, {"x": (2, 3)})) < 12


def test_what_has_the_name_alone_is_its_ops() -> None:
    assert "reduce_logsumexp" not in steps("alike", {"x": (2, 3)})


def test_a_call_that_gives_other_numbers_is_its_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A declaration that says less than the arguments do is not believed."""

    def without_axis(call: Called) -> tuple[dict[str, object], dict[str, object]]:
        return {k: v for k, v in call.given.items() if k != "axis"} | {"keepdims": False}, {}

    monkeypatch.setattr(composite_steps, "as_declared", without_axis)
    assert "reduce_logsumexp" not in steps("by_another_name", {"x": (2, 3)})
