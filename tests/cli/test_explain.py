from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gradcheck import ops
from gradcheck.cli.guessed_case import with_guess
from gradcheck.explainer import compose
from gradcheck.explainer.question import Question

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.explainer import Document
    from gradcheck.explainer.compose import Answer
    from tests.cli.conftest import Gradcheck

EXPR = "tf.matmul(x, tf.expand_dims(tf.reduce_sum(x, 0), 1))"


def test_an_op_is_derived_step_by_step(gradcheck: Gradcheck) -> None:
    said = gradcheck("explain", "matmul")
    assert said.code == 0
    for line in (
        "C[i,j] = Σₖ A[i,k]·B[k,j]",
        "∂L/∂A[m,n] = Σᵢⱼ G[i,j]·∂C[i,j]/∂A[m,n]",
        "∂C[i,j]/∂A[m,n] = Σₖ δ[i,m]·δ[k,n]·B[k,j]",
        "∂L/∂A = G Bᵀ",
        "∂L/∂B = Aᵀ G",
        "da = tf.matmul(G, tf.linalg.matrix_transpose(b))",
        "dC = dA B + A dB",
        "∂L/∂A = G Bᴴ",
    ):
        assert line in said.out
    assert gradcheck("explain", "tf.linalg.matmul") == said


def test_arguments_change_the_formula(gradcheck: Gradcheck) -> None:
    said = gradcheck("explain", "matmul", "--arg", "transpose_b=true").out
    assert "∂L/∂A = G B\n" in said
    assert "∂L/∂B = Gᵀ A" in said
    said = gradcheck("explain", "einsum", "--arg", "equation=ijk,ikl->ijl").out
    assert "∂L/∂a[i,j,k] = Σₗ G[i,j,l]·b[i,k,l]" in said


def test_shapes_say_what_broadcasting_adds(gradcheck: Gradcheck) -> None:
    said = " ".join(gradcheck("explain", "add", "--shape", "x=3,4", "--shape", "y=4").out.split())
    assert "∂L/∂y[m] = Σᵢ G[i,m]" in said
    assert "summed over axis 0, back to shape [4]" in said
    assert "∂L/∂y = sum₀(G)" in said
    assert "dy = tf.reduce_sum(G, 0)" in said


def test_an_expression_is_explained_and_followed_in_numbers(gradcheck: Gradcheck) -> None:
    said = gradcheck("explain", "--expr", EXPR, "--at", "x=[[1,2],[3,4]]")
    assert said.code == 0
    assert "x is used 2 times" in said.out
    assert "∂L/∂x = (G 𝟏ᵀ + 𝟏 Gᵀ) x" in said.out
    assert "= [[8, 12], [8, 12]]" in said.out


@pytest.mark.parametrize(
    "words",
    [
        ["-0.5 * tf.reduce_sum(x**2)", "--shape", "x=3"],
        ["--shape", "x=3", "-0.5 * tf.reduce_sum(x**2)", "--forward"],
        ["--shape", "x=3", "-tf.reduce_sum(x * x) / 2"],
        ["--expr", "-x*tf.reduce_sum(x)", "--shape", "x=3"],
        ["-x*x", "--shape", "x=3"],
        ["x**2 + 1", "--shape", "x=3"],
        ["--shape", "x=3", "--", "-tf.sin(x)"],
    ],
)
def test_an_expression_may_begin_with_a_minus(gradcheck: Gradcheck, words: list[str]) -> None:
    said = gradcheck("explain", *words)
    assert said.code == 0, said.err
    assert "Closed form of ∂L/∂x" in said.out


@pytest.mark.parametrize("word", ["-x", "-q", "--sin", "--shap=3", "--sin(x)"])
def test_an_option_that_there_is_none_is_no_expression(gradcheck: Gradcheck, word: str) -> None:
    said = gradcheck("explain", word)
    assert said.code == 2
    assert "No such option" in said.err


def test_an_op_in_numbers(gradcheck: Gradcheck) -> None:
    said = gradcheck(
        "explain", "multiply", "--at", "x=[1,2]", "--at", "y=[3,4]", "--at", "G=[1,-1]"
    )
    assert "∂L/∂x = G ⊙ y = [3, −4]" in said.out
    assert "a value for y too" in gradcheck("explain", "multiply", "--at", "x=[1,2]").err


def test_a_case_of_a_spec_is_explained(gradcheck: Gradcheck, tmp_path: Path) -> None:
    spec = tmp_path / "guide.yaml"
    spec.write_text(
        "cases:\n"
        "  - name: turned\n"
        "    op: matmul\n"
        "    inputs: {a: [4, 3], b: [4, 5]}\n"
        "    args: {transpose_a: true}\n"
        "  - name: twice\n"
        f"    expr: {EXPR}\n"
        "    inputs: {x: [2, 2]}\n"
    )
    assert "∂L/∂A = B Gᵀ" in gradcheck("explain", f"{spec}::turned").out
    assert "x is used 2 times" in gradcheck("explain", f"{spec}::twice").out
    assert gradcheck("explain", f"{spec}::thrice").code == 2


def test_a_layer_is_run_and_explained(gradcheck: Gradcheck, tmp_path: Path) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "layer: keras.layers.Dense\nname: c\ninit: {units: 2}\ninputs: {inputs: [2, 3]}\n"
    )
    done = gradcheck("explain", f"{spec}::c")
    assert done.code == 0
    assert "∂L/∂kernel = inputsᵀ G" in done.out
    given = ("--layer", "keras.layers.Dense", "--arg", "units=2", "--shape", "inputs=2,3")
    assert gradcheck("explain", *given) == done
    both = gradcheck("explain", "exp", "--layer", "keras.layers.Dense")
    assert both.code == 2
    assert "one thing at a time" in both.err


def test_code_of_a_spec_runs_only_where_it_is_allowed(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w').close()\ndef f(x):\n    return x * x\n"
    (tmp_path / "run_for_explain.py").write_text(code)
    (tmp_path / "s.yaml").write_text("function: run_for_explain:f\nname: c\ninputs: {x: [2]}\n")
    refused = gradcheck("explain", "s.yaml::c")
    assert refused.code == 2
    assert "--allow run_for_explain" in refused.err
    assert not ran.exists()
    done = gradcheck("explain", "s.yaml::c", "--allow", "run_for_explain", "--verify")
    assert done.code == 0
    assert "∂L/∂x = 2·G ⊙ x" in done.out
    assert ran.exists()


@pytest.mark.parametrize("name", ops.names())
def test_every_op_can_be_explained_in_every_format(
    gradcheck: Gradcheck, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Question] = []
    answered: list[Answer] = []

    def answer(question: Question) -> Answer:
        """Whatever the format is, the question is one: its page is made once."""
        asked.append(question)
        if not answered:
            answered.append(honest(question))
        return answered[0]

    honest = compose.answer
    monkeypatch.setattr(compose, "answer", answer)
    assert gradcheck("explain", name).code == 0
    assert gradcheck("explain", name, "--format", "markdown").out.startswith(f"# `{name}`")
    assert gradcheck("explain", name, "--format", "latex").out.isascii()
    page = gradcheck("explain", name, "--format", "html").out
    assert page.startswith("<!doctype html>")
    assert page.isascii()
    assert gradcheck("explain", name, "--format", "svg").out.startswith("<?xml")
    content = json.loads(gradcheck("explain", name, "--format", "json").out)
    assert content["op"] == name
    assert content["gradient"]
    assert list(map(str, asked)) == [str(Question(name))] * 6


def test_without_a_name_the_ops_are_listed_with_their_formulas(gradcheck: Gradcheck) -> None:
    said = gradcheck("explain").out
    for op in ops.all_ops():
        assert f"\n  {op.name} " in f"\n{said}"
    assert "∂L/∂A = G Bᵀ,  ∂L/∂B = Aᵀ G" in said
    assert json.loads(gradcheck("explain", "--format", "json").out)[0]["op"] == ops.names()[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["matmull"], "did you mean 'matmul'?"),
        (["zzzzzz"], "`gradcheck explain` lists them"),
        (["matmul", "--arg", "transpose=true"], "has no argument 'transpose'"),
        (["matmul", "--arg", "transpose_a"], "--arg takes NAME=VALUE"),
        (["matmul", "--shape", "c=3"], "has no input 'c'"),
        (["matmul", "--shape", "a=3,x"], "whole numbers"),
        (["matmul", "--shape", "a=3,4", "--shape", "b=5,6"], "inner sizes must be equal"),
        (["exp", "--at", "x=one"], "a value is numbers"),
        (["--expr", "tf.exp(x)"], "give each input with --shape"),
        (["--expr", "tf.argmax(x)", "--shape", "x=2,2"], "there is nothing to differentiate"),
        (["exp", "--expr", "tf.exp(x)"], "--expr stands by itself"),
    ],
)
def test_what_is_wrong_is_said(gradcheck: Gradcheck, arguments: list[str], said: str) -> None:
    found = gradcheck("explain", *arguments)
    assert (found.code, found.out) == (2, "")
    assert said in found.err


def test_an_explanation_needs_neither_tensorflow_nor_sympy() -> None:
    code = (
        "import sys; from gradcheck.cli import main; main(['explain', 'matmul']); "
        "sys.exit(bool({'tensorflow', 'sympy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 0


@pytest.mark.parametrize("style", ["html", "svg"])
def test_nor_does_a_page_with_its_numbers(style: str) -> None:
    code = (
        "import sys; from gradcheck.cli import main; "
        f"main(['explain', 'softmax', '--format', {style!r}]); "
        "sys.exit(bool({'tensorflow', 'sympy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 0


def test_a_format_is_one_file_and_one_line(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradcheck.cli import explain_formats

    (tmp_path / "shouted.py").write_text(
        "def render(document):\n    return document.title.upper() + '!'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    more = {**explain_formats.FORMATS, "shout": "shouted:render"}
    monkeypatch.setattr(explain_formats, "FORMATS", more)
    code = explain_formats.rendered
    document = explained("tanh")
    assert code(document, "shout") == "TANH!"
    said = gradcheck("explain", "--help").out
    for name in explain_formats.FORMATS.keys() - {"shout"}:
        assert name in said


def explained(name: str) -> Document:
    from gradcheck.explainer.explanation import explain

    return explain(name).document


def test_a_terminal_without_blocks_gets_letters() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "60"}
    done = subprocess.run(
        [sys.executable, "-m", "gradcheck", "explain", "softmax"],
        env=environment,
        check=True,
        capture_output=True,
    )
    said = done.stdout.decode()
    assert "\n  +--..." in said
    assert "█" not in said
    assert max(map(len, said.splitlines())) <= 60


def test_what_cannot_be_drawn_is_said(gradcheck: Gradcheck) -> None:
    found = gradcheck("explain", "tf.raw_ops.Roll", "--format", "svg")
    assert found.code == 2
    assert "no chain to draw" in found.err


def test_formulas_are_proved_and_a_wrong_one_fails(
    gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    said = gradcheck("explain", "cholesky", "--verify")
    assert said.code == 0
    assert "holds" in said.out
    said = gradcheck("explain", "--expr", EXPR, "--shape", "x=2,2", "--verify")
    assert said.out.count("holds") == 6
    op = ops.find("square")
    assert op is not None
    wrong = replace(op, formula={"x": "2.001 * G * conj(x)"})
    monkeypatch.setattr(ops, "find", lambda _: wrong)
    said = gradcheck("explain", "square", "--verify")
    assert said.code == 1
    assert "FAILS" in said.out


def test_a_raw_op_shows_the_registered_gradient(gradcheck: Gradcheck) -> None:
    said = gradcheck("explain", "tf.raw_ops.Roll")
    assert said.code == 0
    assert "no declaration here" in said.out
    assert "_RollGrad" in said.out
    assert "def _RollGrad(op, grad):" in said.out
    assert "manip_grad.py" in said.out
    assert "did you mean 'tf.raw_ops.Roll'" in gradcheck("explain", "tf.raw_ops.Rol").err


def test_what_is_named_alone_is_called_with_arguments_that_were_tried(
    gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def tried(question: Question) -> Question:
        asked.append(question.name or "")
        return replace(question, unguessed="no arguments were found")

    monkeypatch.setattr("gradcheck.cli.explain.with_guess", tried)
    said = gradcheck("explain", "tf.sparse.segment_sum")
    assert said.code == 0
    assert "it makes SparseSegmentSumWithNumSegments, SparseSegmentSum." in " ".join(
        said.out.split()
    )
    assert "registers _SparseSegmentSumGrad" in said.out
    refused = gradcheck("explain", "tf.sparse.segment_sum", "--verify")
    assert refused.code == 2
    assert "give --shape NAME=3,4" in refused.err
    assert asked == ["tf.sparse.segment_sum"] * 2


def test_who_needs_no_guess() -> None:
    for question in (
        Question("matmul"),
        Question("tf.raw_ops.Roll"),
        Question("tf.sparse.segment_sum", shapes={"data": (2,)}),
        Question("no_such_op"),
        Question("specs/x.yaml::case"),
        Question(expr="tf.sin(x)", shapes={"x": ()}),
    ):
        assert with_guess(question) is question


def test_an_undeclared_name_with_its_arguments(gradcheck: Gradcheck) -> None:
    indices = ("--arg", "indices=[0,1,2]", "--arg", "segment_ids=[0,0,1]")
    given = ("--shape", "data=3,2", *indices)
    said = gradcheck("explain", "tf.sparse.segment_sum", *given, "--forward", "--verify")
    assert said.code == 0
    assert "J₁[a,b,c,d]" in said.out
    assert "Proof of forward mode" in said.out


@pytest.mark.parametrize("given", ["sqrt --at x=[1,4]", "maximum --at x=[1,2] --at y=[2,3]"])
def test_whole_numbers_are_proved_as_any_others(gradcheck: Gradcheck, given: str) -> None:
    said = gradcheck("explain", *given.split(), "--verify")
    assert said.code == 0, said.err
    assert "holds" in said.out
