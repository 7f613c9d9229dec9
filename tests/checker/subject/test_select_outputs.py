"""The outputs that a case names."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

from gradcheck.checker.subject.select_outputs import select
from gradcheck.errors import UsageError

Pair = namedtuple("Pair", "left right")


@dataclass
class Held:
    left: int
    right: int


@pytest.mark.parametrize("returned", [Pair(1, 2), {"left": 1, "right": 2}, Held(1, 2)])
def test_by_name_and_by_position(returned: Any) -> None:
    assert select(returned, ("right",)) == 2
    assert select(returned, (0,)) == 1
    assert select(returned, (1, "left")) == [2, 1]


def test_sequences_and_single_tensors() -> None:
    assert select([1, (2, 3)], (1,)) == (2, 3)
    assert select(5, (0,)) == 5
    assert select((1, 2), ()) == (1, 2)


@pytest.mark.parametrize(
    ("returned", "wanted", "words"),
    [
        ((1, 2), 2, "names 2, and there are 2: 0, 1"),
        ((1, 2), "left", "names `left`, and there are 2: 0, 1"),
        ({"a": 1}, "b", "there are 1: a"),
        (5, 1, "one output, 0"),
    ],
)
def test_outputs_that_are_not_there(returned: Any, wanted: int | str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        select(returned, (wanted,))
