"""Lists as shapes and as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from tests.spec.conftest import Good, Problem


def test_infinite_values_are_numbers(good: Good) -> None:
    (x,) = good("op: exp\ninputs: {x: {values: [-.inf, .nan, 1E5]}}\n").inputs
    np.testing.assert_array_equal(x.values, [-np.inf, np.nan, 1e5])


@pytest.mark.parametrize(
    ("given", "column", "words"),
    [
        ("[3, -4]", 17, "cannot be negative: `-4`"),
        ("[1000000000000]", 13, "too large: at most 134,217,728"),
        ("[65536, 65536, 0x10]", 13, "too large"),
        ("[" + ", ".join(["1"] * 33) + "]", 13, "33 axes are too many"),
        ("{values: [[1, 2], [3]]}", 31, "ragged"),
        ("{values: [[1, 2], 3]}", 31, "ragged"),
        ("{values: [1, two]}", 26, "must hold numbers, not `two`"),
        ("{values: [1, true]}", 26, "mixes booleans and numbers"),
        ("{values: [1, null]}", 26, "not `null`"),
        ("{values: {a: 1}}", 22, "not a mapping"),
    ],
)
def test_what_is_no_shape_or_array(problem: Problem, given: str, column: int, words: str) -> None:
    problem(f"expr: x * x\ninputs: {{x: {given}}}\n", (2, column), words)
