"""What `--format latex` prints is a document that LaTeX takes, where there is a LaTeX."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from gradcheck import ops
from gradcheck.explainer.render.latex import render_latex
from tests.explainer.explained import ALL_CALLS, example_page

if TYPE_CHECKING:
    from pathlib import Path

LATEX = shutil.which("pdflatex")


def test_every_page_is_plain_ascii() -> None:
    for call in ALL_CALLS:
        text = render_latex(call.page)
        assert text.isascii(), str(call)
        assert text.endswith(r"\end{document}")


@pytest.mark.skipif(LATEX is None, reason="there is no pdflatex here")
@pytest.mark.parametrize("name", ["matmul", "cholesky", "softmax", "conv2d", "where", "svdvals"])
def test_the_page_of_an_op_compiles(name: str, tmp_path: Path) -> None:
    op = ops.find(name)
    assert op is not None
    page = tmp_path / "page.tex"
    page.write_text(render_latex(example_page(op)), encoding="utf-8")
    done = subprocess.run(
        [str(LATEX), "-interaction=nonstopmode", "-halt-on-error", page.name],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 1000
