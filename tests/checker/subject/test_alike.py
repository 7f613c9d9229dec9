"""Is a twin the same function but for rounding?"""

from __future__ import annotations

import numpy as np

from gradcheck.checker.subject.alike import alike, gradients_alike

LOW = np.dtype(np.float32)
X = np.array([1.0, -2.0, 1e-9])


def low(values: object) -> np.ndarray:
    return np.asarray(values, dtype=np.float32)


def test_rounding_is_alike_and_more_is_not() -> None:
    assert alike([low(X)], [X], LOW)
    assert alike([low(X * (1 + 1e-6))], [X], LOW)
    assert not alike([low(X * (1 + 1e-3))], [X], LOW)
    assert not alike([low(X)], [], LOW)
    assert not alike([low(X)], [X[:2]], LOW)
    # What is not in double precision is no twin.
    assert not alike([low(X)], [low(X)], LOW)


def test_what_is_not_finite_must_be_so_in_both() -> None:
    assert alike([low([np.inf, np.nan, 1.0])], [np.array([np.inf, np.nan, 1.0])], LOW)
    assert not alike([low([np.inf, 1.0])], [np.array([2.0, 1.0])], LOW)
    assert not alike([low([np.nan, 1.0])], [np.array([2.0, 1.0])], LOW)
    # (What is too large for its precision is infinite there.)
    half = np.dtype(np.float16)
    assert alike([np.array([np.inf, 1.0], np.float16)], [np.array([1e6, 1.0])], half)


def test_a_gradient_that_cancels_is_small_against_the_others() -> None:
    assert gradients_alike([low(X), low([3e-8])], [X, np.array([1e-17])], LOW)
    assert not gradients_alike([low(X), low([3e-2])], [X, np.array([1e-17])], LOW)
    assert not gradients_alike([low(X), None], [X, X], LOW)
    assert gradients_alike([None], [None], LOW)
