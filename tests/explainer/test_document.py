"""Blocks of a document."""

from __future__ import annotations

import ast

from gradcheck.explainer.document import Code
from gradcheck.ops import all_ops
from tests.explainer.explained import example_of


def test_broken_code_can_still_be_pasted() -> None:
    broken = 0
    for op in all_ops():
        code = Code(tuple(example_of(op).code()))
        lines = code.broken(44)
        broken += len(lines) > len(code.lines)
        pasted, whole = ast.parse("\n".join(lines)), ast.parse("\n".join(code.lines))
        assert ast.dump(pasted) == ast.dump(whole), op.name
    assert broken > 10


def test_a_long_line_is_broken_inside_of_brackets_alone() -> None:
    line = "da = tf.matmul(G, tf.linalg.matrix_transpose(b)) + b"
    assert Code((line,)).broken(80) == [line]
    assert Code((line,)).broken(30) == [
        "da = tf.matmul(G,",
        "    tf.linalg.matrix_transpose(",
        "    b)) + b",
    ]


def test_a_text_in_quotes_and_a_remark_are_broken_as_they_may_be() -> None:
    call = "x = tf.einsum('ij, jk -> ik', first, second)"
    assert Code((call,)).broken(32) == ["x = tf.einsum('ij, jk -> ik',", "    first, second)"]
    assert Code(("# one two three",)).broken(10) == ["# one two", "# three"]
