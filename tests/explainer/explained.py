"""The calls of every op with what many tests need of them, each computed once in a session."""

from __future__ import annotations

from functools import cache, cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.explainer import Document, Subject, explain_op, make_call
from gradcheck.ops import Op, find
from tests.ops.calls import USES, Use
from tests.ops.oracle import Point, evaluate, structure_of, tolerance, within

if TYPE_CHECKING:
    from gradcheck.model import Array

TOLERANCE = 1e-10


class Explained:
    """One call of an op: its subject, its page, and a point with the tape's gradients."""

    def __init__(self, use: Use) -> None:
        self.use, self.op = use, use.op

    def __str__(self) -> str:
        return str(self.use)

    @cached_property
    def subject(self) -> Subject:
        return Subject(self.op, self.op.call(self.use.shapes, self.use.args))

    @cached_property
    def page(self) -> Document:
        return explain_op(self.subject)

    @cached_property
    def point(self) -> Point:
        return evaluate(self.op, self.use.shapes, self.use.args)

    @property
    def known(self) -> dict[str, Any]:
        """The value of every name that a formula may use."""
        point = self.point
        return {
            **self.subject.call.args,
            **point.values,
            "G": point.upstream,
            "out": point.out,
        }

    @property
    def tolerance(self) -> float:
        """What is granted between its formulas and TensorFlow."""
        return tolerance(self.op, TOLERANCE)

    def off_the_tape(self, name: str, gradient: Any) -> float:
        """How far a gradient is from the tape's, where changes of the input can see it."""
        return apart(self.visible(name, gradient), self.visible(name, self.point.tape[name]))

    def visible_whole(self, name: str) -> bool:
        """Whether changes of the input see all of its gradient."""
        return structure_of(self.op, name) not in ("symmetric", "lower")

    def visible(self, name: str, gradient: Any) -> Array:
        """The part of a gradient that changes within the structure of the input can see."""
        return within(gradient, structure_of(self.op, name))


def apart(one: Any, other: Any) -> float:
    """The largest difference, relative to the largest element."""
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
    return float(np.max(np.abs(one - other), initial=0.0)) / scale


CALLS: dict[str, list[Explained]] = {
    name: [Explained(use) for use in uses] for name, uses in groupby(USES, lambda use: use.op.name)
}
"""By op: its calls."""

ALL_CALLS: list[Explained] = [call for calls in CALLS.values() for call in calls]

every_op = pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
"""A test for each op, with all its calls: they share what is computed for them."""


@cache
def _example(name: str) -> Subject:
    op = find(name)
    assert op is not None
    return Subject(op, make_call(op, {}, {}))


def example_of(op: Op) -> Subject:
    """The op in the call of its example."""
    return _example(op.name)


@cache
def _example_page(name: str) -> Document:
    return explain_op(_example(name))


def example_page(op: Op) -> Document:
    """The page of the op's example."""
    return _example_page(op.name)
