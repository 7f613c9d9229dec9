"""The TensorFlow code of a page, pasted and run: it must give what the tape gives."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explain import Subject
from gradcheck.explain.formula.tensorflow_code import tensorflow_code
from gradcheck.explain.trees import read
from gradcheck.ops.declaration import Kind
from tests.ops.calls import USES, Use
from tests.ops.oracle import evaluate, structure_of, within

WORDLESS = frozenset(
    [
        "getitem",  # an index with newaxis or a whole number
        "reduce_prod",  # the product of all the others
        "einsum",  # an ellipsis axis of size 1 that is stretched
        "gather",  # along another axis than the first
        "reduce_sum",  # axes counted from both ends
    ]
)
"""Ops of which some call has no single line of TensorFlow."""


@pytest.mark.parametrize("use", USES, ids=str)
def test_the_code_can_be_pasted(use: Use) -> None:
    import tensorflow as tf

    subject = Subject(use.op, use.op.call(use.shapes, use.args))
    point = evaluate(use.op, use.shapes, use.args)
    kinds = {p.name: p.kind for p in use.op.inputs}
    names = {
        name: tf.constant(value, tf.int32 if kinds.get(name) is Kind.INTEGER else None)
        for name, value in point.values.items()
    }
    names["G"] = (
        [tf.constant(g) for g in point.upstream] if use.op.outputs else tf.constant(point.upstream)
    )
    names["out"] = [tf.constant(o) for o in point.out] if use.op.outputs else tf.constant(point.out)
    lines = subject.code()
    exec("\n".join(lines), {"tf": tf}, names)  # noqa: S102  (the lines of our own page)
    for name in subject.gradients:
        if f"d{name}" not in names:
            assert any(line.startswith(f"# d{name}: ") for line in lines)
            assert use.op.name in WORDLESS
            continue
        found = np.asarray(names[f"d{name}"])
        assert found.shape == use.shapes[name]
        kind = structure_of(use.op, name)
        tape = within(point.tape[name], kind)
        scale = max(1.0, float(np.max(np.abs(tape), initial=0.0)))
        assert np.max(np.abs(within(found, kind) - tape), initial=0.0) <= 1e-7 * scale


def test_what_stands_twice_in_a_formula_gets_a_name() -> None:
    found = tensorflow_code(
        {"dx": read("matmul(inv(x), matmul(x, G)) + mT(matmul(inv(x), matmul(x, G)))")}
    )
    assert found == [
        "t = tf.matmul(tf.linalg.inv(x), tf.matmul(x, G))",
        "dx = t + tf.linalg.matrix_transpose(t)",
    ]


def test_what_has_no_code_says_so() -> None:
    (line,) = tensorflow_code({"dx": read("windows(x, 2, 1, 'SAME')")})
    assert line == "# dx: TensorFlow has no words for windows; see the formula"
