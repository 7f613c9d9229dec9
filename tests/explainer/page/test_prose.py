"""Sentences use the symbols of their page: a letter means there what it means in the formulas."""

from __future__ import annotations

import re

import pytest

from gradcheck.explainer.document import Bullets, Paragraph
from gradcheck.ops import Op, all_ops
from tests.explainer.explained import example_of, example_page

RULE = re.compile(r"sum\((\w) ⊙ \((\w) (\w)\)\) = sum\(\(\2ᵀ \1\) ⊙ \3\) = sum\(\(\1 \3ᵀ\) ⊙ \2\)")


def _sentences(op: Op) -> list[str]:
    said = []
    for section in example_page(op).sections:
        for block in section.blocks:
            said += [block.text] if isinstance(block, Paragraph) else []
            said += list(block.items) if isinstance(block, Bullets) else []
    return said


@pytest.mark.parametrize("op", all_ops(), ids=lambda op: op.name)
def test_a_parameter_is_called_by_its_symbol(op: Op) -> None:
    subject = example_of(op)
    others = {n for n in subject.call.shapes if len(n) == 1 and subject.symbols[n] != n} - {"a"}
    others -= {*subject.symbols.values(), *subject.definitions}
    for text in _sentences(op):
        words = {*re.findall(r"(?<![\w`'])[A-Za-z](?![\w'`])", text)}
        words |= {word[1:] for word in re.findall(r"\bd[A-Za-z]\b", text)}
        assert not words & others, text


def test_a_rule_for_any_matrices_has_letters_of_its_own() -> None:
    found = 0
    for op in all_ops():
        subject = example_of(op)
        taken = {*subject.symbols.values(), *subject.definitions, "G", subject.loss}
        for text in _sentences(op):
            match = RULE.search(text)
            assert match or "factor moves over to the other side transposed, a" not in text
            if match:
                found += 1
                assert len({*match.groups()}) == 3
                assert not {*match.groups()} & taken, (op.name, match[0])
    assert found > 10


def test_arguments_are_on_the_page() -> None:
    """Sentences speak of x, formulas have its number: somewhere it says which."""
    from gradcheck.explainer.explanation import explain

    assert "x = 2.0    (an argument)" in str(explain("zeta"))
    assert "clip_norm = 1.0" in str(explain("clip_by_norm"))
    assert "axis = 0    (an argument)" in str(explain("reduce_max", args={"axis": 0}))
    assert "an argument)" not in str(explain("matmul"))
