"""Dotted names into what is installed."""

from __future__ import annotations

import pytest

from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.look_up import keras, look_up
from gradcheck.errors import UsageError
from gradcheck.model import Verdict


def test_names_of_both() -> None:
    import keras as installed
    import tensorflow as tf

    assert look_up("tf.linalg.matmul") is tf.linalg.matmul
    assert look_up("keras.ops.softmax") is installed.ops.softmax
    assert look_up("tf.newaxis") is None, "which it is, and is there"
    # The two have not quite the same names.
    assert look_up("tf.keras.losses.log_cosh") is installed.losses.log_cosh


@pytest.mark.parametrize("name", ["tf.nothing", "keras.ops.nothing", "tf.keras.ops.nothing"])
def test_what_this_version_has_not_is_skipped(name: str) -> None:
    with pytest.raises(Ended) as caught:
        look_up(name)
    assert caught.value.verdict is Verdict.SKIPPED


def test_keras_must_compute_with_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keras.backend.backend", lambda: "jax")
    with pytest.raises(UsageError, match="KERAS_BACKEND=tensorflow"):
        keras()
