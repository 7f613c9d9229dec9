"""The TensorFlow code of a page, pasted and run: it must give what the tape gives."""

from __future__ import annotations

from typing import Any

from gradcheck.checker.subject.phases import HAS_PHASE
from gradcheck.explainer.formula.tensorflow_code import tensorflow_code
from gradcheck.explainer.trees import read
from gradcheck.ops.declaration import Kind
from tests.explainer.explained import Explained, every_op

WORDLESS = frozenset(
    [
        "getitem",  # an index with newaxis or a whole number
        "ctc_loss",  # the sum over all alignments
        "extract_patches",  # windows, added back
        "reduce_prod",  # the product of all the others
        "einsum",  # an ellipsis axis of size 1 that is stretched
        "gather",  # along another axis than the first
        "reduce_sum",  # axes counted from both ends
    ]
)
"""Ops of which some call has no single line of TensorFlow."""


def pasted(call: Explained) -> dict[str, Any]:
    """The names after the code of a page has run on TensorFlow's own tensors."""
    import tensorflow as tf

    dtype = tf.float32 if call.op.float32_only else None
    kinds = {p.name: p.kind for p in call.op.inputs}
    names: dict[str, Any] = {
        name: tf.constant(value, tf.int32 if kinds.get(name) is Kind.INTEGER else dtype)
        for name, value in call.point.values.items()
    }
    for name, value in (("G", call.point.upstream), ("out", call.point.out)):
        names[name] = (
            [tf.constant(v) for v in value] if call.op.outputs else tf.constant(value, dtype)
        )
    # (One namespace: what a loop computes in each step is looked up there.)
    names["tf"] = tf
    lines = call.subject.code()
    if call.op.tf in HAS_PHASE:  # (the sign of a vector is free: that of the point is taken)
        lines = [line for line in lines if not line.startswith("out = ")]
    elif any(line.startswith("out = ") for line in lines):
        del names["out"]
    exec("\n".join(lines), names)  # noqa: S102  (lines of our own page)
    return names


@every_op
def test_the_code_can_be_pasted(calls: list[Explained]) -> None:
    for call in calls:
        names = pasted(call)
        for name in call.subject.gradients:
            if f"d{name}" not in names:
                lines = call.subject.code()
                assert any(line.startswith(f"# d{name}: ") for line in lines), str(call)
                assert call.op.name in WORDLESS, str(call)
                continue
            error = call.off_the_tape(name, names[f"d{name}"])
            assert error <= max(1e-7, call.tolerance), (str(call), name)


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
