"""The page of a function that was watched: steps, adjoints, closed forms, and what has no rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.explainer.document import Block, Bullets, Document, Paragraph, Section, Table
from gradcheck.explainer.page.expression_page import explain_expression
from gradcheck.explainer.page.registered import registered_blocks
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.traced.op_texts import CONSTANT_OPS, PASSED_OPS
from gradcheck.explainer.traced.outside_ops import OUTSIDE

if TYPE_CHECKING:
    from gradcheck.explainer.traced.ran_ops import Ran, Watched
    from gradcheck.explainer.traced.traced_graph import Traced

__all__ = ["explain_traced", "list_ops"]

MOST_ROWS = 40
"""Ops that a table lists."""
MOST_SOURCES = 6
"""Registered gradients that are shown with their source."""

ASSIGNED = (
    "It assigns a variable and reads it again. Derived here is what it computes; TensorFlow's tape "
    "does not go through an assignment: where its gradient is another, that is why."
)


def told_of_outside(traced: Traced) -> str:
    """What is said of numbers that come of the inputs by no op."""
    named = [
        UNICODE.symbol(name) + (f" (used at {line})" if line else "")
        for name, line in traced.outside.items()
    ]
    are, them = ("is", "it") if len(named) == 1 else ("are", "them")
    return (
        f"{' and '.join(named)} {are} {OUTSIDE}. No derivative of {them} can be formed: "
        f"TensorFlow's tape holds {them} fixed, and so do the formulas here, which are NOT the "
        "whole derivative of this function. It would have one if it were written with TensorFlow's "
        "ops, or had a gradient of its own (tf.custom_gradient)."
    )


def explain_traced(traced: Traced, lead: str) -> Document:
    """How each gradient comes about, with a section for every op that stays a symbol."""
    document = explain_expression(traced.graph, traced.wanted)
    said = [*traced.reasons, *_beside(traced)]
    before = [Section("Names", (Bullets(tuple(said)),))] if said else []
    after = [_unknown(kind, traced) for kind in traced.unknown]
    data = {
        **document.data,
        "without_rule": {k: [j.symbol for j in found] for k, found in traced.unknown.items()},
    }
    sections = (*before, *document.sections, *after)
    return replace(document, lead=lead, sections=sections, data=data)


def _beside(traced: Traced) -> list[str]:
    """What symbols stand for that are no inputs."""
    said = [
        f"The input {own} is written {shown} here."
        for own, shown in traced.names.items()
        if own != shown
        and not traced.graph.told.get(shown)
        and not any(shown in reason for reason in traced.reasons)
    ]
    for each in traced.jacobians:
        symbol, of, by = (UNICODE.symbol(name) for name in (each.symbol, each.of, each.by))
        said.append(
            f"{symbol} is the Jacobian {each.title} of {each.ran.kind}, which has no rule here: "
            f"its first axes are those of {of}, the others those of {by}."
        )
    return said


def _unknown(kind: str, traced: Traced) -> Section:
    symbols = ", ".join(UNICODE.symbol(each.symbol) for each in traced.unknown[kind])
    told = Paragraph(
        f"No rule derives the gradient of {kind}: above, {symbols} "
        f"{'stands' if len(traced.unknown[kind]) == 1 else 'stand'} for what it does. What the "
        "tape calls in that place:"
    )
    return Section(f"{kind} has no rule here", (told, *registered_blocks(kind)[0]))


def list_ops(watched: Watched, title: str, lead: str, why: str) -> Document:
    """The ops one after the other, where that is all there is to show."""
    shown = [ran for ran in watched.ran if ran.kind not in PASSED_OPS | CONSTANT_OPS]
    names = {id(t): o.name for t, o in zip(watched.given, watched.operands, strict=True)}
    rows = []
    for number, ran in enumerate(shown, 1):
        names |= {id(out): f"v{number}" for out in ran.outputs}
        if number <= MOST_ROWS:
            given = ", ".join(_named(given, names) for given in ran.inputs)
            gives = ", ".join(_shape(out) for out in ran.outputs)
            rows.append((f"v{number}", ran.kind, given, gives))
    blocks: list[Block] = [
        Paragraph(f"{why[:1].upper()}{why[1:]}: here are its ops, as they ran."),
        Table(("", "op", "given", "gives"), tuple(rows)),
    ]
    if len(shown) > MOST_ROWS:
        blocks.append(Paragraph(f"{len(shown) - MOST_ROWS} more follow."))
    sections = [Section("Ops", tuple(blocks)), *_sources(shown)]
    data = {"ops": [ran.kind for ran in shown]}
    return Document(title, lead, tuple(sections), data)


def _sources(ran: list[Ran]) -> list[Section]:
    """What TensorFlow registers for the ops, those first that come most often."""
    often = Counter(each.kind for each in ran if any(_is_inexact(out) for out in each.outputs))
    found = []
    for kind, times in often.most_common(MOST_SOURCES):
        heading = f"The gradient of {kind}" + (f", which comes {times} times" * (times > 1))
        found.append(Section(heading, tuple(registered_blocks(kind)[0])))
    return found


def _is_inexact(tensor: object) -> bool:
    dtype = tensor.dtype  # type: ignore[attr-defined]
    return bool(dtype.is_floating or dtype.is_complex)


def _named(tensor: object, names: dict[int, str]) -> str:
    known = names.get(id(tensor))
    return known if known is not None else f"a constant {_shape(tensor)}"


def _shape(tensor: object) -> str:
    return str(list(tensor.shape))  # type: ignore[attr-defined]
