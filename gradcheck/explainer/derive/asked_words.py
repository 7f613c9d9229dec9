"""What is asked of an op in the words of its page, in those of its declaration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import GradcheckError
from gradcheck.explainer.derive.complete_call import make_call
from gradcheck.explainer.derive.op_subject import Subject
from gradcheck.ops.declaration import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.explainer.question import Question
    from gradcheck.ops.declaration import Op

__all__ = ["in_its_words", "whole_inputs"]


def in_its_words(op: Op, question: Question) -> Question:
    """The question with the inputs called as the op calls them.

    A page writes x for `input_tensor`, so that x is what people give a shape to; and to give the
    indices of a gather like any other argument is no mistake: they are values.
    """
    if op.variadic:
        return question
    names = _names(op, {*question.shapes, *question.at})
    whole = whole_inputs(op) & {*question.args}
    values = {name: np.asarray(question.args[name]) for name in whole}
    at = _renamed(names, question.at) | values
    return replace(
        question,
        args={key: value for key, value in question.args.items() if key not in whole},
        shapes=_renamed(names, question.shapes) | {n: v.shape for n, v in values.items()},
        at=at,
    )


def whole_inputs(op: Op) -> set[str]:
    """The inputs that are whole numbers: without the others there is nothing to compute."""
    return {parameter.name for parameter in op.inputs if parameter.kind is Kind.INTEGER}


def _names(op: Op, asked: set[str]) -> dict[str, str]:
    """By symbol of the page: the input, where no input is called like the symbol."""
    inputs = {parameter.name for parameter in op.inputs}
    if asked <= inputs | {"G"}:
        return {}
    try:
        symbols = Subject(op, make_call(op, {}, {})).symbols
    except GradcheckError:  # it has no example
        return {}
    found = {symbols[name]: name for name in inputs if name in symbols}
    return {symbol: name for symbol, name in found.items() if symbol not in inputs | {"G"}}


def _renamed(names: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in given.items()}
