"""`gradcheck.explain`: all that the command offers, in Python."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.cli import main

if TYPE_CHECKING:
    from pathlib import Path

NO_SHAPE: Any = "3x"
NO_NAME: Any = np.exp
EXPR = "tf.matmul(x, tf.expand_dims(tf.reduce_sum(x, 0), 1))"


def test_it_prints_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    explanation = gradcheck.explain("matmul", args={"transpose_b": True})
    assert main(["explain", "matmul", "--arg", "transpose_b=true"]) == 0
    assert str(explanation) == capsys.readouterr().out.rstrip("\n")
    for style in ("markdown", "latex", "json"):
        assert main(["explain", "matmul", "--arg", "transpose_b=true", "--format", style]) == 0
        assert getattr(explanation, style) == capsys.readouterr().out.rstrip("\n")


def test_shapes_and_values() -> None:
    assert "∂L/∂y = sum₀(G)" in str(gradcheck.explain("add", shapes={"x": (3, 4), "y": [4]}))
    numbers = gradcheck.explain("multiply", at={"x": [1, 2], "y": np.array([3, 4]), "G": [1, -1]})
    assert "∂L/∂x = G ⊙ y = [3, −4]" in str(numbers)
    assert "= [[8, 12], [8, 12]]" in str(gradcheck.explain(expr=EXPR, at={"x": [[1, 2], [3, 4]]}))


def test_it_displays_itself() -> None:
    explanation = gradcheck.explain("matmul")
    bundle = explanation._repr_mimebundle_()
    assert bundle.keys() == {"text/plain", "text/html", "text/markdown", "text/latex"}
    assert bundle["text/plain"] == str(explanation)
    assert bundle["text/html"] == explanation._repr_html_() == explanation.html
    assert bundle["text/markdown"] == explanation._repr_markdown_() == explanation.markdown
    assert bundle["text/latex"] == explanation._repr_latex_()
    assert bundle["text/latex"].startswith("$$")
    assert repr(explanation) == "<explanation of matmul>"
    assert explanation.data["gradient"]["a"] == "matmul(G, mT(b))"
    assert json.loads(explanation.json)["op"] == "matmul"


def test_it_is_proved_where_that_is_asked_for() -> None:
    assert gradcheck.explain("square").holds is None
    proved = gradcheck.explain(expr=EXPR, shapes={"x": (2, 2)}, verify=True)
    assert proved.holds is True
    assert proved.proofs
    assert "holds" in str(proved)
    assert repr(proved).endswith(", proved>")


def test_a_case_of_a_spec(tmp_path: Path) -> None:
    spec = tmp_path / "guide.yaml"
    spec.write_text(
        "name: turned\nop: matmul\ninputs: {a: [4, 3], b: [4, 5]}\nargs: {transpose_a: true}\n"
    )
    assert "∂L/∂A = B Gᵀ" in str(gradcheck.explain(f"{spec}::turned"))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gradcheck.explain("matmull"), "did you mean 'matmul'?"),
        (gradcheck.explain, "explain('matmul')"),
        (lambda: gradcheck.explain(NO_NAME), "explain takes a text, such as 'exp'"),
        (lambda: gradcheck.explain("exp", expr="x"), "no name and no args beside it"),
        (lambda: gradcheck.explain("matmul", args={"x": 1}), "has no argument 'x'"),
        (lambda: gradcheck.explain("matmul", shapes={"a": NO_SHAPE}), "shapes['a']: a shape is w"),
        (lambda: gradcheck.explain("exp", shapes={"x": (-1,)}), "shapes['x']: sizes are not neg"),
        (lambda: gradcheck.explain("exp", shapes={"x": (10**9,)}), "shapes['x']: "),
        (lambda: gradcheck.explain("exp", at={"x": "one"}), "at['x'] = 'one': a value is numbers"),
        (lambda: gradcheck.explain("exp", at={"x": [[1], [1, 2]]}), "a value is numbers"),
        (lambda: gradcheck.explain("multiply", at={"x": [1]}), "at needs a value for y too"),
        (lambda: gradcheck.explain(expr="tf.exp(x)"), "give each input with shapes={'x': (3, 4)}"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_the_words_of_python(call: Any, said: str) -> None:
    with pytest.raises(gradcheck.UsageError) as caught:
        call()
    assert said in str(caught.value)
    assert "--" not in str(caught.value)


def test_tensorflow_is_not_loaded_for_it() -> None:
    code = "import gradcheck, sys; str(gradcheck.explain('exp')); "
    code += "sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
