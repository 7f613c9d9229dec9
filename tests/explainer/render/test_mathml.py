from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from gradcheck.explainer.document import Equation
from gradcheck.explainer.render.mathml import mathml
from gradcheck.explainer.style import LATEX
from tests.explainer.explained import Explained, every_op

KNOWN = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mover", "munder"),
    *("msub", "msup", "msubsup", "mtable", "mtr", "mtd"),
}


def tree(latex: str) -> ET.Element:
    return ET.fromstring(mathml(latex))  # noqa: S314 - our own output


def plain(latex: str) -> str:
    return "".join(tree(latex).itertext())


@every_op
def test_every_formula_is_set(calls: list[Explained]) -> None:
    for call in calls:
        for section in call.page.sections:
            for block in section.blocks:
                if isinstance(block, Equation):
                    found = tree(block.math(LATEX))
                    assert {element.tag for element in found.iter()} <= KNOWN
                    # Nothing of the LaTeX is left over.
                    signs = [e.text for e in found.iter("mo") if e.text != "{"]  # (that of cases)
                    assert not re.search(r"[\\{}&^]", "".join(filter(None, signs)))


@pytest.mark.parametrize(
    ("latex", "tag", "children"),
    [
        (r"\frac{a}{b}", "mfrac", ["a", "b"]),
        (r"x_{i j}", "msub", ["x", "ij"]),
        (r"x^2", "msup", ["x", "2"]),
        (r"x_{1}^{2}", "msubsup", ["x", "1", "2"]),
        (r"\sum_{k} a", "munder", ["∑", "k"]),
        (r"\bar{v}_{1}", "msub", ["v¯", "1"]),
        (r"{A}^{-\mathsf{T}}", "msup", ["A", "−T"]),
    ],
)
def test_what_stands_above_and_below(latex: str, tag: str, children: list[str]) -> None:
    found = next(tree(latex).iter(tag))
    assert ["".join(child.itertext()) for child in found] == children


def test_a_fraction_of_two_functions_is_whole() -> None:
    latex = r"\exp\left(\frac{x}{\left|y\right|}\right)"
    assert plain(latex) == "exp(x|y|)"
    stretched = [e.text for e in tree(latex).iter("mo") if e.get("stretchy") == "true"]
    assert stretched == ["(", "|", "|", ")"]


def test_cases_are_rows() -> None:
    found = tree(r"\begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{else} \end{cases} + 2")
    rows = [["".join(cell.itertext()) for cell in row] for row in found.iter("mtr")]
    assert rows == [["1", "if\u00a0x>0"], ["0", "else"]]
    assert "".join(found.itertext()).endswith("+2")


def test_names_are_escaped() -> None:
    assert "&lt;" in mathml(r"x < y")
    assert plain(r"\text{a <b>} \mathit{in\_put}") == "a <b>in_put"
    assert "<b>" not in mathml(r"\text{a <b>}")


@pytest.mark.parametrize("name", ["dλ", "λ", "λ1", "my_λ"])
def test_greek_letters_within_names_are_those_of_the_terminal(name: str) -> None:
    assert LATEX.symbol(name).isascii()
    assert plain(LATEX.symbol(name)) == name
    assert LATEX.subscript("G", "λ") == r"G_{\lambda}"


@pytest.mark.parametrize("latex", ["", r"\frac", r"\left(", r"\begin{cases} 1", r"x_", "}", r"\no"])
def test_what_is_broken_is_well_formed_all_the_same(latex: str) -> None:
    assert tree(latex).tag == "math"


def test_bars_and_dots_stand_above_their_letters() -> None:
    """As an accent a browser draws the bar into the letter, where v with a bar looks like v."""
    for token, sign in ((r"\bar", "¯"), (r"\dot", "˙")):
        found = mathml(rf"{token}{{v}}_{{1}}")
        assert f'<mo stretchy="false">{sign}</mo></mover>' in found
        assert "accent" not in found
