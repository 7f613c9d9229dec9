"""The closed formulas of a case, declared with its op or claimed in the spec, to be evaluated."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.bind_arguments import rebuild
from gradcheck.ops.language.vocabulary import lookup, unbroadcast

if TYPE_CHECKING:
    from gradcheck.checker.subject.problem import Formula
    from gradcheck.model import Array, Shape
    from gradcheck.spec.expression.expression import Expression
    from gradcheck.spec.resolve import ResolvedCase


def formulas(resolved: ResolvedCase) -> dict[str, Formula]:
    """The declared formulas of the case's op, by input; none where there is no declaration."""
    shapes = {given.name: given.shape for given in resolved.case.inputs}
    return {
        name: partial(_summed, _formula(resolved, expression), shapes[name])
        for name, expression in resolved.formulas().items()
    }


def claims(resolved: ResolvedCase) -> dict[str, Formula]:
    """What the spec claims the gradients are, by input."""
    return {
        name: partial(_constant, claim)
        if isinstance(claim, np.ndarray)
        else _formula(resolved, claim)
        for name, claim in resolved.claims.items()
    }


def _formula(resolved: ResolvedCase, expression: Expression) -> Formula:
    names, args = [given.name for given in resolved.case.inputs], resolved.args
    arguments = resolved.case.takes

    def formula(inputs: list[Array], upstream: list[Array], outputs: list[Array]) -> Array:
        leaves = dict(zip(names, inputs, strict=True))
        values = {**args, **{a.name: rebuild(a.template, leaves, dense=True) for a in arguments}}
        values["G"] = upstream[0] if len(upstream) == 1 else upstream
        values["out"] = outputs[0] if len(outputs) == 1 else outputs
        return np.asarray(expression.evaluate(values, lookup))

    return formula


def _summed(formula: Formula, shape: Shape, *given: list[Array]) -> Array:
    """What the formula gives, summed over the axes along which the input was broadcast."""
    values = formula(*given)
    return values if values.shape == shape else unbroadcast(values, shape)


def _constant(value: Array, *_: Any) -> Array:
    return value
