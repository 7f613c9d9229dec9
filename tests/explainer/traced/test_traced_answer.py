"""Functions, layers and cases of specs are explained by running them, and proved."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.errors import FunctionError, SpecError, UsageError
from gradcheck.explainer.compose import Answer, Question, answer
from gradcheck.explainer.render.terminal import render_text
from tests.explainer.traced.users_code import UsersCode

if TYPE_CHECKING:
    from pathlib import Path

MODULE = "explained_functions"
CODE = """
    import tensorflow as tf

    @tf.function
    def inner(x):
        return tf.nn.softmax(x)

    def attended(x, w, temperature=1.0):
        return tf.reduce_sum(inner(x / temperature) * w, axis=-1)

    @tf.custom_gradient
    def wrong_square(x):
        def grad(g):
            return 3 * g * x
        return tf.square(x), grad

    @tf.custom_gradient
    def right_square(x):
        def grad(g):
            return 2 * g * x
        return tf.square(x), grad

    @tf.custom_gradient
    def single_square(x):
        def grad(g):
            return 2 * g * x * tf.ones([3])
        return tf.square(x), grad

    @tf.custom_gradient
    def raising_square(x):
        def grad(g):
            raise ValueError("not written yet")
        return tf.square(x), grad

    def two(x):
        return tf.sin(x), tf.cos(x)

    def logarithm(x):
        return tf.math.log(x) + tf.sparse.segment_sum(tf.sqrt(x), [0, 1, 2], [0, 1, 2])

    def single(x):
        return x * tf.constant([0.1, 0.2, 0.7])

    def enlarged(x):
        return tf.image.resize(tf.exp(tf.reshape(x, [1, 2, 3, 1])), [3, 2])

    def looped(x):
        for _ in tf.range(3):
            x = tf.sin(x) if tf.reduce_sum(x) > 0 else tf.cos(x)
        return x

    def many(x):
        for _ in range(100):
            x = tf.sin(x)
        return x

    def spectrum(x):
        return tf.abs(tf.tanh(tf.signal.fft(tf.cast(x, tf.complex128))))

    def same(x):
        return x

    def raising(x):
        raise ValueError("no such thing")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / f"{MODULE}.py").write_text(textwrap.dedent(CODE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def function(name: str, *, verify: bool = True, **shapes: tuple[int, ...]) -> Answer:
    shapes = shapes or {"x": (3,)}
    return answer(Question(function=f"{MODULE}:{name}", shapes=shapes, verify=verify))


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("rows", [1, 3])
def test_a_function_is_derived_and_proved(rows: int) -> None:
    document, proofs = function("attended", x=(rows, 2), w=(2,))
    text = render_text(document)
    assert "softmax" in text
    assert rows == 1 or "∂L/∂w = Pᵀ G" in text
    assert {proof.name for proof in proofs} == {"x", "w"}
    assert all(proof.holds for proof in proofs)
    assert {"chain rule", "closed", "code, float64"} <= {proof.formula for proof in proofs}


@pytest.mark.usefixtures("package")
def test_a_gradient_of_ones_own_that_is_wrong_is_found() -> None:
    document, proofs = function("wrong_square")
    assert "takes the gradient that is written at" in document.lead
    assert "∂L/∂x = 2·G ⊙ x" in render_text(document)
    assert not any(proof.holds for proof in proofs)
    assert proofs[0].against_numeric < 1e-10 < proofs[0].against_tape


@pytest.mark.usefixtures("package")
def test_a_wrong_gradient_is_said_to_be_wrong_in_words() -> None:
    document, proofs = function("wrong_square", verify=True)
    text = " ".join(render_text(document).split())
    assert "DIFFERS from the derivation: at x[" in document.lead
    assert "0.5 of it; 3 of 3 elements differ." in document.lead
    assert "Differences of the function are on the side of the derivation." in text
    assert proofs[0].said
    # Nor is it passed over where nothing is proved.
    document, _ = function("wrong_square", verify=False)
    assert "DIFFERS from the derivation" in document.lead
    document, proofs = function("right_square")
    assert "At this point the two are the same" in document.lead
    assert "DIFFERS" not in render_text(document)
    assert not any(proof.said for proof in proofs)


@pytest.mark.usefixtures("package")
def test_a_gradient_of_ones_own_that_takes_float32_alone() -> None:
    document, proofs = function("single_square")
    assert "Its gradient takes float32 alone" in document.lead
    assert "the two are the same" in document.lead
    assert proofs
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_a_gradient_of_ones_own_that_raises_is_told() -> None:
    document, _ = function("raising_square", verify=False)
    assert "It raises ValueError: not written yet" in document.lead


@pytest.mark.usefixtures("package")
def test_an_input_that_there_is_none_is_not_taken_for_another() -> None:
    with pytest.raises(FunctionError, match=r"has no input `xx`.*did you mean `x`"):
        function("attended", xx=(2, 2), w=(2,))
    with pytest.raises(FunctionError, match="has no input `a`"):
        function("attended", a=(2, 2), b=(2,))
    with pytest.raises(FunctionError, match="has no input"):
        answer(Question(layer="keras.layers.Attention", shapes={"a": (1, 2, 2), "b": (1, 2, 2)}))


@pytest.mark.usefixtures("package")
def test_of_several_outputs_the_first() -> None:
    document, proofs = function("two")
    assert "returns 2 tensors; the first" in document.lead
    assert "cos(x)" in render_text(document)
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_a_point_is_found_at_which_it_is_finite_and_what_has_no_rule_is_named() -> None:
    document, proofs = function("logarithm")
    text = render_text(document)
    assert document.data["without_rule"] == {"SparseSegmentSum": ["J1"]}
    assert "registers _SparseSegmentSumGrad" in text
    assert proofs
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_one_that_takes_float32_alone() -> None:
    document, proofs = function("single")
    assert "float32 alone" in document.lead
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_loops_and_branches_are_as_they_ran() -> None:
    document, proofs = function("looped")
    assert len(document.data["forward"]) == 3
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_what_no_page_holds_is_listed_and_never_said_to_be_proved() -> None:
    document, _ = function("many", verify=False)
    assert "here are its ops" in render_text(document)
    with pytest.raises(UsageError, match="no formula to evaluate"):
        function("many")


@pytest.mark.usefixtures("package")
def test_a_function_of_a_spectrum_has_formulas() -> None:
    _, proofs = function("spectrum")
    assert "chain rule" in {proof.formula for proof in proofs}
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_what_is_wrong_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="no op of it goes from an input to the output"):
        function("same")
    with pytest.raises(UsageError, match="raised ValueError: no such thing"):
        function("raising")
    with pytest.raises(FunctionError, match="has no `nothing`"):
        function("nothing")
    with pytest.raises(FunctionError, match="needs `w`"):
        function("attended", x=(2, 2))
    with pytest.raises(UsageError, match=r"written package\.module:name"):
        answer(Question(function="mean_of_mine", shapes={"x": (2,)}))
    with pytest.raises(UsageError, match="give each of its inputs"):
        answer(Question(layer="keras.layers.Dense"))
    with pytest.raises(UsageError, match=r"did you mean keras\.layers\.Dense"):
        answer(Question(layer="keras.layers.Dens", shapes={"x": (2, 3)}))
    with pytest.raises(UsageError, match="one thing at a time"):
        answer(Question("exp", layer="keras.layers.Dense"))


@pytest.mark.parametrize(
    ("layer", "shapes", "args"),
    [
        ("Dense", {"x": (2, 3)}, {"units": 2, "activation": "tanh"}),
        ("LayerNormalization", {"x": (2, 3)}, {}),
        ("Conv2D", {"x": (1, 3, 3, 1)}, {"filters": 1, "kernel_size": 2}),
        ("SimpleRNN", {"x": (1, 2, 2)}, {"units": 2}),
    ],
)
def test_the_weights_of_a_layer_are_inputs(
    layer: str, shapes: dict[str, tuple[int, ...]], args: dict[str, object]
) -> None:
    asked = Question(layer=f"tf.keras.layers.{layer}", shapes=shapes, args=args, verify=True)
    document, proofs = answer(asked)
    assert document.data["without_rule"] == {}
    assert len({proof.name for proof in proofs}) >= 3
    assert [proof for proof in proofs if not proof.holds] == []


SPEC = """
    cases:
      - {name: undeclared, op: tf.raw_ops.SparseSegmentSum, inputs: {data: [2, 2]},
         args: {indices: [0, 1], segment_ids: [0, 0]}}
      - {name: expression, expr: "tf.square(tf.math.segment_sum(x, [0, 0]))", inputs: {x: [2, 2]}}
      - {name: layer, layer: keras.layers.Dense, init: {units: 1}, inputs: {inputs: [2, 2]}}
      - {name: mine, function: "explained_functions:attended", inputs: {x: [2, 2], w: [2]}}
"""


def test_cases_of_every_kind(package: Path) -> None:
    (package / "all.yaml").write_text(textwrap.dedent(SPEC))
    for name in ("undeclared", "expression", "layer"):
        _, proofs = answer(Question(f"all.yaml::{name}", verify=True))
        assert proofs
        assert all(proof.holds for proof in proofs)
    with pytest.raises(SpecError, match="is not allowed"):
        answer(Question("all.yaml::mine"))
    document, _ = answer(Question("all.yaml::mine", allow=(MODULE,)))
    assert document.title == f"{MODULE}:attended"


@pytest.mark.usefixtures("package")
def test_the_steps_in_numbers() -> None:
    at = {"x": np.array([1.0, 2.0, 4.0])}
    document, _ = answer(Question(function=f"{MODULE}:logarithm", at=at))
    assert document.sections[-1].heading == "In numbers"
    assert "[1, 1.41421, 2]" in render_text(document)


def test_what_computes_in_float32_inside_holds_to_the_digits_of_that() -> None:
    asked = Question(
        layer="keras.layers.Resizing", args={"height": 3, "width": 3}, shapes={"x": (1, 2, 2, 1)}
    )
    document, proofs = answer(replace(asked, verify=True))
    assert "It computes in float32 inside" in " ".join(render_text(document).split())
    assert proofs
    assert all(proof.holds for proof in proofs)
    assert max(proof.against_tape for proof in proofs) > 1e-12


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_layer_that_draws_is_explained_with_what_it_draws_each_time(seed: int) -> None:
    asked = Question(
        layer="keras.layers.RandomFlip",
        args={"seed": seed},
        shapes={"x": (1, 3, 3, 1)},
        verify=True,
    )
    _, proofs = answer(asked)
    assert proofs
    assert all(proof.holds for proof in proofs)


@pytest.mark.usefixtures("package")
def test_a_way_back_that_takes_no_float64_is_asked_in_what_it_takes() -> None:
    document, proofs = answer(
        Question(function=f"{MODULE}:enlarged", shapes={"x": (2, 3)}, verify=True)
    )
    assert "It computes in float32 inside" in " ".join(render_text(document).split())
    assert proofs
    assert all(proof.holds for proof in proofs)


FACTORED = """
    import tensorflow as tf

    def evidence(k, y):
        factor = tf.linalg.cholesky(k)
        a = tf.linalg.cholesky_solve(factor, y[:, None])
        fit = 0.5 * tf.reduce_sum(y[:, None] * a)
        return fit + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
"""


@pytest.mark.parametrize("at", [{}, {"k": np.array([[2.0, 0.5], [0.5, 1.0]])}])
def test_a_matrix_that_is_factored_is_symmetric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: dict[str, np.ndarray]
) -> None:
    code = UsersCode(tmp_path, monkeypatch, "factored", FACTORED)
    text, proofs = code.explained("evidence", k=(2, 2), y=(2,), at=at, second=True)
    assert "k is symmetric here, and moves so" in text
    assert len(proofs) > 8
    assert [proof for proof in proofs if not proof.holds] == []
