"""TensorFlow's names that are not public: that they are there, and what is done without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject import private_names
from gradcheck.checker.subject.private_names import Absent, Private, private, replaced
from tests.checker.planted import planted
from tests.checker.test_api import verdicts

X = np.array([[0.3, -0.7, 1.9], [1.1, 0.4, -0.2]])


@pytest.mark.parametrize("name", Private)
def test_this_tensorflow_has_it(tf: Any, name: Private) -> None:
    """Where this fails, a version of TensorFlow has moved something: see `private_names.py`."""
    assert private(name) is not None


def test_nobody_else_names_them() -> None:
    package = Path(gradcheck.__file__).parent
    naming = {p.name for p in package.rglob("*.py") if "tensorflow.python" in p.read_text("utf-8")}
    # (What workers look at, before and after a function of the user's, has a list of its own.)
    assert naming == {"private_names.py", "tensorflow_settings.py"}


def test_what_is_replaced_comes_back(tf: Any) -> None:
    before = private(Private.FAST)
    with pytest.raises(ValueError, match="stop"), replaced(Private.FAST, lambda *_: None):
        raise ValueError("stop")
    assert private(Private.FAST) is before


@pytest.mark.parametrize("name", Private)
def test_verdicts_without_a_private_name(
    tf: Any, name: Private, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keras

    weight = tf.Variable(np.ones((3, 2), np.float32) / 3)
    looked_for = private_names.private

    def without(wanted: Private) -> Any:
        if wanted is name:
            raise Absent(name.value)
        return looked_for(wanted)

    for module in modules_that_use("private"):
        monkeypatch.setattr(module, "private", without)
    low = X.astype(np.float32)
    right = {
        "function": gradcheck.check(tf.tanh, X),
        "loss": gradcheck.check(lambda x: tf.reduce_sum(tf.sin(x) ** 2), X),
        "traced": gradcheck.check(tf.function(lambda x: tf.matmul(x, weight)), low),
        "closure": gradcheck.check(lambda x: tf.tanh(x @ weight), low),
        "layer": gradcheck.check(keras.layers.Dense(2, activation="tanh"), low),
    }
    assert {key: str(each.verdict) for key, each in right.items()} == dict.fromkeys(right, "pass")
    assert len(right["layer"].comparisons) == 3
    assert len(right["closure"].comparisons) == 2
    fixed = tf.constant(weight)
    wrong = planted(lambda x: tf.tanh(x @ fixed), lambda gs: [gs[0] * 1.01])
    assert verdicts(gradcheck.check(wrong, low)) == {"input0": "mismatch"}
    assert verdicts(gradcheck.check(planted(tf.sin, lambda gs: [gs[0] * 1.001]), X)) == {
        "input0": "mismatch"
    }


def modules_that_use(name: str) -> list[Any]:
    import sys

    mine = [m for key, m in sys.modules.items() if key.startswith("gradcheck.")]
    return [module for module in mine if getattr(module, name, None) is private]
