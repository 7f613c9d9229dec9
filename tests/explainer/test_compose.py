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


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("x + tf.stop_gradient(tf.round(x / s) * s - x)", {"x": (3,), "s": ()}),
        ("tf.clip_by_value(x, lo, hi)", {"x": (4,), "lo": (), "hi": ()}),
        ("x / tf.range(1.0, 4.0)", {"x": (3,)}),
        ("tf.math.floor(x) * y", {"x": (3,), "y": (3,)}),
    ],
)
def test_a_part_without_a_declaration_is_run(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    page, proofs = answer(Question(expr=text, shapes=shapes, verify=True))
    assert page.title == text
    assert proofs
    assert all(proof.holds for proof in proofs)


def test_what_cannot_run_is_refused_where_it_stands() -> None:
    with pytest.raises(UsageError, match="do not broadcast"):
        answer(Question(expr="tf.where(x < y, x, x)", shapes={"x": (2,), "y": (3,)}))
    with pytest.raises(UsageError, match="to_and_fro"):
        answer(Question(expr="tf.to_and_fro(x)", shapes={"x": (3,)}))


def test_two_colons_are_no_case() -> None:
    page, _ = answer(Question("x[:, ::-1] * y", shapes={"x": (2, 3), "y": (2, 3)}))
    assert page.title == "x[:, ::-1] * y"


def test_inputs_may_be_called_as_the_page_calls_them() -> None:
    page, _ = answer(Question("reduce_sum", shapes={"x": (2, 4)}))
    assert page.data["shapes"] == {"input_tensor": [2, 4]}
    page, _ = answer(Question("matmul", shapes={"A": (2, 3), "B": (3, 2)}))
    assert page.data["shapes"] == {"a": [2, 3], "b": [3, 2]}
    with pytest.raises(UsageError, match="has no input 'z': its inputs are"):
        answer(Question("reduce_sum", shapes={"z": (2, 4)}))


def test_whole_numbers_may_be_given_like_arguments() -> None:
    asked = Question("gather", args={"indices": [0, 2]}, shapes={"x": (4, 3)}, verify=True)
    page, proofs = answer(asked)
    assert page.data["shapes"] == {"params": [4, 3], "indices": [2]}
    assert all(proof.holds for proof in proofs)
    with pytest.raises(UsageError, match="has no argument 'place'"):
        answer(Question("gather", args={"place": [0, 2]}))


def test_a_function_of_tensorflow_is_a_name_by_either_option() -> None:
    page, _ = answer(Question(function="tf.nn.l2_loss", shapes={"t": (3,)}))
    assert page.title == "l2_loss"
    with pytest.raises(UsageError, match=r"package\.module:name"):
        answer(Question(function="tf.nn.no_such", shapes={"t": (3,)}))


def test_nothing_comes_back_through_what_is_held() -> None:
    import tensorflow as tf

    x, s = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, s])
        y = x * tf.stop_gradient(s)
    assert tape.gradient(y, s) is None
    text = "x * tf.stop_gradient(s)"
    page, proofs = answer(Question(expr=text, shapes={"x": (3,), "s": ()}, verify=True))
    assert {proof.name for proof in proofs} == {"x"}
    assert "Nothing comes back to s: the tape gives None." in str(page.sections)
    assert "nothing goes back through it" in str(page.sections)


def test_a_sum_that_must_be_positive_definite() -> None:
    """A kernel and the noise on its diagonal: what is not symmetric has no such gradient."""
    text = "tf.linalg.logdet(K + s * tf.eye(3)) + tf.tensordot(y, tf.linalg.matvec(K, y), 1)"
    shapes = {"K": (3, 3), "s": (), "y": (3,)}
    _, proofs = answer(Question(expr=text, shapes=shapes, verify=True))
    assert all(proof.holds for proof in proofs)
