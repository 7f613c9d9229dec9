"""What `--format latex` prints is a document that LaTeX takes, where there is a LaTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gradcheck.explainer.document import Document, Equation, Section
from gradcheck.explainer.explanation import explain
from gradcheck.explainer.page.example_chain import op_picture
from gradcheck.explainer.page.worked_numbers import op_numbers
from gradcheck.explainer.render.latex import render_latex
from tests.explainer.explained import ALL_CALLS, Explained
from tools.identity_list import IDENTITIES, SHAPES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LATEX = shutil.which("pdflatex")
BEGIN, END = r"\begin{document}", r"\end{document}"


def test_every_page_is_plain_ascii() -> None:
    for call in ALL_CALLS:
        text = render_latex(call.page)
        assert text.isascii(), str(call)
        assert text.endswith(r"\end{document}")


def test_numbers_are_plain_ascii_too() -> None:
    at = {"x": [-1.5, 2.0], "G": [1.0, -1.0]}
    assert "-1.5" in explain("square", at=at).latex
    assert explain("square", at=at).latex.isascii()
    assert explain(expr="tf.square(x)", at=at).latex.isascii()


needs_latex = pytest.mark.skipif(LATEX is None, reason="there is no pdflatex here")


PAGE = "Next page: "


def compiled(pages: Mapping[str, str], folder: Path) -> set[str]:
    """Pages as one document that LaTeX takes; those of which a line runs over the margin."""
    bodies = [
        rf"\typeout{{{PAGE}{name}}}" + page.partition(BEGIN)[2].rpartition(END)[0]
        for name, page in pages.items()
    ]
    head = render_latex(Document("", "", ())).partition(BEGIN)[0]
    path = folder / "page.tex"
    path.write_text(head + BEGIN + "\n".join(bodies) + END, encoding="utf-8")
    done = subprocess.run(
        [str(LATEX), "-interaction=nonstopmode", "-halt-on-error", path.name],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=600,
    )
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said.rpartition(PAGE)[2][:60] + said[-2000:]
    assert (folder / "page.pdf").stat().st_size > 1000
    parts = re.split(rf"^{PAGE}(.*)$", said, flags=re.MULTILINE)
    assert parts[1::2] == list(pages)
    of_page = zip(parts[1::2], parts[2::2], strict=True)
    return {name for name, text in of_page if re.search(r"^Overfull", text, re.MULTILINE)}


WIDE = {"huber", "hinge", "layer_norm", "gru_cell"}
"""Ops with cases or fractions that LaTeX does not break, and that are wider than its page."""


@needs_latex
def test_the_pages_of_every_op_compile(tmp_path: Path) -> None:
    """(In one document: LaTeX takes longer to begin than for a page.)"""
    pages = {f"{i} {c.op.name}": render_latex(with_numbers(c)) for i, c in enumerate(ALL_CALLS)}
    assert {name.split()[1] for name in compiled(pages, tmp_path)} <= WIDE


def with_numbers(call: Explained) -> Document:
    numbers = op_picture(call.subject, {}).numbers
    if numbers is None or call.op.outputs:
        return call.page
    at = {name: numbers.values[name] for name in call.subject.call.shapes}
    return replace(call.page, sections=(*call.page.sections, op_numbers(call.subject, at)))


@needs_latex
def test_the_pages_of_expressions_compile(tmp_path: Path) -> None:
    pages = {}
    for number, row in enumerate(IDENTITIES):
        shapes = {name: SHAPES[name] for name in row.names}
        pages[str(number)] = explain(expr=row.expr, shapes=shapes).latex
    # (What stands above a line of a fraction cannot be broken: one such page runs over.)
    assert len(compiled(pages, tmp_path)) < len(pages) // 10


@needs_latex
def test_a_page_that_is_wrong_does_not_compile(tmp_path: Path) -> None:
    wrong = render_latex(Document("wrong", "", (Section("", (Equation(lambda _: r"\frac{1"),)),)))
    with pytest.raises(AssertionError):
        compiled({"wrong": wrong}, tmp_path)
