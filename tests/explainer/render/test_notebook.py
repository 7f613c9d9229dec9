from __future__ import annotations

import re
from html.parser import HTMLParser

from gradcheck.explainer.document import (
    Bullets,
    Code,
    Document,
    Equation,
    Paragraph,
    Section,
    Table,
)
from gradcheck.explainer.explanation import explain
from gradcheck.explainer.render.notebook import render_formulas, render_html
from gradcheck.ops import find
from tests.explainer.explained import ALL_CALLS, example_page
from tests.report.formats.html.test_style import luminance


class Balance(HTMLParser):
    """Notes whether every element that is opened is closed again, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def looked_at(html: str) -> Balance:
    found = Balance()
    found.feed(html)
    assert found.open == []
    return found


def test_every_page_is_whole_and_needs_nothing_from_elsewhere() -> None:
    for call in ALL_CALLS:
        html = render_html(call.page)
        names = {name for name, _ in looked_at(html).attributes}
        assert not names & {"src", "href", "onclick", "onload"}
        assert not re.search(r"url\(|@import|<script|https?:", html)


NASTY = "<script>alert('&')</script>"


def test_whatever_is_said_is_text() -> None:
    blocks = (
        Paragraph(NASTY),
        Equation(lambda style: style.words(NASTY), NASTY),
        Code((NASTY,)),
        Bullets((NASTY,)),
        Table((NASTY,), ((NASTY,),)),
    )
    html = render_html(Document(NASTY, NASTY, (Section(NASTY, blocks),)))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 10
    looked_at(html)


def test_colours_are_those_of_the_page_around() -> None:
    """Light or dark: a half-transparent grey, and three that can be seen on white and on black."""
    html = pictured("matmul")
    styles = "".join(re.findall(r"(?s)<style>.*?</style>", html))
    marks = set(re.findall(r"#[0-9a-f]{3,6}\b", styles))
    assert len(marks) == 3
    for mark in marks:
        for ground in ("#ffffff", "#111111"):
            low, high = sorted([luminance(mark), luminance(ground)])
            assert (high + 0.05) / (low + 0.05) > 3.9, (mark, ground)
    washes = set(re.findall(r"rgba?\([^)]*,([.0-9]*)\)", styles))
    assert max(map(float, washes)) < 0.5
    assert set(re.findall(r"[^-]color:\s*(\w+)", styles)) <= {"inherit"}


def pictured(name: str) -> str:
    return explain(name).html


def test_a_notebook_shows_the_pictures() -> None:
    html = pictured("matmul")
    looked_at(html)
    headings = re.findall(r"<h4>(.*?)</h4>", html)
    for heading in ("The chain rule", "Where each number comes from", "Step by step, in numbers"):
        assert heading in headings
    assert html.count('type="radio"') == 3 * 4 + 4 * 5
    assert "<script" not in html


def test_the_formulas_are_the_gradients_alone() -> None:
    op = find("matmul")
    assert op is not None
    formulas = render_formulas(example_page(op))
    assert formulas == (
        r"$$\begin{gathered} \frac{\partial L}{\partial A} = G\, {B}^{\mathsf{T}} \\ "
        r"\frac{\partial L}{\partial B} = {A}^{\mathsf{T}}\, G \end{gathered}$$"
    )
    assert render_formulas(Document("t", "", (Section("Shapes", ()),))) == ""
