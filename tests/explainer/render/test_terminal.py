"""Pages on a terminal: complete, and no wider than it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from gradcheck.explainer.document import Document, Section, Table
from gradcheck.explainer.explanation import explain
from gradcheck.explainer.page.example_chain import op_picture
from gradcheck.explainer.render.terminal import render_text
from gradcheck.ops import all_ops
from tests.explainer.explained import ALL_CALLS, example_of, example_page


def test_every_page_can_be_shown() -> None:
    for call in ALL_CALLS:
        text = render_text(call.page)
        assert "/∂" in text, str(call)
        assert "?" not in text, str(call)


@pytest.mark.parametrize("width", [60, 80, 88])
def test_no_line_is_longer_than_the_terminal_is_wide(width: int) -> None:
    for op in all_ops():
        subject = example_of(op)
        page = replace(example_page(op), picture=partial(op_picture, subject, {}))
        text = render_text(page, width=width)
        # A Jacobian of complex numbers has two parts of each: it is not drawn.
        assert ("\nJacobian" in text) is not op.is_complex, op.name
        assert [line for line in text.splitlines() if len(line) > width] == [], op.name


EXPRESSIONS = (
    (
        "tf.matmul(tf.tanh(tf.matmul(x, w) + b), u)",
        {"x": (2, 3), "w": (3, 4), "b": (4,), "u": (4, 2)},
    ),
    ("tf.reduce_sum(tf.square(x - tf.reduce_mean(x, axis=0, keepdims=True)))", {"x": (3, 4)}),
    (
        "tf.nn.softmax(tf.matmul(q, k, transpose_b=True)) @ v",
        {"q": (2, 3), "k": (4, 3), "v": (4, 3)},
    ),
)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(("expr", "shapes"), EXPRESSIONS)
def test_nor_is_one_of_an_expression(expr: str, shapes: dict[str, Any], width: int) -> None:
    text = render_text(explain(expr=expr, shapes=shapes).document, width=width)
    assert [line for line in text.splitlines() if len(line) > width] == []


@pytest.mark.parametrize("name", ["eigvalsh", "softmax", "cumulative_logsumexp"])
def test_products_without_a_blank_are_broken_behind_a_factor(name: str) -> None:
    document = explain(name, second=True).document
    for width in (60, 80):
        lines = render_text(document, width=width).splitlines()
        assert max(map(len, lines)) <= width
    text = "".join(line.strip() for line in render_text(document, width=60).splitlines())
    whole = "".join(line.strip() for line in render_text(document, width=88).splitlines())
    assert text.replace(" ", "") == whole.replace(" ", "")


def test_a_table_that_does_not_fit_takes_two_lines_a_row() -> None:
    long = "∂L/∂layer_normalization_beta"
    head = ("gradient", "printed as", "formula−tape", "formula−numeric", "tape−numeric", "")
    row = (long, "closed, indices", "1.0e-17", "2.0e-13", "3.0e-13", "holds")
    document = Document("t", "", (Section("Proof", (Table(head, (row, row)),)),), {})
    assert row[0] == render_text(document, width=88).splitlines()[-1].split("  ")[1]
    lines = render_text(document, width=60).splitlines()
    assert max(map(len, lines)) <= 60
    assert [line.split() for line in lines[-2:]] == [
        [long, "closed,", "indices"],
        ["1.0e-17", "2.0e-13", "3.0e-13", "holds"],
    ]
    short = replace(document, sections=(Section("Proof", (Table(head, (("∂L/∂x", *row[1:]),)),)),))
    assert len(render_text(short, width=72).splitlines()) == 6
