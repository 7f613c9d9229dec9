"""The tiny parser of index texts."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.ops.language.index_text import parse_index


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("0", (0,)),
        ("0, 1:3, ...", (0, slice(1, 3), ...)),
        (":", (slice(None, None),)),
        ("::-1", (slice(None, None, -1),)),
        ("-1, newaxis", (-1, None)),
        ("tf.newaxis,0,", (None, 0)),
        (2, (2,)),
        ([0, "1:2"], (0, slice(1, 2))),
    ],
)
def test_what_an_index_means(text: Any, index: Any) -> None:
    assert parse_index(text) == index


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "'a' is not an index"),
        ("1:2:3:4", "'1:2:3:4' is not an index"),
        ("0,,1", "empty part"),
        ("", "empty part"),
        ("..., ...", "at most one"),
        (["...", "..."], "at most one"),
        ("::0", "step of '::0' is zero"),
        (True, "not True"),
        (1.5, "not 1.5"),
        ("__import__('os')", "is not an index"),
        ("9" * 30, "is not an index"),
    ],
)
def test_what_is_no_index_is_named(text: Any, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_index(text)
    assert words in str(caught.value)


@given(st.text(max_size=12) | st.text("0123456789:,.- ", max_size=12))
def test_any_text_is_an_index_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert parse_index(text)
