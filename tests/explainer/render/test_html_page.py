"""The page of an explanation: whole, escaped, and the same numbers as the formulas give."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from html import unescape

import pytest

from gradcheck.explainer.document import Document, Paragraph, Section
from gradcheck.explainer.explanation import explain
from gradcheck.explainer.page.example_chain import op_picture
from gradcheck.explainer.render.elements import element, plain_ascii
from gradcheck.explainer.render.html_page import render_page
from gradcheck.explainer.render.notebook import render_html
from gradcheck.explainer.worked_example import Picture, Place
from gradcheck.ops import Op, all_ops
from tests.explainer.explained import example_of, example_page
from tests.explainer.render.test_notebook import looked_at

NASTY = "<script>alert('&\"')</script>\x07"
OPS = all_ops()


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_every_page_is_whole_and_needs_nothing_from_elsewhere(op: Op) -> None:
    picture = partial(op_picture, example_of(op), {})
    html = render_html(replace(example_page(op), picture=picture))
    names = {name for name, _ in looked_at(html).attributes}
    assert not {name for name in names if name in ("src", "href") or name.startswith("on")}
    assert not re.search(r"url\(|@import|<script|https?:", html)
    assert op.is_complex or "number by number" in html
    assert len(html) < 700_000


def test_a_page_is_a_file_of_its_own() -> None:
    page = explain("softmax").page
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert page.isascii()
    assert "default-src 'none'" in unescape(page)
    assert "<h1><code>softmax</code></h1>" in page
    looked_at(page.partition("\n")[2])


def test_names_of_the_user_are_text() -> None:
    place = Place(NASTY, NASTY, ((2,),), back=lambda _: NASTY)
    last = Place("v", NASTY, ((2,),), NASTY, (NASTY,), frozenset([NASTY]), lambda _: NASTY)
    picture = Picture((place, last), NASTY, missing=NASTY)
    section = Section(NASTY, (Paragraph(NASTY),))
    page = render_page(Document(NASTY, NASTY, (section,), picture=lambda: picture))
    assert "<script" not in page
    assert "\x07" not in page
    looked_at(page.partition("\n")[2])


def test_a_strange_expression_is_text() -> None:
    equation = "ij,jk->ik"
    page = explain(expr=f"tf.einsum('{equation}', a, b)", shapes={"a": (2, 2), "b": (2, 2)}).page
    assert "ij,jk-&gt;ik" in page
    assert "->" not in re.sub(r"(?s)<style>.*?</style>", "", page)


def test_attributes_and_children_are_escaped() -> None:
    made = element("p", "a < b", element("b", "&"), title='"<', hidden=True, id=None)
    assert made == '<p title="&quot;&lt;" hidden>a &lt; b<b>&amp;</b></p>'
    assert plain_ascii("∂") == "&#8706;"


def shown_terms(page: str, name: str) -> list[str]:
    """The numbers of the terms of one element, and their sum."""
    part = next(
        one for one in page.split('<div class="gcx-terms')[1:] if f"<p><b>{name}</b>" in one
    )
    cells = re.findall(r"<td>(?:= )?([^<]*)</td></tr>", part.partition("</table>")[0])
    return [unescape(cell) for cell in cells]


def test_the_terms_of_a_number_are_those_of_the_chain_rule() -> None:
    at = {"a": [[1.0, 2.0], [3.0, 4.0]], "b": [[5.0, 6.0], [7.0, 8.0]], "G": [[1, -1], [2, 0.5]]}
    html = explain("matmul", at=at).html
    # dA[0,1] = G[0,0]·B[1,0] + G[0,1]·B[1,1] = 7 − 8
    assert shown_terms(html, "∂L/∂A[0,1]") == ["7", "−8", "−1"]
    # dB[1,0] = G[0,0]·A[0,1] + G[1,0]·A[1,1] = 2 + 8
    assert shown_terms(html, "∂L/∂B[1,0]") == ["2", "8", "10"]
    assert "The values are those that were given." in html


def test_what_lights_up_is_what_it_is_made_of() -> None:
    html = explain("matmul", shapes={"a": (2, 2), "b": (2, 2)}).html
    rule = re.search(
        r"\.(gcx-\w+-0):has\(\.e1:hover[^)]*\)\s*[^{]*?:is\(([^)]*)\)\{background", html
    )
    assert rule is not None
    assert rule[2].split(",") == [".g0", ".g1", ".v0-2", ".v0-3"]


def test_many_terms_are_added_up() -> None:
    html = explain("reduce_sum", shapes={"input_tensor": (2,)}).html
    assert "more terms" not in html
    html = explain("multiply", shapes={"x": (30,), "y": ()}).html
    assert "and 18 more terms" in html


def test_a_page_without_numbers_says_why() -> None:
    for op in all_ops():
        if op.is_complex:
            assert "There are none here: the numbers are complex" in explain(op.name).html
    html = explain("exp", shapes={"x": (20, 20)}).html
    assert "There are none here: x has 400 elements" in html
    assert "The chain rule" in html
    assert 'type="radio"' not in html
