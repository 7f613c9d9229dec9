"""The forward accumulator against the numeric derivative, along single elements or directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.judge.agreement import compare, relative_error
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.safe_norms import largest
from gradcheck.checker.subject.tape import forward
from gradcheck.model import Array, CheckKind, Comparison, Element

if TYPE_CHECKING:
    from gradcheck.checker.reference.reference import Reference
    from gradcheck.checker.subject.problem import Problem


def check_forward(problem: Problem, reference: Reference) -> list[Comparison]:
    """One comparison per input that is differentiated."""
    layout, evaluator = reference.evaluator.inputs, reference.evaluator
    rng = generator(problem.seed, 0x6A76)
    comparisons = []
    for i, operand in enumerate(reference.moved):
        start, size = layout.offsets[i], layout.sizes[i]
        single = size <= limits.FORWARD_ELEMENTS
        block = np.eye(size) if single else rng.choice([-1.0, 1.0], size=(limits.DIRECTIONS, size))
        vectors = np.zeros((len(block), layout.offsets[-1]))
        vectors[:, start : start + size] = block * reference.coordinates.scale[start : start + size]
        moved = np.array([_along(problem, reference, vector) for vector in vectors])
        estimate = reference.along(vectors)
        size_that_matters = largest(estimate.scale) or largest(reference.weights * evaluator.base)
        agreement = compare(moved, estimate, reference=size_that_matters)
        failing = agreement.failing
        worst = int(np.argmax(np.nan_to_num(agreement.error))) if len(moved) else 0
        where: tuple[int, ...] = ()
        if single and len(moved):
            element = worst // (2 if layout.complex_[i] else 1)
            where = tuple(int(n) for n in np.unravel_index(element, operand.value.shape))
        comparisons.append(
            Comparison(
                name=operand.name,
                verdict=agreement.overall,
                shape=operand.value.shape,
                dtype=operand.value.dtype.name,
                check=CheckKind.FORWARD,
                judged=operand.value.size if single else 0,
                directions=0 if single else limits.DIRECTIONS,
                max_abs_error=float(np.nan_to_num(agreement.error).max(initial=0.0)),
                max_rel_error=float(
                    relative_error(agreement.error, moved, estimate).max(initial=0.0)
                ),
                error_bar=float(np.nan_to_num(estimate.bound).max(initial=0.0)),
                failing=int(failing.sum()),
                worst=_named(where, operand.value, moved, estimate.numeric, estimate.bound, worst)
                if single and len(moved)
                else (),
            )
        )
    return comparisons


def _along(problem: Problem, reference: Reference, vector: Array) -> float:
    """The derivative of the scalar along one vector, by the forward accumulator."""
    tangents = reference.evaluator.inputs.unflatten(vector)
    moves = forward(problem.function, problem.operands, reference.values, tangents)
    return float(reference.evaluator.outputs.flatten(moves) @ reference.weights)


def _named(
    index: tuple[int, ...], value: Array, analytic: Array, numeric: Array, bound: Array, row: int
) -> tuple[Element, ...]:
    return (
        Element(
            index=index,
            value=value[index].item(),
            analytic=float(analytic[row]),
            numeric=float(numeric[row]),
            bound=float(bound[row]),
        ),
    )
