"""The samples by name: how a text names one, and that a seed decides what it draws."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.model import Sample
from gradcheck.ops.samples.registry import SAMPLES, parse_sample
from tests.ops.samples.drawing import drawn


@pytest.mark.parametrize("name", SAMPLES)
def test_a_seed_decides_what_is_drawn(name: str) -> None:
    for complex_ in (False, True):
        first = drawn(name, (4, 4), 1, complex_=complex_)
        np.testing.assert_array_equal(first, drawn(name, (4, 4), 1, complex_=complex_))
        assert not np.array_equal(first, drawn(name, (4, 4), 2, complex_=complex_))


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ("normal", Sample("normal")),
        (" uniform( -1 , 2e0 ) ", Sample("uniform", (-1.0, 2.0))),
        ("uniform", Sample("uniform")),
        ("uniform()", Sample("uniform")),
        ("integers(0, 5)", Sample("integers", (0.0, 5.0))),
    ],
)
def test_parse(text: str, sample: Sample) -> None:
    assert parse_sample(text) == sample


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("unifrom(0, 1)", "did you mean 'uniform'?"),
        ("zzz", "there are normal, uniform"),
        ("uniform(0)", "takes 2 numbers, got 1"),
        ("uniform(0, x)", "takes numbers, not 'x'"),
        ("uniform(0, inf)", "takes numbers, not 'inf'"),
        ("uniform(2, 1)", "low must be below high"),
        ("normal(1, 2)", "takes no parameters"),
        ("loguniform(-1, 1)", "low must be positive"),
        ("integers(0.5, 2)", "whole numbers"),
        ("integers(0, 1e30)", "32 bits"),
        ("uniform(0, 1", "is not a sample"),
        ("", "is not a sample"),
        ("normal; import os", "is not a sample"),
    ],
)
def test_what_is_no_sample_is_explained(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_sample(text)
    assert words in str(caught.value)


@given(st.text(max_size=20))
def test_any_text_is_a_sample_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert parse_sample(text).name in SAMPLES


@pytest.mark.parametrize(("name", "shape"), [("spd", (2, 3)), ("lower", (3,)), ("probability", ())])
def test_a_shape_that_does_not_fit_is_explained(name: str, shape: Any) -> None:
    with pytest.raises(ValueError, match="the shape is"):
        drawn(name, shape, 0)
