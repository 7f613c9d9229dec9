"""One op in one call as a graph of a single step: what holds for expressions holds for it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.errors import UsageError
from gradcheck.explainer.derive.call_graph import Graph, Step

if TYPE_CHECKING:
    from gradcheck.explainer.derive.op_subject import Subject

__all__ = ["graph_of_op"]


def graph_of_op(subject: Subject) -> Graph:
    """The op over the names of its inputs; UsageError where the language has no words for it."""
    op, call = subject.op, subject.call
    if op.outputs:
        told = f"{op.name} has several outputs: name one of them with --expr '{op.tf}(…)[0]'"
        raise UsageError(told)
    if subject.forward is None:
        raise UsageError(
            f"{op.name} has no formula of its forward: nothing can be derived along it"
        )
    if op.is_complex:
        raise UsageError(
            f"{op.name} takes or gives complex numbers, and along a direction only real ones are "
            "followed here: its page has forward mode without a direction"
        )
    taken = {name[:1] for name in call.shapes if name[1:].isdigit() or not name[1:]}
    name = next(letter for letter in "yvhwuzs" if letter not in taken)
    operands: dict[str, ast.expr] = {parameter: ast.Name(parameter) for parameter in call.shapes}
    step = Step(name, op, call, operands, subject.shape)
    symbols = {parameter: subject.symbols[parameter] for parameter in call.shapes}
    return Graph(
        op.name, dict(call.shapes), (step,), name, symbols={**symbols, name: subject.symbols["out"]}
    )
