"""Random expressions of declared ops: chain rule and closed forms against TensorFlow's tape."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

from gradcheck import ops
from gradcheck.checker.subject.build_function import tensorflow_name
from gradcheck.explainer import trees
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.derive.chain import bar, closed_form, run_chain
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.spec.expression.expression import parse_tf
from tests.explainer.grammar import OUT_OF_REACH, expressions, ways

if TYPE_CHECKING:
    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.model import Array, Shape

EXAMPLES = int(os.environ.get("GRADCHECK_EXPRESSIONS", "60"))
"""How many random expressions are tried; thousands in a long run."""


def tape(graph: Graph, values: dict[str, Array], upstream: Array) -> tuple[Array, dict[str, Array]]:
    import tensorflow as tf

    tensors = {name: tf.constant(value) for name, value in values.items()}
    expression = parse_tf(graph.text, graph.inputs)
    with tf.GradientTape() as recorded:
        recorded.watch(list(tensors.values()))
        out = expression.evaluate(tensors, tensorflow_name)
    found = recorded.gradient(out, tensors, tf.constant(upstream))
    return out.numpy(), {
        name: np.zeros(graph.inputs[name])
        if gradient is None
        else tf.convert_to_tensor(gradient).numpy()
        for name, gradient in found.items()
    }


def disagreements(text: str, shapes: dict[str, Shape]) -> tuple[list[str], int]:
    """What does not agree with the tape, and how many closed forms there were."""
    graph = read_graph(text, shapes)
    rng = np.random.default_rng(len(text))
    values = {name: np.asarray(rng.uniform(0.2, 0.9, shape)) for name, shape in shapes.items()}
    upstream = np.asarray(rng.standard_normal(graph.shapes[graph.output]))
    out, expected = tape(graph, values, upstream)
    # At 0/0, such as atan2(x - x, x - x), there is nothing to agree on.
    if not all(np.isfinite(gradient).all() for gradient in expected.values()):
        return [], 0
    known = run_chain(graph, values, upstream)
    wrong, closed = [], 0
    if not _same(known[graph.output], out):
        wrong.append("forward")
    for name in shapes:
        if not graph.uses(name) or bar(graph, name) not in known:
            continue
        if not _same(known[bar(graph, name)], expected[name]):
            wrong.append(f"{name}: chain")
        form = closed_form(graph, name)
        if form is None:
            continue
        closed += 1
        if not _same(evaluate(form.node, known, form.indices), expected[name]):
            wrong.append(f"{name}: closed form with indices")
        if form.formula is not None and not _same(trees.run(form.formula, known), expected[name]):
            wrong.append(f"{name}: {trees.text_of(form.formula)}")
    return wrong, closed


def _same(found: Any, expected: Array) -> bool:
    found = np.asarray(found)
    if found.shape != expected.shape:
        return False
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    return bool(np.all(np.abs(found - expected) <= 1e-9 * scale))


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(expressions())
@example(("tf.math.lbeta(tf.square(tf.divide(x, tf.square(x) + 0.5)) + 0.5)", {"x": (1, 2)}))
def test_random_expressions_agree_with_the_tape(case: tuple[str, dict[str, Shape]]) -> None:
    wrong, _ = disagreements(*case)
    assert not wrong


EVERY: dict[str, dict[str, Shape]] = {}
"""By op: each way to use it, and a shape of x for it."""
for _shape in ((), (3,), (2, 3), (2, 2, 2)):
    for _kind in ways("x", _shape, axis=-1, keep=bool(_shape)):
        for _op, _text, _ in _kind:
            EVERY.setdefault(_op, {})[_text] = _shape


def test_every_declared_op_can_stand_in_an_expression() -> None:
    assert set(EVERY) == set(ops.names()) - OUT_OF_REACH


@pytest.mark.parametrize("op", EVERY)
def test_every_op_alone_agrees_with_the_tape(op: str) -> None:
    for text, shape in EVERY[op].items():
        shapes = {"x": shape}
        assert any(step.op.name == op for step in read_graph(text, shapes).steps), text
        wrong, _ = disagreements(text, shapes)
        assert not wrong, text


LAYER_NORM = (
    "g * ((x - tf.reduce_mean(x, -1, keepdims=True)) / "
    "tf.sqrt(tf.math.reduce_variance(x, -1, keepdims=True) + 1e-5)) + b"
)
ATTENTION = "tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 1.7)"


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("tf.matmul(x, tf.expand_dims(tf.reduce_sum(x, 0), 1))", {"x": (2, 2)}),
        ("tf.reduce_sum(tf.square(s * t - target))", {"s": (), "t": (2, 2), "target": (2, 2)}),
        ("tf.nn.softmax(tf.matmul(x, w) + b)", {"x": (2, 3), "w": (3, 4), "b": (4,)}),
        ("tf.linalg.trace(tf.matmul(a, tf.linalg.inv(b)))", {"a": (3, 3), "b": (3, 3)}),
        ("x / tf.sqrt(tf.reduce_sum(x * x, -1, keepdims=True))", {"x": (2, 4)}),
        ("tf.einsum('bij,bjk->bik', x, x)", {"x": (2, 3, 3)}),
        ("tf.nn.relu(x) @ tf.transpose(x)", {"x": (3, 2)}),
        ("tf.gather(x, [0, 0, 1]) * 2", {"x": (3, 2)}),
        ("tf.linalg.trace(tf.add(x, y))", {"x": (2,), "y": (3, 1)}),
        ("tf.where(x > 0.5, tf.sin(x), tf.cos(x))", {"x": (4,)}),
        (LAYER_NORM, {"x": (2, 5), "g": (5,), "b": (5,)}),
        (f"tf.matmul({ATTENTION}, v)", {"q": (2, 3), "k": (4, 3), "v": (4, 5)}),
        ("(x - tf.reduce_mean(x)) / tf.math.reduce_std(x)", {"x": (4,)}),
        ("tf.norm(tf.linalg.matvec(a, x) - b)", {"a": (4, 3), "x": (3,), "b": (4,)}),
        ("x / tf.norm(x)", {"x": (2, 3)}),
        ("tf.exp(x) / tf.reduce_sum(tf.exp(x), -1, keepdims=True)", {"x": (3, 2)}),
        ("-tf.reduce_sum(y * tf.nn.log_softmax(z))", {"y": (2, 3), "z": (2, 3)}),
        ("0.5 * x * (1.0 + tf.tanh(0.79788 * (x + 0.044715 * x ** 3)))", {"x": (3,)}),
        ("tf.reduce_mean(tf.square(x - tf.reduce_mean(x, 0)), 1)", {"x": (3, 4)}),
    ],
)
def test_chosen_expressions_agree_with_the_tape(text: str, shapes: dict[str, Shape]) -> None:
    wrong, closed = disagreements(text, shapes)
    assert not wrong
    assert closed == len(shapes)


def test_a_wrong_closed_form_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcheck.explainer.derive import composition

    monkeypatch.setattr(composition, "derivative", lambda _formula, _name: trees.read("2.001 * x"))
    wrong, _ = disagreements("tf.sin(x) * x", {"x": (3,)})
    assert any("closed" in text for text in wrong)
    assert not any("chain" in text for text in wrong)


@pytest.mark.parametrize(
    ("text", "name", "shapes", "written"),
    [
        (LAYER_NORM, "x", {"x": (2, 5), "g": (5,), "b": (5,)},
         "(G * row(g) - mean(G * g, 1, True) - v6 * matmul(G * v6, column(g)) / 5) / v5"),
        ("x / tf.norm(x)", "x", {"x": (3,)},
         "(G - scalar(matmul(row(G), column(v2))) * v2) / v1"),
        ("tf.exp(x) / tf.reduce_sum(tf.exp(x))", "x", {"x": (3,)},
         "softmax(x, -1) * (G - scalar(matmul(row(G), column(softmax(x, -1)))))"),
        ("tf.reduce_logsumexp(x)", "x", {"x": (3,)}, "G * softmax(x, -1)"),
    ],
)  # fmt: skip
def test_what_a_step_has_computed_is_found_again(
    text: str, name: str, shapes: dict[str, Shape], written: str
) -> None:
    form = closed_form(read_graph(text, shapes), name)
    assert form is not None
    assert form.formula is not None
    assert trees.text_of(form.formula) == written


def test_scalar_functions_are_simplified() -> None:
    graph = read_graph("tf.square(tf.sin(x)) + tf.square(tf.cos(x)) + x", {"x": (3,)})
    form = closed_form(graph, "x")
    assert form is not None
    assert form.formula is not None
    assert trees.text_of(form.formula) == "G"
