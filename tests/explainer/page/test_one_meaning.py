"""On a page a symbol has one meaning: two names are never written alike, with directions too."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import bar
from gradcheck.explainer.render.terminal import render_text
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.tangents.one_step import graph_of_op
from gradcheck.explainer.tangents.tangent_page import _setting
from tests.explainer.explained import Explained, every_op, example_of

if TYPE_CHECKING:
    from gradcheck.explainer import Subject


def symbols_of(subject: Subject) -> list[str]:
    """How every name of the page of an op is written."""
    setting = subject.setting(UNICODE)
    names = [*subject.call.shapes, *subject.definitions]
    names += ["out", "G"] if not subject.op.outputs else []
    inputs = [f"d{name}" for name in subject.gradients]
    return [setting.symbol(name) for name in (*names, *inputs)]


@every_op
def test_names_of_an_op_are_written_differently(calls: list[Explained]) -> None:
    for call in calls:
        counts = Counter(symbols_of(call.subject))
        assert max(counts.values()) == 1, (str(call), counts.most_common(2))


@every_op
def test_directions_have_the_symbols_of_the_page(calls: list[Explained]) -> None:
    subject = example_of(calls[0].op)
    if subject.op.outputs or subject.forward is None:
        return
    if subject.op.is_complex:
        with pytest.raises(UsageError, match="its page has forward mode"):
            graph_of_op(subject)
        return
    graph, page = graph_of_op(subject), subject.setting(UNICODE)
    setting = _setting(graph, UNICODE)
    for name in subject.call.shapes:
        assert setting.symbol(name) == page.symbol(name), name
    assert setting.symbol(graph.output) == page.symbol("out")
    names = [*graph.shapes, *(f"{name}_dot" for name in graph.shapes)]
    names += [bar(graph, name) for name in graph.inputs]
    counts = Counter(map(setting.symbol, names))
    assert max(counts.values()) == 1, counts.most_common(2)


NAMED = ["clip_by_norm", "cosine_similarity", "scaled_dot_product_attention"]


@pytest.mark.parametrize("name", NAMED)
def test_what_is_said_of_a_direction_names_the_symbols(name: str) -> None:
    page, _ = answer(Question(name, second=True, forward=True))
    own = example_of_name(name)
    text = " ".join(render_text(page).split())
    for parameter in own.differentiable:
        symbol = own.symbols[parameter]
        assert UNICODE.change_symbol(symbol) in text, (parameter, symbol)
        if symbol != parameter:
            assert f"∂L/∂{parameter}" not in text


def example_of_name(name: str) -> Subject:
    from gradcheck.ops import find

    op = find(name)
    assert op is not None
    return example_of(op)
