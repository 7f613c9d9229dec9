"""What is asked for is answered, or refused with a sentence, whatever it is."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from gradcheck.errors import ExplainError, UsageError
from gradcheck.explainer import compose
from gradcheck.explainer.compose import Question, answer, answering, checked_shape, checked_value
from gradcheck.explainer.unknown_op import told_of_unknown
from gradcheck.ops import find
from gradcheck.spec.expression.allowlist import CALLABLE, LAYERS


def test_values_give_their_shapes() -> None:
    at = {"x": np.ones((2, 3)), "G": np.ones((2, 3))}
    document, proofs = answer(Question("exp", at=at))
    assert document.data["shapes"] == {"x": [2, 3]}
    assert proofs == []
    assert document.sections[-1].heading == "In numbers"


def test_an_expression_may_stand_in_the_place_of_a_name() -> None:
    by_name, _ = answer(Question("tf.reduce_sum(x**2)", shapes={"x": (3,)}))
    by_option, _ = answer(Question(expr="tf.reduce_sum(x**2)", shapes={"x": (3,)}))
    assert by_name.data == by_option.data
    assert by_name.data["gradient"] == {"x": "2 * (G * x)"}
    with pytest.raises(UsageError, match="give each input with --shape"):
        answer(Question("tf.reduce_sum(x**2)"))


def test_nothing_is_asked_for() -> None:
    with pytest.raises(UsageError, match="name an op"):
        answer(Question())


def test_what_goes_wrong_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    told = r"cannot be explained \(KeyError: 'a b'\): explain a"
    with pytest.raises(ExplainError, match=told), answering():
        raise KeyError("a b")
    with pytest.raises(UsageError, match="as it is"), answering():
        raise UsageError("as it is")
    monkeypatch.setenv("GRADCHECK_DEBUG", "1")
    with pytest.raises(KeyError), answering():
        raise KeyError("a")


def test_what_takes_too_long_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose, "LONGEST_EXPLANATION", 0.05)
    with pytest.raises(ExplainError, match="it takes too long"), answering():
        time.sleep(60)


def test_shapes_and_values_are_checked() -> None:
    assert checked_shape("x", (2, 3)) == (2, 3)
    with pytest.raises(UsageError, match="--shape x: sizes are not negative"):
        checked_shape("x", (-1,))
    assert checked_value("x", np.array([1, 2]), "[1, 2]").dtype == np.int64
    assert checked_value("G", np.array([1, 2]), "[1, 2]").dtype == np.float64
    with pytest.raises(UsageError, match="--at x=one: a value is numbers"):
        checked_value("x", np.array("one"), "one")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tf.math.top_k", "gradcheck explain top_k"),
        ("tf.keras.layers.LayerNormalization", "gradcheck explain layer_norm"),
        ("tf.keras.layers.Dense", "tf.matmul(x, w) + b"),
        ("keras.layers.Conv2D", "checks layers"),
        ("tf.math.expp", "'tf.math.exp'"),
        ("sum", "'reduce_sum'"),
        ("rnn", "'simple_rnn'"),
        ("batchnorm", "'batch_normalization'"),
        ("huber_loss", "'huber'"),
        ("tf.relu", "'tf.nn.relu'"),
        ("torch.nn.functional.relu", "'relu'"),
        ("tf.linalg.inverse", "'tf.linalg.inv'"),
        ("separable_conv2d", "'tf.nn.separable_conv2d'"),
        ("Conv2DBackpropInput", "'tf.raw_ops.Conv2DBackpropInput'"),
        ("LSTM", "'lstm_cell'"),
        ("tf.nn.separable_conv2d", "explained as it runs"),
        ("keras.layers.Dens", "'keras.layers.Dense'"),
        ("tf.map_fn", "calls a function that it is given"),
        ("tf.scan", "gradcheck explain linear_recurrence"),
        ("dot", "'keras.ops.dot'"),
        ("tf.zzzzz", "lists them"),
        ("zzzzz", "lists them"),
    ],
)
def test_a_name_without_a_page_leads_to_one(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        answer(Question(name))
    assert said in str(caught.value)


def test_keras_is_that_of_tensorflow() -> None:
    for name in ("keras.losses.huber", "keras.activations.mish", "keras.losses.kl_divergence"):
        op = find(f"tf.{name}")
        assert find(name) is op


def test_what_is_offered_has_a_page() -> None:
    for name in sorted({*CALLABLE, *LAYERS}):
        if find(name) is not None:
            continue
        told = told_of_unknown(name)
        for offered in re.findall(r"did you mean '([^']+)'|gradcheck explain (\w+)`", told):
            assert "".join(offered) != name
            assert find("".join(offered)) is not None
