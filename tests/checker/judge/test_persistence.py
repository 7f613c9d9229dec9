"""What holds for inputs but for their own rounding is no fault of a gradient that relies on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker import limits
from gradcheck.checker.judge import persistence
from gradcheck.checker.judge.persistence import EXCUSE, HIDDEN
from gradcheck.checker.reference.derivatives import Derivatives
from tests.checker.planted import planted, with_gradient
from tests.checker.verdicts import draw, verdict


def _soft_labels(tf: Any, dtype: str) -> tuple[Any, Any]:
    at = tf.constant(draw(3, 4), dtype)
    return at, tf.nn.softmax(tf.constant(draw(3, 4)[::-1], dtype))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
class TestLabels:
    def test_labels_that_add_up_to_one_in_float32(self, tf: Any, dtype: str) -> None:
        at, labels = _soft_labels(tf, dtype)

        def loss(logits: Any) -> Any:
            return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

        result = gradcheck.check(loss, at)
        assert result.verdict == "pass", str(result)
        assert EXCUSE in result.comparisons[0].note
        assert verdict(planted(loss, lambda gs: [1.05 * gs[0]]), at) == "mismatch"

    def test_labels_that_are_an_input(self, tf: Any, dtype: str) -> None:
        at, labels = _soft_labels(tf, dtype)

        def loss(labels: Any, logits: Any) -> Any:
            return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

        assert verdict(loss, labels, at) == "pass"
        assert verdict(planted(loss, lambda gs: [gs[0], 1.05 * gs[1]]), labels, at) == "mismatch"


def test_what_is_wrong_throughout_takes_few_fits(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[int] = []
    right = Derivatives._fits

    def counted(own: Derivatives, columns: Any) -> Any:
        fitted.append(len(columns))
        return right(own, columns)

    monkeypatch.setattr(Derivatives, "_fits", counted)
    rng = np.random.default_rng(0)
    labels, at = rng.dirichlet(np.full(120, 0.05), 8), rng.standard_normal((8, 120))
    logits = tf.constant(at, "bfloat16")

    def loss(logits: Any) -> Any:
        mine = tf.cast(tf.constant(labels, "bfloat16"), logits.dtype)
        return tf.nn.softmax_cross_entropy_with_logits(labels=mine, logits=logits)

    assert verdict(planted(loss, lambda gs: [1.03 * gs[0]]), logits) == "mismatch"
    assert 0 < max(fitted) <= limits.JUMPS_LOOKED_FOR


@pytest.mark.parametrize(("classes", "close"), [(3, 0.1), (3, 1e-3), (40, 0.1)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_labels_that_are_nearly_met(tf: Any, classes: int, close: float, dtype: str) -> None:
    # What is left of the gradient is small, and its labels add up to one as badly as ever.
    at = tf.constant(draw(4, classes), dtype)
    labels = tf.nn.softmax(at + tf.constant(close * draw(4, classes)[::-1], dtype))

    def loss(labels: Any, logits: Any) -> Any:
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    assert verdict(loss, labels, at) == "pass"
    assert verdict(lambda logits: loss(tf.cast(labels, logits.dtype), logits), at) == "pass"
    if dtype == "float32":
        assert verdict(planted(loss, lambda gs: [gs[0], -gs[1]]), labels, at) == "mismatch"
        added = planted(loss, lambda gs: [gs[0], gs[1] + 1e-6])
        assert verdict(added, labels, at) == "mismatch"


def _first_times(factor: float) -> Any:
    return lambda gs: [factor * gs[0], gs[1]]


@pytest.mark.parametrize("seed", range(3))
class TestFaultsAmongLastDigits:
    """Of labels that are met to 1e-3 the gradient is hardly more than what their rounding does."""

    @staticmethod
    def _loss(tf: Any, seed: int, dtype: str) -> tuple[Any, Any, Any]:
        rng = np.random.default_rng(seed)
        at = rng.standard_normal((2, 3))
        labels = tf.nn.softmax(tf.constant(at + 1e-3 * rng.standard_normal(at.shape)))

        def loss(logits: Any, labels: Any) -> Any:
            return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

        return loss, tf.constant(at, dtype), tf.cast(labels, dtype)

    def test_a_factor_of_what_last_digits_do(self, tf: Any, seed: int) -> None:
        loss, *at = self._loss(tf, seed, "float32")
        assert verdict(loss, *at) == "pass"
        for factor in (1 + 1e-5, 1 + 1e-4, 1 + 1e-3):
            faulty = planted(loss, _first_times(factor))
            assert verdict(faulty, *at) == "mismatch"

    def test_one_element_of_it(self, tf: Any, seed: int) -> None:
        loss, *at = self._loss(tf, seed, "float32")
        one = np.zeros((2, 3))
        one[1, 0] = 3e-8
        assert verdict(planted(loss, lambda gs: [gs[0] + one, gs[1]]), *at) == "mismatch"

    def test_what_is_hidden_by_few_bits_is_no_pass(self, tf: Any, seed: int) -> None:
        loss, *at = self._loss(tf, seed, "bfloat16")
        assert verdict(loss, *at) == "pass"
        for factor in (1.05, 1.5):
            faulty = planted(loss, _first_times(factor))
            result = gradcheck.check(faulty, *at)
            assert result.verdict == "inconclusive"
            assert result.comparisons[0].note == HIDDEN


def _many_labels(tf: Any, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.random((2, 400)).astype(np.float32)
    labels /= labels.sum(1, keepdims=True)
    return tf.constant(rng.standard_normal((2, 400)), tf.float32), labels


@pytest.mark.parametrize("seed", range(3))
def test_many_labels(tf: Any, seed: int) -> None:
    at, labels = _many_labels(tf, seed)

    def loss(logits: Any) -> Any:
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    assert verdict(loss, at) == "pass"
    assert verdict(planted(loss, lambda gs: [(1 + 1e-5) * gs[0]]), at) == "mismatch"


def test_more_classes_than_are_moved(tf: Any) -> None:
    at = tf.constant(draw(1, 5000), tf.float32)
    labels = tf.nn.softmax(at[:, ::-1])

    def loss(logits: Any) -> Any:
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    assert verdict(loss, at) == "pass"
    assert verdict(planted(loss, lambda gs: [(1 + 1e-4) * gs[0]]), at) == "mismatch"


def test_a_factor_of_what_nearly_cancels(tf: Any) -> None:
    # Its size is that of the last digits, and so is what it is off; by how much of itself is not.
    x = draw(4).astype(np.float32)
    near = (x * (1 + 2.0**-22)).astype(np.float32)
    half = with_gradient(lambda x: (x - near) ** 2, lambda u, x: u * 3.0 * (x - near))
    assert verdict(lambda x: (x - near) ** 2, x) == "pass"
    assert verdict(half, x) == "mismatch"


def test_what_is_off_at_the_point_alone(tf: Any) -> None:
    # One more than there is, where two numbers are equal: nowhere else.
    x = np.array([0.7, 0.7, -1.3], np.float32)

    def gradient(u: Any, x: Any) -> Any:
        right = u * tf.cos(x)
        return tf.where((x[0] == x[1]), right + 1e-7, right)

    assert verdict(tf.sin, x) == "pass"
    assert verdict(with_gradient(tf.sin, gradient), x) == "mismatch"


def test_a_fault_ten_times_as_large_is_found(tf: Any) -> None:
    at, labels = _soft_labels(tf, "float32")

    def loss(logits: Any) -> Any:
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    assert verdict(planted(loss, lambda gs: [(1 + 2e-6) * gs[0]]), at) == "mismatch"
    assert verdict(planted(loss, lambda gs: [gs[0] + 1e-6]), at) == "mismatch"


def test_no_more_draws_than_it_takes(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at, labels = _soft_labels(tf, "float32")
    beside, draws = persistence._beside, []

    def counted(*arguments: Any) -> Any:
        draws.append(arguments[-1])
        return beside(*arguments)

    def loss(logits: Any) -> Any:
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    monkeypatch.setattr(persistence, "_beside", counted)
    assert verdict(loss, at) == "pass"
    first = [draw for draw in draws if draw < limits.PERSISTENCE_DRAWS]
    assert limits.UNDOING_DRAWS <= len(first) < limits.PERSISTENCE_DRAWS
    assert len(draws) - len(first) == limits.EXPLAINING_DRAWS
    draws.clear()
    assert verdict(planted(tf.sin, lambda gs: [(1 + 1e-7) * gs[0]]), at) == "mismatch"
    assert max(draws) == limits.PERSISTENCE_DRAWS - limits.UNDOING_DRAWS


def test_labels_of_a_loss_of_keras(tf: Any) -> None:
    import keras

    at, labels = _soft_labels(tf, "float32")
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    assert verdict(lambda logits: loss(labels, logits), at) == "pass"
    # (Made float64 on the way, without an op that could be seen.)
    given = labels.numpy()
    assert verdict(lambda logits: loss(given, logits), at) == "pass"
    twice = planted(lambda logits: loss(given, logits), lambda gs: [2 * gs[0]])
    assert verdict(twice, at) == "mismatch"


def test_a_vector_of_unit_length(tf: Any) -> None:
    length = with_gradient(tf.norm, lambda g, x: g * x)
    unit = draw(5) / np.linalg.norm(draw(5))
    assert verdict(length, unit.astype(np.float32)) == "pass"
    assert verdict(length, (1.00001 * unit).astype(np.float32)) == "mismatch"


def test_a_factor_of_what_a_digit_does_is_no_rounding(tf: Any) -> None:
    # It is as small as the last digit, and the same wherever those of the inputs are others.
    near = planted(tf.sin, lambda gs: [(1 + 1e-7) * gs[0]])
    assert verdict(near, draw(5).astype(np.float32)) == "mismatch"


@pytest.mark.usefixtures("tf")
class TestRoundedConstants:
    X = np.array([1.0, 2.0, -3.0], np.float32)
    TENTH = np.float32(0.1)

    def test_a_constant_of_float32_and_one_of_python(self, tf: Any) -> None:
        for tenth in (self.TENTH, np.array(0.1, np.float32), tf.constant(0.1)):
            right = with_gradient(
                lambda x, c=tenth: tf.sin(x) * c, lambda u, x: u * tf.cos(x) * 0.1
            )
            assert verdict(right, self.X) == "pass"

    def test_an_attribute_of_an_op(self, tf: Any) -> None:
        def slopes(factor: float) -> Any:
            return lambda u, x: tf.where(x > 0, u, u * (0.1 * factor))

        leaky = lambda x: tf.nn.leaky_relu(x, 0.1)  # noqa: E731
        assert verdict(with_gradient(leaky, slopes(1)), self.X) == "pass"
        assert verdict(with_gradient(leaky, slopes(1 + 1e-6)), self.X) == "mismatch"

    def test_in_float64_it_is_a_fault(self) -> None:
        x = self.X.astype(np.float64)
        off = with_gradient(lambda x: x * 0.1, lambda u, _x: u * (0.1 * (1 + 1.5e-8)))
        assert verdict(off, x) == "mismatch"
        rounded = with_gradient(lambda x: x * self.TENTH, lambda u, _x: u * 0.1)
        assert verdict(rounded, x) == "mismatch"

    def test_without_such_a_constant_it_is_one_too(self) -> None:
        off = with_gradient(lambda x: x * 0.1, lambda u, _x: u * (0.1 * (1 + 1.5e-8)))
        assert verdict(off, self.X) == "mismatch"
