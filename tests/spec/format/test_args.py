"""The arguments of a case, and those that its op does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.spec.conftest import Problem


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("expr: x\nargs: {k: 1}\ninputs: {x: [2]}\n", (2, 1), "takes no `args`"),
        ("op: square\nargs: {axis: 1}\ninputs: {x: [2]}\n", (2, 8), "no arg `axis`"),
        ("op: square\nargs: {x: 1}\ninputs: {x: [2]}\n", (2, 8), "put it under `inputs`"),
        (
            "op: matmul\nargs: {transpose_a: on}\ninputs: {a: [2, 2], b: [2, 2]}\n",
            (2, 21),
            "must be true or false, not `on`",
        ),
        ("op: reshape\ninputs: {tensor: [2, 2]}\n", (1, 1), "needs the arg `shape`"),
        (
            "op: reduce_sum\nargs: {axis: foo}\ninputs: {input_tensor: [2]}\n",
            (2, 8),
            "args do not fit `reduce_sum`: axis",
        ),
    ],
)
def test_args_that_do_not_fit(problem: Problem, text: str, at: tuple[int, int], words: str) -> None:
    problem(text, at, words)
