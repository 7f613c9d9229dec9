"""Inputs that have to be matrices of a kind, because an op that they go through takes no others.

A Cholesky factor is one of a symmetric matrix, and its gradient is along symmetric matrices. At one
that is not, and moved so that it is not, differences find another: without this
`test_a_matrix_that_is_factored_is_symmetric` fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.errors import GradcheckError
from gradcheck.explainer.derive.drawn_point import domains_to_try
from gradcheck.explainer.traced.traced_graph import TooLarge, read_ops
from gradcheck.ops.samples.registry import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.traced.ran_ops import Watched
    from gradcheck.model import Array, Case, Sample

__all__ = ["drawn_so", "matrices_of_a_kind", "moved_so", "told_of_kinds"]

_KINDS = {"symmetric": "symmetric", "lower": "lower triangular"}


def matrices_of_a_kind(watched: Watched) -> dict[str, Sample]:
    """By operand that is to be a matrix of a kind: how such are drawn."""
    try:
        traced = read_ops(watched, "")
    except (TooLarge, GradcheckError):
        return {}
    domains = domains_to_try(traced.graph)[0]
    samples = {own: domains[n].sample for own, n in traced.names.items() if n in domains}
    return {own: s for own, s in samples.items() if SAMPLES[s.name].structure in _KINDS}


def drawn_so(case: Case, kinds: Mapping[str, Sample], asked: Case) -> Case:
    """The case, whose inputs are drawn so, where nobody said how when it was asked for."""
    free = {i.name for i in asked.inputs if i.values is None and i.sample is None} & kinds.keys()
    inputs = (replace(i, sample=kinds[i.name]) if i.name in free else i for i in case.inputs)
    return replace(case, inputs=tuple(inputs))


def moved_so(problem: Problem, kinds: Mapping[str, Sample]) -> Problem:
    """The problem, whose matrices stay of their kind when they are moved."""
    operands = tuple(
        replace(o, structure=structure)
        if o.name in kinds and _is_one(o.value, structure := SAMPLES[kinds[o.name].name].structure)
        else o
        for o in problem.operands
    )
    return replace(problem, operands=operands)


def _is_one(value: Array, structure: str) -> bool:
    other = np.swapaxes(value, -1, -2) if structure == "symmetric" else np.tril(value)
    return bool(np.array_equal(value, other))


def told_of_kinds(problem: Problem) -> list[str]:
    """What is said of them."""
    found = [(o.name, _KINDS[o.structure]) for o in problem.operands if o.structure in _KINDS]
    return [
        f"{name} is {kind} here, and moves so: an op that it goes through takes no other matrix."
        for name, kind in found
    ]
