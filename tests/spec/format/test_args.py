"""The arguments of a case, and those that its op does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.spec.conftest import Good, Problem

CONV = """op: {op}
inputs: {{input: [1, 4, 4, 1], filters: [2, 2, 1, 1]}}
args: {{strides: 1, padding: VALID,     {arg}}}
"""


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


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        # Of functions without a declaration, the names are known all the same.
        ("op: tf.math.igamma\ninputs: {a: [2], y: [2]}\n", (2, 18), "no input `y`"),
        ("op: tf.math.igamma\ninputs: {a: [2]}\n", (2, 1), "needs `x`"),
        ("op: keras.ops.logsumexp\nargs: {axs: 1}\ninputs: {x: [2]}\n", (2, 8), "`axis`?"),
        ("op: tf.raw_ops.Roll\ninputs: [[2]]\nargs: {shift: 1}\n", (2, 1), "by position"),
        # A declared op has what is declared by its own name, and all by TensorFlow's.
        (CONV.format(op="conv2d", arg="dilations: 1"), (3, 40), "write `op: tf.nn.conv2d`"),
        (CONV.format(op="tf.nn.conv2d", arg="dilatons: 1"), (3, 40), "did you mean `dilations`?"),
    ],
)
def test_names_that_a_function_has_not(
    problem: Problem, text: str, at: tuple[int, int], words: str
) -> None:
    problem(text, at, words)


def test_a_declared_op_takes_all_of_tensorflow_s_arguments(good: Good) -> None:
    case = good(CONV.format(op="tf.nn.conv2d", arg="dilations: 1"))
    assert case.args["dilations"] == 1


def test_a_list_is_by_position(good: Good) -> None:
    case = good("op: tf.math.igamma\ninputs: [[2], [2]]\n")
    assert ([i.name for i in case.inputs], case.by_position) == (["a", "x"], False)
    case = good("op: matmul\ninputs: [[2, 3], [3, 2]]\n")
    assert ([i.name for i in case.inputs], case.by_position) == (["a", "b"], False)
    case = good("function: mypkg:f\ninputs: [[2], [3]]\n", allow=("mypkg",))
    assert ([i.name for i in case.inputs], case.by_position) == (["input0", "input1"], True)
