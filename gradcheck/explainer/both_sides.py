"""Points on both sides of the conditions of a formula: on one side alone half of it is proved.

Where a vector is not clipped, 0 − 0 holds whatever is printed for those that are.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradcheck.explainer import trees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gradcheck.explainer.proof import Proof

P = TypeVar("P")

__all__ = ["conditions_in", "covering", "worst_of"]

POINTS_TRIED = 8
"""Points among which those are looked for that see another side."""
MOST_POINTS = 3
"""Points that a proof is made at."""


def conditions_in(formulas: Iterable[ast.expr]) -> list[ast.expr]:
    """What the choices of these formulas depend on, each once."""
    found = {
        trees.text_of(node.args[0]): node.args[0]
        for formula in formulas
        for node in ast.walk(formula)
        if trees.called(node) == "where" and isinstance(node, ast.Call)
    }
    return list(found.values())


def covering(
    conditions: Sequence[ast.expr],
    point: Callable[[int], P],
    known: Callable[[P], Mapping[str, Any]],
) -> list[P]:
    """The first point, and those that see a condition as none before did; the widest view first.

    Args:
        conditions: what choices depend on.
        point: the point of a seed.
        known: the values of all names at a point.
    """
    first = point(0)
    if not conditions:
        return [first]
    chosen, seen = [(first, _sides(conditions, known(first)))], _sides(conditions, known(first))
    for seed in range(1, POINTS_TRIED):
        if len(seen) == 2 * len(conditions) or len(chosen) == MOST_POINTS:
            break
        other = point(seed)
        sides = _sides(conditions, known(other))
        if sides - seen:
            chosen.append((other, sides))
            seen = seen | sides
    # (Where a condition holds there is more to see than where nothing is changed.)
    chosen.sort(key=lambda pair: -sum(side for _, side in pair[1]))
    return [own for own, _ in chosen]


def _sides(conditions: Sequence[ast.expr], known: Mapping[str, Any]) -> set[tuple[int, bool]]:
    """Which conditions hold somewhere, and which do not."""
    return {
        (number, side)
        for number, condition in enumerate(conditions)
        for side in _values_of(condition, known)
    }


def _values_of(condition: ast.expr, known: Mapping[str, Any]) -> set[bool]:
    try:
        held = np.asarray(trees.run(condition, known)) != 0
    except Exception:  # it names what only TensorFlow gives
        return set()
    return {bool(side) for side in np.unique(held)}


def worst_of(proofs: Sequence[Sequence[Proof]]) -> list[Proof]:
    """The proofs of several points as one of each formula: its largest errors."""
    found: dict[tuple[str, str], Proof] = {}
    for at in proofs:
        for proof in at:
            key = (proof.name, proof.formula)
            found[key] = _worse(found[key], proof) if key in found else proof
    return [replace(proof, points=len(proofs)) for proof in found.values()]


def _worse(one: Proof, other: Proof) -> Proof:
    failing = one if not one.holds else other
    return replace(
        failing,
        against_tape=max(one.against_tape, other.against_tape),
        against_numeric=max(one.against_numeric, other.against_numeric),
        tape_against_numeric=max(one.tape_against_numeric, other.tape_against_numeric),
    )
