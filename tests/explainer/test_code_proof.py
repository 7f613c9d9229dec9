"""The printed code is what runs: in float64, in float32 and where exponentials overflow."""

from __future__ import annotations

import numpy as np
import pytest

import gradcheck
from gradcheck.errors import ExpressionError
from gradcheck.explainer.code_proof import CodePoint, prove_code
from gradcheck.explainer.page_code import run_code
from tests.explainer.explained import Explained, every_op

EXPRESSIONS: dict[str, dict[str, tuple[int, ...]]] = {
    "tf.matmul(tf.nn.relu(tf.matmul(x, w)), v)": {"x": (4, 3), "w": (3, 5), "v": (5, 2)},
    "tf.reduce_sum(tf.square(tf.nn.relu(tf.matmul(tf.nn.relu(tf.matmul(x, w) + b), v) + c) - y))": {
        "x": (4, 3), "w": (3, 5), "b": (5,), "v": (5, 2), "c": (2,), "y": (4, 2),
    },
    "-tf.reduce_sum(y * tf.nn.log_softmax(z))": {"y": (2, 3), "z": (2, 3)},
    "-tf.reduce_sum(y * tf.math.log(tf.nn.softmax(z)))": {"y": (2, 3), "z": (2, 3)},
    "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, z))": {"y": (2, 3), "z": (2, 3)},
    "-tf.reduce_mean(y*tf.math.log(tf.sigmoid(z)) + (1-y)*tf.math.log(1-tf.sigmoid(z)))": {
        "y": (3,), "z": (3,),
    },
    "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, z))": {"y": (3,), "z": (3,)},
    "tf.nn.silu(tf.matmul(x, w)) * tf.matmul(x, v)": {"x": (2, 3), "w": (3, 4), "v": (3, 4)},
    "tf.reduce_sum(tf.nn.softplus(-y * z))": {"y": (3,), "z": (3,)},
    "tf.reduce_sum(tf.math.log_sigmoid(z) * y)": {"y": (3,), "z": (3,)},
    "tf.reduce_logsumexp(x, 1)": {"x": (2, 3)},
    "tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 2.0), v)": {
        "q": (3, 4), "k": (5, 4), "v": (5, 2),
    },
    "tf.where(x > 0.0, x, 0.1 * x)": {"x": (3,)},
    "tf.reduce_sum(tf.where(x > y, 2.0 * x, y))": {"x": (3,), "y": (3,)},
    "tf.gather(x, 1) * 2.0": {"x": (3, 4)},
    "tf.gather(x, [0, 2, 0], axis=1)": {"x": (3, 4)},
    "tf.tanh(x * w + b)": {"x": (3,), "w": (3,), "b": (3,)},
}  # fmt: skip


@every_op
def test_the_code_of_every_op_holds(calls: list[Explained]) -> None:
    for call in calls:
        point = call.point
        run = CodePoint(
            lambda *tensors, call=call: _forward(call, tensors),
            point.values,
            tuple(point.upstream) if call.op.outputs else (point.upstream,),
            bool(call.op.outputs),
            frozenset(n for n in point.values if n in call.subject.gradients and _free(call, n)),
            {},
            float32_only=call.op.float32_only,
        )
        code = dict.fromkeys(call.subject.gradients, call.subject.code())
        for proof in prove_code(run, code):
            # Symmetric inputs have more than one gradient: `off_the_tape` compares those.
            if not call.visible_whole(proof.name):
                continue
            assert proof.holds, (str(call), proof)


def _free(call: Explained, name: str) -> bool:
    from gradcheck.ops.declaration import ANYWHERE

    declared = {p.name: p.domain for p in call.op.inputs}
    return declared.get(name, call.op.inputs[0].domain) == ANYWHERE


def _forward(call: Explained, tensors: tuple[object, ...]) -> object:
    from tests.ops.oracle import forward

    return forward(
        call.op, dict(zip(call.point.values, tensors, strict=True)), call.subject.call.args
    )


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_code_of_expressions_holds(text: str) -> None:
    explained = gradcheck.explain(expr=text, shapes=EXPRESSIONS[text], verify=True)
    assert explained.proofs
    assert [proof for proof in explained.proofs if not proof.holds] == []
    assert any("code, float32" in proof.formula for proof in explained.proofs)


def test_indices_of_any_kind() -> None:
    import tensorflow as tf

    explained = gradcheck.explain("gather_nd")
    for dtype in (tf.int32, tf.int64):
        known = {
            "params": tf.ones([4, 3]),
            "indices": tf.constant([[1], [1], [0]], dtype),
            "G": tf.ones([3, 3]),
        }
        found = run_code(explained.data["code"], known)["dparams"]
        assert found.numpy()[1].tolist() == [2, 2, 2]
    scalar = gradcheck.explain("gather", shapes={"params": (3, 4), "indices": ()})
    known = {"params": tf.ones([3, 4]), "indices": tf.constant(2), "G": tf.ones([4])}
    assert run_code(scalar.data["code"], known)["dparams"].numpy()[2].tolist() == [1, 1, 1, 1]


def test_the_output_is_named_where_the_code_uses_it() -> None:
    for name in ("max_pool2d", "exp", "softmax"):
        assert "      out = tf." in str(gradcheck.explain(name))
    assert "out the output" in str(gradcheck.explain("simple_rnn"))
    assert "out" not in gradcheck.explain("matmul").data["code"]


def _point(text: str) -> CodePoint:
    import tensorflow as tf

    return CodePoint(
        eval(f"lambda x: {text}", {"tf": tf}),  # noqa: S307  (of this file)
        {"x": np.array([0.5, -1.0])},
        (np.ones(2),),
        several=False,
        free=frozenset("x"),
        structures={},
    )


@pytest.mark.parametrize(
    ("function", "line", "failing"),
    [
        ("tf.sigmoid(x)", "dx = G * out", "code, float64"),
        ("tf.sigmoid(x)", "dx = G * tf.matmul(x, x)", "code, float64: "),
        ("tf.sigmoid(x)", "dx = tf.reduce_sum(G)", "its shape"),
        ("tf.square(x)", "dx = tf.cast(2.0, tf.float64) * x", "code, float32: "),
        ("tf.nn.softplus(x)", "dx = G * tf.exp(x) / (1.0 + tf.exp(x))", "code, values of 200"),
    ],
)
def test_code_that_fails_is_found_out(function: str, line: str, failing: str) -> None:
    proofs = prove_code(_point(function), {"x": [line]})
    failed = [proof.formula for proof in proofs if not proof.holds]
    assert failed
    assert failing in failed[0] or failing in failed[-1]


def test_code_that_is_right_holds() -> None:
    proofs = prove_code(_point("tf.nn.softplus(x)"), {"x": ["dx = G * tf.sigmoid(x)"]})
    assert len(proofs) == 3
    assert all(proof.holds for proof in proofs)


def test_nothing_else_is_reached() -> None:
    for line in ("dx = open('x')", "dx = tf.io.read_file('x')", "dx = x.__class__"):
        with pytest.raises(ExpressionError):
            run_code([line], {"x": np.ones(1)})
    with pytest.raises(TypeError, match="no assignment"):
        run_code(["print(1)"], {})


@pytest.mark.parametrize("text", ["tf.linalg.eigh(x)[1]", "tf.linalg.svd(x)[2]"])
def test_vectors_have_the_signs_of_the_formulas(text: str) -> None:
    page = gradcheck.explain(expr=f"{text} * w", shapes={"x": (3, 3), "w": (3, 3)}, verify=True)
    assert page.holds, str(page)
