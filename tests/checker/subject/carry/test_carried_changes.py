"""Changes that are carried along are those that the values make, with all their digits."""

# (Lambdas in a comprehension keep their kind as a default.)
# mypy: disable-error-code="misc"

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.subject.carry.cargo import CannotCarry
from gradcheck.checker.subject.carry.carried_changes import Changes
from gradcheck.checker.subject.carry.carrying import load
from gradcheck.checker.subject.carry.change_rules import (
    BILINEAR,
    FORMULAS,
    LINEAR,
    PAIR_FORMULAS,
)
from tests.checker.subject.carry.test_rules import CASES, draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.model import Array

KINDS = {*LINEAR, *BILINEAR, *FORMULAS, *PAIR_FORMULAS, "L2Loss"}
IN_SINGLE = {"AvgPool3D", "ResizeBilinear"}
"""Cases whose kernels compute in float32, which a change of float64 goes to through a cast."""

SMALL = 2.0**-40
"""A move of which little is left when values are subtracted."""


def changes(
    function: Callable[..., Any], values: Sequence[Array], moves: Sequence[Array], steps: Array
) -> list[tuple[Array, Array]]:
    """By output: how it changes, and what that may be off, a row for each step."""
    import tensorflow as tf

    tensors = [tf.constant(value) for value in values]
    by_step = [
        value + steps.reshape(-1, *[1] * value.ndim) * move
        for value, move in zip(values, moves, strict=True)
    ]
    cargo = Changes(len(steps))
    moved = list(zip(tensors, by_step, strict=True))
    outputs = load(cargo, lambda: tf.nest.flatten(function(*tensors)), moved)
    return [cargo.change_of(o) for o in outputs if o.dtype.is_floating]


def outputs_at(function: Callable[..., Any], values: Sequence[Array]) -> list[Array]:
    import tensorflow as tf

    flat = tf.nest.flatten(function(*map(tf.constant, values)))
    return [o.numpy() for o in flat if o.dtype.is_floating]


def are_changes(function: Callable[..., Any], *values: Array, digits: bool = True) -> None:
    """The changes are those of the values; and in a small move they still have their digits."""
    rng = np.random.default_rng(11)
    # (Moves of few digits: what is added to a number is what it has moved by.)
    moves = [np.round(rng.uniform(-1, 1, v.shape) * 64) / 64 for v in values]
    values = tuple(np.round(v * 4096) / 4096 for v in values)
    steps = np.array([2.0**-10, SMALL, SMALL / 2])
    found = changes(function, values, moves, steps)
    here = outputs_at(function, values)
    there = outputs_at(function, [v + steps[0] * m for v, m in zip(values, moves, strict=True)])
    for (by, noise), before, after in zip(found, here, there, strict=True):
        size = np.abs(before).max(initial=0.0) + np.abs(after).max(initial=0.0)
        assert (np.abs(by[0] - (after - before)) <= noise[0] + 1e-14 * size).all()
        assert (np.abs(by[1] - 2 * by[2]) <= noise[1] + 2 * noise[2] + 1e3 * SMALL**2 * size).all()
        if digits:
            assert noise[1].max(initial=0.0) <= 1e-12 * np.abs(by[1]).max(initial=0.0)


@pytest.mark.parametrize("name", sorted(CASES))
def test_whatever_is_carried(tf: Any, name: str) -> None:
    make, values = CASES[name]
    refused = nullcontext() if name in KINDS else suppress(CannotCarry)
    with refused:
        are_changes(make(tf), *values, digits=name in KINDS - IN_SINGLE)


@pytest.mark.parametrize("kind", sorted({*FORMULAS, *PAIR_FORMULAS} | {"Mul", "Sub", "AddV2"}))
def test_functions_of_a_number_or_two(tf: Any, kind: str) -> None:
    from tensorflow.python.framework import op_def_registry

    names = [each.name for each in op_def_registry.get(kind).input_arg]
    values = [draw(2, 3), draw(3, seed=1)][: len(names)]
    if "Softmax" in kind:
        values = [draw(2, 3)]

    def function(*given: Any) -> Any:
        return getattr(tf.raw_ops, kind)(**dict(zip(names, given, strict=True)))

    are_changes(function, *values)
    if kind not in ("Log", "Pow", "Rsqrt", "Sqrt"):
        are_changes(function, *[v - 0.47 for v in values])


def test_a_sum_with_a_huge_term(tf: Any) -> None:
    x = np.array([1.0, 2.0, 1e9])

    def function(x: Any) -> Any:
        return tf.sqrt(tf.reduce_sum(x**2))

    ((by, noise),) = changes(function, [x], [np.array([1.0, 0.0, 0.0])], np.array([SMALL]))
    assert abs(by[0] - SMALL * 1e-9) <= noise[0] + 1e-12 * SMALL * 1e-9
    assert noise[0] <= 1e-12 * by[0]


def test_what_has_no_rule_is_subtracted_and_says_what_it_rounds(tf: Any) -> None:
    def function(x: Any) -> Any:
        return tf.math.lgamma(x) + 1e3

    ((by, noise),) = changes(function, [draw(3)], [np.ones(3)], np.array([SMALL, 1e-3]))
    slope = tf.math.digamma(draw(3)).numpy()
    assert (np.abs(by[0] - SMALL * slope) <= noise[0]).all()
    assert (noise[0] > 1e-6 * np.abs(by[0])).all()


def test_where_a_formula_divides_by_zero(tf: Any) -> None:
    values, steps = np.array([0.0, -1.0, 2.0]), np.array([0.5])
    for power in (2.0, 3.0):
        ((by, noise),) = changes(lambda x, p=power: x**p, [values], [np.ones(3)], steps)
        exact = (values + 0.5) ** power - values**power
        assert (np.abs(by[0] - exact) <= noise[0] + 1e-15).all()


@pytest.mark.parametrize("at", [1.0, 9.0, 15.0, 17.0])
def test_what_values_have_lost_themselves(tf: Any, at: float) -> None:
    """Of one less tanh² few digits are left, and what is divided by it hangs on these."""
    functions: list[Any] = [
        lambda x: tf.math.log(1 - tf.tanh(x) ** 2),
        lambda x: tf.reduce_sum(tf.exp(-2 * x) / (1 - tf.tanh(x) ** 2)),
        lambda x: tf.math.lgamma((1 - tf.tanh(x) ** 2) * 1e13),
    ]
    slope = -2 * np.tanh(at)
    steps = np.array([2.0**-20])
    for function in functions:
        ((by, noise),) = changes(function, [np.array([at])], [np.ones(1)], steps)
        inner = 1e13 / np.cosh(at) ** 2
        known = {
            0: slope,
            1: -np.exp(-2 * at) - np.exp(-4 * at),
            2: tf.math.digamma(tf.constant(inner, tf.float64)).numpy() * inner * slope,
        }[functions.index(function)]
        exact = steps[0] * known
        curved = 2.0**-18 * abs(exact)
        assert abs(by.item() - exact) <= 4 * noise.item() + curved
