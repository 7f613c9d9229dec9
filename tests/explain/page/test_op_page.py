"""What a page must hold: every section for every op, whatever the call, in every format."""

from __future__ import annotations

import ast
import json
import textwrap
from dataclasses import replace

import pytest

from gradcheck.explain import Subject, explain_op, make_call, trees
from gradcheck.explain.document import Bullets, Code, Document, Equation, Paragraph, Section
from gradcheck.explain.render.json import render_json
from gradcheck.explain.render.latex import render_latex
from gradcheck.explain.render.markdown import render_markdown
from gradcheck.explain.render.terminal import render_text
from gradcheck.explain.style import UNICODE
from gradcheck.ops import Op, all_ops
from tests.ops.calls import USES, Use

SECTIONS = (
    "Shapes",
    "Forward",
    "Gradient",
    "Forward mode",
    "Broadcasting and batches",
    "Where it is not defined or not differentiable",
    "Common mistakes",
    "Related",
)


def subject_of(use: Use) -> Subject:
    return Subject(use.op, use.op.call(use.shapes, use.args))


def example_of(op: Op) -> Subject:
    return Subject(op, make_call(op, {}, {}))


@pytest.mark.parametrize("use", USES, ids=str)
def test_every_page_has_every_section(use: Use) -> None:
    page = explain_op(subject_of(use))
    headings = [section.heading for section in page.sections]
    for heading in SECTIONS:
        assert headings.count(heading) == 1
    sections = {section.heading: section.blocks for section in page.sections}
    for blocks in sections.values():
        assert blocks
    assert any(isinstance(block, Code) for block in sections["Gradient"])
    assert any(isinstance(block, Equation) for block in sections["Forward mode"])
    assert any(isinstance(block, Equation) for block in sections["Forward"])
    for heading in SECTIONS[4:7]:
        assert all(isinstance(block, Bullets) and block.items for block in sections[heading])


@pytest.mark.parametrize("use", USES, ids=str)
def test_every_gradient_is_derived(use: Use) -> None:
    subject = subject_of(use)
    page = explain_op(subject)
    derivations = [s for s in page.sections if s.heading.startswith("Derivation")]
    if any(0 in shape for shape in use.shapes.values()):
        assert derivations
        return
    assert len(derivations) == (1 if subject.derivation else len(subject.gradients))
    for section in derivations:
        assert sum(isinstance(block, Equation) for block in section.blocks) >= 2
        assert sum(isinstance(block, Paragraph) for block in section.blocks) >= 2


@pytest.mark.parametrize("op", all_ops(), ids=lambda op: op.name)
def test_the_example_names_its_axes(op: Op) -> None:
    page = explain_op(example_of(op))
    lines = [b.math(UNICODE) for b in page.sections[0].blocks if isinstance(b, Equation)]
    named = [line for line in lines if "=" in line or "a number" in line or ": []" in line]
    # One axis of an index, or of parts that differ in size, has no letter of its own.
    assert named == lines


@pytest.mark.parametrize("op", all_ops(), ids=lambda op: op.name)
def test_short_formulas_are_the_executed_ones(op: Op) -> None:
    subject = example_of(op)
    short = subject.shortened(*subject.printed.values())
    full: dict[str, ast.expr] = {}
    for name, tree in short.names.items():
        full[name] = trees.substitute(tree, full)
    expanded = [trees.text_of(trees.substitute(formula, full)) for formula in short.formulas]
    assert expanded == [trees.text_of(tree) for tree in subject.printed.values()]


@pytest.mark.parametrize("use", USES, ids=str)
def test_every_page_can_be_rendered(use: Use) -> None:
    page = explain_op(subject_of(use))
    text = render_text(page)
    assert "/∂" in text
    assert "?" not in text
    assert json.loads(render_json(page))["op"] == use.op.name
    assert render_markdown(page).startswith(f"# `{use.op.name}`")
    assert render_latex(page).isascii()


@pytest.mark.parametrize("width", [60, 88])
@pytest.mark.parametrize("op", all_ops(), ids=lambda op: op.name)
def test_prose_and_formulas_fit_the_terminal(op: Op, width: int) -> None:
    page = explain_op(example_of(op))
    plain = tuple(
        Section(section.heading, tuple(b for b in section.blocks if not isinstance(b, Code)))
        for section in page.sections
    )
    lines = render_text(replace(page, sections=plain), width=width).splitlines()
    assert [line for line in lines if len(line) > width] == []


@pytest.mark.parametrize("op", all_ops(), ids=lambda op: op.name)
def test_broken_code_can_still_be_pasted(op: Op) -> None:
    code = Code(tuple(example_of(op).code()))
    text = render_text(Document("code", "", (Section("code", (code,)),)), width=50)
    pasted = textwrap.dedent("\n".join(text.splitlines()[3:]))
    assert ast.dump(ast.parse(pasted)) == ast.dump(ast.parse("\n".join(code.lines)))
