"""Calls of the library that make no sense are refused before anything runs, with what would."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck import UsageError
from gradcheck.checker.subject import arguments

X = np.ones((2, 3), np.float32)


def test_a_class(tf: Any) -> None:
    import keras

    with pytest.raises(UsageError, match=r"the class LSTM: pass an object of it, LSTM\(…\)"):
        gradcheck.check(keras.layers.LSTM, X)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"call": "training"}, "call is 'training'"),
        ({"structure": "symmetric"}, "structure is 'symmetric'"),
        ({"variables": ["w"]}, "`wrt` says which"),
        ({"cdf": "tf.math.igamma(a, out)"}, "cdf is a function"),
        ({"cdf": lambda z, x: z - x, "checks": "second"}, "for a reverse check"),
        ({"mode": "egaer"}, "did you mean 'eager'"),
    ],
)
def test_options_of_another_kind(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        gradcheck.check(lambda x: x, X, **options)


def test_a_tolerance_as_specs_write_it() -> None:
    result = gradcheck.check(lambda x: x * x, X, tolerance={"rtol": 1e-3, "atol": 1e-3})
    assert result.verdict == "pass"


def test_flags_are_no_inputs(tf: Any) -> None:
    import keras

    model = keras.Sequential([keras.layers.Dense(2), keras.layers.Dropout(0.5, seed=1)])
    result = gradcheck.check(model, X, training=True)
    assert result.comparisons[0].name == "inputs"
    assert result.verdict == "pass"


def test_what_a_model_would_ignore(tf: Any) -> None:
    import keras

    model = keras.Sequential([keras.layers.Dense(2)])
    with pytest.raises(UsageError, match=r"no 'trainin'.*did you mean 'training'"):
        gradcheck.check(model, X, call={"trainin": True})


def test_every_option_is_known_where_inputs_are_named() -> None:
    own = inspect.signature(gradcheck.check).parameters.values()
    assert {p.name for p in own if p.kind is p.KEYWORD_ONLY} == set(arguments._OPTIONS)
