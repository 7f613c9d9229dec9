"""Every gradient has code to paste, by its closed form or by the lines of the page; it runs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import closed_form
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.document import Code
from gradcheck.explainer.page import written_code
from gradcheck.explainer.page.written_code import all_code, code_by_lines

if TYPE_CHECKING:
    from gradcheck.model import Shape

CASES: list[tuple[str, dict[str, Shape]]] = [
    (
        "tf.nn.conv2d(x, k, 1, 'SAME') * tf.reduce_mean(x) + b",
        {"x": (1, 4, 4, 1), "k": (3, 3, 1, 2), "b": (2,)},
    ),
    ("tf.nn.max_pool2d(tf.nn.conv2d(x, k, 1, 'VALID'), 2, 2, 'VALID')",
     {"x": (1, 5, 5, 1), "k": (2, 2, 1, 1)}),
    ("tf.reduce_sum(tf.cos(tf.matmul(x, w)), -1) + x[:, 0]", {"x": (2, 3), "w": (3, 4)}),
    ("x[..., ::-1] + y[1:, None] * x[-1]", {"x": (3, 2), "y": (4, 2)}),
    ("tf.math.reduce_prod(x[1:3] * y)", {"x": (4, 2), "y": (2, 2)}),
    ("tf.exp(-tf.reduce_sum(tf.square(x[:, None] - z[None]), -1))", {"x": (3, 2), "z": (2, 2)}),
    ("tf.matmul(tf.linalg.pinv(A), b)", {"A": (4, 2), "b": (4, 1)}),
    ("tf.linalg.trace(tf.linalg.expm(A))", {"A": (3, 3)}),
    ("tf.boolean_mask(x, [True, False, True]) * y", {"x": (3,), "y": (2,)}),
    ("tf.linalg.solve(A, b) * tf.linalg.det(A)[:, None, None]", {"A": (2, 3, 3), "b": (2, 3, 1)}),
    ("tf.math.unsorted_segment_sum(x, [0, 1, 0], 2) * y", {"x": (3, 2), "y": (2,)}),
    ("tf.concat([tf.sin(x)[:1], y, x[1:]], 0)", {"x": (3, 2), "y": (1, 2)}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes"), CASES, ids=[text[:40] for text, _ in CASES])
def test_every_gradient_has_code_that_holds(text: str, shapes: dict[str, Shape]) -> None:
    page, proofs = answer(Question(expr=text, shapes=shapes, verify=True))
    assert [proof for proof in proofs if not proof.holds] == []
    assert {p.name for p in proofs if p.formula == "code, float64"} == {*shapes}
    blocks = [block for section in page.sections for block in section.blocks]
    lines = [line for block in blocks if isinstance(block, Code) for line in block.lines]
    assert all(any(line.startswith(f"d{name} = ") for line in lines) for name in shapes)


@pytest.mark.parametrize(("text", "shapes"), CASES, ids=[text[:40] for text, _ in CASES])
def test_the_lines_run_in_plain_python(text: str, shapes: dict[str, Shape]) -> None:
    """In a file of one's own there is `tf`, the inputs and G, and nothing of ours."""
    import tensorflow as tf

    graph = read_graph(text, shapes)
    rng = np.random.default_rng(0)
    values = {name: tf.constant(rng.uniform(0.5, 1.5, shape)) for name, shape in shapes.items()}
    whole = compile(ast.parse(text, mode="eval"), "given", "eval")
    with tf.GradientTape() as tape:
        tape.watch(list(values.values()))
        out = eval(whole, {"tf": tf}, dict(values))  # noqa: S307  (it is written above)
    upstream = tf.constant(rng.normal(size=out.shape))
    expected = tape.gradient(out, values, upstream)
    codes = all_code(graph, {name: closed_form(graph, name) for name in shapes})
    by_lines, given = code_by_lines(graph, list(shapes))
    assert given == list(shapes)
    for name in shapes:
        for lines in (codes[name], by_lines):
            known = {"tf": tf, "G": upstream, **values}
            exec("\n".join(lines), known)  # noqa: S102  (it is ours)
            found, wanted = known[f"d{name}"].numpy(), tf.convert_to_tensor(expected[name]).numpy()
            assert found.shape == wanted.shape
            assert np.allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_what_has_no_words_has_no_code() -> None:
    graph = read_graph("tf.gather(x, i, axis=2, batch_dims=1)", {"x": (2, 2, 3), "i": (2, 2)})
    assert code_by_lines(graph, ["x"]) == ([], [])


def test_a_line_that_is_wrong_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = written_code._declared_code

    def wrong(*args: object) -> str:
        found = right(*args)  # type: ignore[arg-type]
        return f"2 * {found}" if found else ""

    monkeypatch.setattr(written_code, "_declared_code", wrong)
    shapes = {"x": (1, 4, 4, 1), "k": (3, 3, 1, 2), "b": (2,)}
    _, proofs = answer(Question(expr=CASES[0][0], shapes=shapes, verify=True))
    failing = {p.name for p in proofs if not p.holds and p.formula.startswith("code")}
    assert failing == {"x", "k"}


def test_a_part_that_was_named_in_a_line_that_was_dropped_is_named_again() -> None:
    from gradcheck.explainer import trees
    from gradcheck.explainer.formula.tensorflow_code import tensorflow_code

    part = "exp(exp(exp(exp(x) + x) + x) + x)"
    lines = tensorflow_code({
        "a": trees.read(f"{part} * {part} + ctc_occupancy({part})"),
        "b": trees.read(f"{part} * {part}"),
    })  # fmt: skip
    assert lines[0].startswith("# a")
    name = lines[1].partition(" = ")[0]
    assert lines[2] == f"b = {name} * {name}"
