"""Blocks of a document."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explain.document import Code
from tests.explain.explained import every_example, example_of

if TYPE_CHECKING:
    from gradcheck.ops import Op


@every_example
def test_broken_code_can_still_be_pasted(op: Op) -> None:
    code = Code(tuple(example_of(op).code()))
    pasted = "\n".join(code.broken(44))
    assert ast.dump(ast.parse(pasted)) == ast.dump(ast.parse("\n".join(code.lines)))


def test_a_long_line_is_broken_inside_of_brackets_alone() -> None:
    line = "da = tf.matmul(G, tf.linalg.matrix_transpose(b)) + b"
    assert Code((line,)).broken(80) == [line]
    assert Code((line,)).broken(30) == [
        "da = tf.matmul(G,",
        "    tf.linalg.matrix_transpose(b)) + b",
    ]
