"""Every index in a line is one of its left side, or is summed over in it: on all pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.document import Equation
from gradcheck.explainer.page.expression_page import explain_expression
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.style.unicode_style import _SUBSCRIPTS
from gradcheck.explainer.tangents.one_step import graph_of_op
from gradcheck.explainer.tangents.tangent_page import forward_sections, second_sections
from tests.explainer.explained import Explained, every_op, example_of

if TYPE_CHECKING:
    from gradcheck.explainer.document import Document, Section
    from gradcheck.model import Shape

_LETTERS = {small: plain for plain, small in _SUBSCRIPTS.items() if small != plain}
_SMALL = "".join(_LETTERS)


def _places(text: str) -> list[str]:
    """What stands in the brackets behind names, innermost first."""
    found, before = [], ""
    while text != before:
        before = text
        found += re.findall(r"(?<=[\w\u0304\u0307)₀-₉ₐ-ₜ])\[([^\[\]]*)\]", text)
        text = re.sub(r"\[[^\[\]]*\]", "", text)
    return found


def _letters(place: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]+", place) if len(word) == 1}


def _bound(text: str) -> set[str]:
    """The indices of sums, and of arrays that are given by their elements."""
    found: set[str] = set()
    for match in re.finditer(rf"(?:Σ|\))(?:_\{{([^}}]*)\}}|_(\w)|([{_SMALL},]+))", text):
        inner = match[1] or match[2] or "".join(_LETTERS.get(c, "") for c in match[3])
        found |= {letter for letter in inner if letter.isalpha()}
    return found


def unbound(line: str) -> set[str]:
    """The indices of the right side that nothing gives a meaning to."""
    left, equals, right = line.partition(" = ")
    if not equals:
        return set()
    known = {letter for place in _places(left) for letter in _letters(place)}
    used = {letter for place in _places(right) for letter in _letters(place)}
    return used - known - _bound(right)


def wrong_lines(sections: tuple[Section, ...] | list[Section]) -> list[str]:
    lines = [b.math(UNICODE) for s in sections for b in s.blocks if isinstance(b, Equation)]
    return [line for line in lines if unbound(line)]


@pytest.mark.parametrize(
    ("line", "letters"),
    [
        ("∂L/∂x = unwindows(Σ_d G[n,w,d]·K[a,c,d], x)", {"n", "w", "a", "c"}),
        ("∂L/∂x = unwindows((Σ_d G[n,w,d]·K[a,c,d])_{n,w,a,c}, x)", set()),
        ("y[i] = Σⱼ a[i,j]·x[j]", set()),
        ("y[i] = Σⱼ a[i,j]·x[k]", {"k"}),
        ("y[i] = x[ids[i]] + x[ids[j]]", {"j"}),
        ("∂L/∂x[m,p,q] = Σ_{wda} G[m,w,d]·K[a,q,d]·[p = w + a]", set()),
        ("v̄₁[a] = v̄₂[b]", {"b"}),
    ],
)
def test_what_is_unbound_is_seen(line: str, letters: set[str]) -> None:
    assert unbound(line) == letters


@every_op
def test_every_index_of_a_page_of_an_op_is_bound(calls: list[Explained]) -> None:
    for call in calls:
        assert wrong_lines(call.page.sections) == [], str(call)


@every_op
def test_and_of_its_directions(calls: list[Explained]) -> None:
    subject = example_of(calls[0].op)
    if subject.op.outputs or subject.forward is None:
        return
    if subject.op.is_complex:
        with pytest.raises(UsageError, match="its page has forward mode"):
            graph_of_op(subject)
        return
    graph = graph_of_op(subject)
    names = subject.differentiable
    assert wrong_lines(explain_expression(graph).sections) == []
    assert wrong_lines(forward_sections(graph, names)) == []
    assert wrong_lines(second_sections(graph, names)) == []


EXPRESSIONS: list[tuple[str, dict[str, Shape]]] = [
    ("tf.nn.softmax(tf.einsum('bij,bkj->bik', x, y), axis=1)", {"x": (2, 3, 2), "y": (2, 3, 2)}),
    ("tf.nn.conv1d(tf.nn.conv1d(x, k, 1, 'SAME'), k, 1, 'SAME')", {"x": (1, 4, 2), "k": (2, 2, 2)}),
    ("tf.einsum('ij,jk->ik', x, x) + tf.einsum('ij,jk->ki', x, x)", {"x": (3, 3)}),
    ("tf.linalg.inv(tf.einsum('ij,kj->ik', x, x))", {"x": (2, 3)}),
]


@pytest.mark.parametrize(("text", "shapes"), EXPRESSIONS)
def test_every_index_of_an_expression_is_bound(text: str, shapes: dict[str, Shape]) -> None:
    page: Document
    page, _ = answer(Question(expr=text, shapes=shapes, forward=True, second=True))
    assert wrong_lines(page.sections) == []
