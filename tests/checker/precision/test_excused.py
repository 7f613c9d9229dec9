"""Which elements the function's own slopes excuse, and what it costs to find out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.budget import Spent
from gradcheck.checker.subject.batching import Calls
from tests.checker.planted import planted

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
FAULTS: dict[str, Callable[[Any], Any]] = {
    "two per cent": lambda g: g * 1.02,
    "its sign": lambda g: -g,
    "one element": lambda g: g * np.where(np.arange(16).reshape(4, 4) == 5, 1.02, 1.0),
}


def layer_off_in_float32(tf: Any, change: Callable[[Any], Any]) -> tuple[Any, list[str]]:
    """A layer whose weight has a wrong gradient in float32 alone, and its calls."""
    import keras

    calls: list[str] = []

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def product(x: Any, w: Any) -> Any:
        def back(g: Any) -> Any:
            of_w = tf.transpose(x) @ g
            return g @ tf.transpose(w), of_w if x.dtype == tf.float64 else change(of_w)

        return x @ w, back

    class Product(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, shape: Any) -> None:
            start = keras.initializers.GlorotUniform(seed=1)
            self.w = self.add_weight(name="w", shape=(shape[-1], 4), initializer=start)

        def call(self, inputs: Any) -> Any:
            calls.append(inputs.dtype)
            return product(inputs, tf.convert_to_tensor(self.w))

    return Product(name="p"), calls


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_layer_takes_few_calls(tf: Any, fault: str) -> None:
    layer, calls = layer_off_in_float32(tf, FAULTS[fault])
    result = gradcheck.check(layer, X)
    told = {c.name: c.verdict.value for c in result.comparisons}
    assert told["p/w"] == "mismatch", describe(result)
    assert "pass" in told.values()
    assert len(calls) < 200


def test_asking_ends_with_the_first_to_blame(tf: Any) -> None:
    calls = 0

    def looked_at(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return tf.sin(x) if float(x[0]) > 0 else tf.cos(x)

    def lose(gradients: list[Any]) -> list[Any]:
        (g,) = gradients
        return [g * 1.001 if g.dtype == tf.float32 else g]

    x = np.linspace(0.3, 1.2, 16, dtype=np.float32)
    gradcheck.check(looked_at, x)
    right, calls = calls, 0
    assert gradcheck.check(planted(looked_at, lose), x).verdict == "mismatch"
    assert calls < right + 250


def test_what_was_blamed_before_the_budget_ends_is_said(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spent(*_: Any) -> Any:
        raise Spent("the budget was spent")

    layer, _ = layer_off_in_float32(tf, FAULTS["its sign"])
    layer.build(X.shape)
    # (That is, before the points of the slopes get calls of their own.)
    monkeypatch.setattr(Calls, "one_by_one", spent)
    result = gradcheck.check(layer, X)
    assert result.verdict == "mismatch", describe(result)
    assert result.decided_by == "low precision"


def test_an_element_that_is_excused_is_not_among_the_failing(tf: Any) -> None:
    def lose(gradients: list[Any]) -> list[Any]:
        (g,) = gradients
        return [g * 1.001 if g.dtype == tf.float32 else g]

    # (From 7.9 on tanh is one in float32.)
    x = np.array([8.5, -9.0, 0.5, 1.0, 1.5, 2.0, 0.3], np.float32)
    (told,) = gradcheck.check(planted(tf.tanh, lose), x).comparisons
    assert told.verdict == "mismatch"
    assert {element.index for element in told.worst}.isdisjoint({(0,), (1,)})
