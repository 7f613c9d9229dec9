"""What the functions of formulas refuse: sizes that would hurt, and what is no number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.ops.language.bounds import MAX_ELEMENTS
from gradcheck.ops.language.vocabulary import FUNCTIONS

HUGE = 2**14
assert HUGE**2 == 2 * MAX_ELEMENTS


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ones", ([HUGE, HUGE],)),
        ("zeros", ([HUGE, HUGE],)),
        ("ones", ([1] * 33,)),
        ("zeros", ([-1],)),
        ("eye", (HUGE,)),
        ("broadcast_to", (1.0, [HUGE, HUGE])),
        ("unreduce", (1.0, [HUGE, HUGE])),
        ("outer", (np.zeros(HUGE), np.zeros(HUGE))),
        ("diag", (np.zeros(HUGE),)),
        ("matmul", (np.zeros((HUGE, 1)), np.zeros((1, HUGE)))),
        ("maximum", (np.zeros((HUGE, 1)), np.zeros(HUGE))),
        ("where", (np.zeros((HUGE, 1)), np.zeros(HUGE), 0)),
        ("power", (np.zeros((HUGE, 1)), np.zeros(HUGE))),
        ("take", (np.zeros((1, HUGE)), np.zeros(HUGE, int))),
        ("einsum", ("i,j->ij", np.zeros(HUGE), np.zeros(HUGE))),
        ("einsum", ("...i,j->...ij", np.zeros(HUGE), np.zeros(HUGE))),
        ("einsum", ("...,i->i...", np.zeros(HUGE), np.zeros(HUGE))),
        ("concatenate", ([np.broadcast_to(0.0, (HUGE, HUGE // 2))] * 2,)),
        ("stack", ([np.broadcast_to(0.0, (HUGE, HUGE // 2))] * 2,)),
    ],
)
def test_sizes_are_bounded_before_anything_is_allocated(name: str, arguments: Any) -> None:
    with pytest.raises(ValueError, match=r"too large|not negative"):
        FUNCTIONS[name](*arguments)


@pytest.mark.parametrize("value", ["text", None, [{}], object(), 2**70, len])
def test_only_numbers_are_taken(value: Any) -> None:
    with pytest.raises(TypeError, match="expected numbers"):
        FUNCTIONS["exp"](value)
