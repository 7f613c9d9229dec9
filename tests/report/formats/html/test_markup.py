from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.report.formats.html.markup import Html, escaped, joined, listed, section, table, tag
from tests.report.formats.html.pages import parse


def test_what_is_no_markup_is_escaped() -> None:
    assert tag("p", 'a < b & "c"') == "<p>a &lt; b &amp; &quot;c&quot;</p>"
    assert tag("p", tag("b", "x")) == "<p><b>x</b></p>"
    assert joined(["<", Html("<br/>")]) == "&lt;<br/>"


def test_markup_that_became_a_text_again_is_escaped() -> None:
    assert tag("p", f"so {tag('b', 'x')}") == "<p>so &lt;b&gt;x&lt;/b&gt;</p>"


def test_attributes() -> None:
    made = tag("a", "x", class_="y", aria_label='a"b', hidden=True, open=False, id=None, viewBox=1)
    assert made == '<a class="y" aria-label="a&quot;b" hidden viewBox="1">x</a>'


@given(st.text())
def test_any_text_is_read_as_it_was(text: str) -> None:
    node = parse(tag("p", text, title=text)).one("p")
    readable = html.unescape(escaped(text))
    assert node.text == node.attributes["title"] == readable
    readable.encode()


@pytest.mark.parametrize("text", ["\ud800", "\x00\x1b[31mx", "\u202e"])
def test_what_is_no_text_is_left_out(text: str) -> None:
    made = tag("p", text)
    made.encode()
    assert "\x1b" not in made
    assert "\u202e" not in made


@pytest.mark.parametrize("text", ["::error::x", "\n::error::x", "##vso[x]", "section_start:1"])
def test_no_text_is_a_command(text: str) -> None:
    made = escaped(text)
    assert text.strip() not in made
    assert html.unescape(made) == text


def test_tables_have_captions_and_headers() -> None:
    tree = parse(table(("a", "b"), [("1", "2"), ("3", "4")], "numbers"))
    assert tree.one("caption").text == "numbers"
    assert [node.attributes.get("scope") for node in tree.all("th")] == ["col", "col", "row", "row"]
    assert [node.text for node in tree.all("td")] == ["2", "4"]


def test_sections_and_lists() -> None:
    tree = parse(section("x", "Title", listed(["a", "<b>"])))
    assert tree.one("section").attributes == {"id": "x", "aria-labelledby": "x-title"}
    assert tree.by_id("x-title").text == "Title"
    assert [node.text for node in tree.all("li")] == ["a", "<b>"]
