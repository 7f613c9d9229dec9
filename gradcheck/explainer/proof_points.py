"""The points at which formulas are evaluated: drawn where an op is defined, or given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import UsageError
from gradcheck.explainer.both_sides import conditions_in, covering
from gradcheck.explainer.derive.chain import adjoints, run_chain
from gradcheck.explainer.derive.drawn_point import domains_to_try, drawn, drawn_input
from gradcheck.explainer.derive.typed_constants import with_typed_constants
from gradcheck.model import Array, Case, Input, Location, Shape, Target, TargetKind
from gradcheck.ops.declaration import ANYWHERE, Domain
from gradcheck.ops.samples.registry import SAMPLES

if TYPE_CHECKING:
    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.op_subject import Subject

__all__ = ["DrawnPoint", "expression_point", "expression_points", "op_point", "op_points"]

Values = Mapping[str, Any]


@dataclass(frozen=True)
class DrawnPoint:
    """A case and the values at which its formulas are evaluated."""

    case: Case
    values: Mapping[str, Array]
    domains: Mapping[str, Domain]
    several: bool
    """Whether G and the output are lists."""
    seed: int
    float32_only: bool = False
    """Whether TensorFlow computes it in float32 alone."""

    def structure(self, name: str) -> str:
        """Whether the values are matrices that only move to matrices of their kind."""
        return SAMPLES[self.domains[name].sample.name].structure

    def function(self) -> Callable[..., Any]:
        """What TensorFlow computes, of one tensor per input."""
        from gradcheck.checker.subject.build_function import build
        from gradcheck.explainer.page_code import with_signs
        from gradcheck.spec.resolve import resolve

        resolved = resolve(self.case)
        return with_signs(resolved) or build(resolved, allow=(), root=".")


USUAL_POINTS = 4
"""Of the points that are tried for another side of a condition, those that are drawn as usual."""


def farther(point: DrawnPoint, tried: int) -> DrawnPoint:
    """A point, or one that is four times as far out: a bound may lie beyond what is usual."""
    if tried < USUAL_POINTS:
        return point
    free = {n for n, d in point.domains.items() if np.isinf(d.low) and np.isinf(d.high)}
    free = {n for n in free if point.structure(n) == "general"}
    values = {n: 4.0 * v if n in free else v for n, v in point.values.items()}
    return replace(point, values=values)


def op_points(
    subject: Subject, values: Mapping[str, Array] | None, seed: int = 0
) -> list[DrawnPoint]:
    """Points that see both sides of the conditions in the formulas; the one that is given."""
    if values or subject.op.outputs:
        return [op_point(subject, values, seed)]

    def known(point: DrawnPoint) -> Values:
        return {**point.case.args, **point.values, "G": np.ones(subject.shape)}

    conditions = conditions_in(subject.printed.values())
    return covering(
        conditions, lambda more: farther(op_point(subject, None, seed + more), more), known
    )


def op_point(subject: Subject, values: Mapping[str, Array] | None, seed: int) -> DrawnPoint:
    """A call of an op at random inputs, or at those that are given."""
    op, call = subject.op, subject.call
    declared = {p.name: p for p in op.inputs}
    # A variadic op declares one parameter for inputs of any names.
    parameters = {name: declared.get(name, op.inputs[0]) for name in call.shapes}
    found = {n: drawn_input(parameters[n], shape, n, seed) for n, shape in call.shapes.items()}
    # (Whole numbers may be given: else `test_whole_numbers_are_proved_as_any_others` fails.)
    given = {name: np.asarray(value) for name, value in (values or {}).items() if name in found}
    found |= {
        name: value.astype(found[name].dtype) if value.dtype.kind in "iu" else value
        for name, value in given.items()
    }
    return DrawnPoint(
        _case(TargetKind.OP, op.name, call.shapes, call.args),
        found,
        {name: parameter.domain for name, parameter in parameters.items()},
        bool(op.outputs),
        seed,
        op.float32_only,
    )


def expression_points(
    graph: Graph, values: Mapping[str, Array] | None, seed: int = 0
) -> list[DrawnPoint]:
    """Points that see both sides of the conditions in the lines; the one that is given."""
    if values:
        return [expression_point(graph, values, seed)]
    upstream = np.ones(graph.shapes[graph.output])
    lines = [*(step.forward for step in graph.steps), *(a.tree for a in adjoints(graph))]
    return covering(
        conditions_in(lines),
        lambda more: farther(expression_point(graph, None, seed + more), more),
        lambda point: run_chain(graph, point.values, upstream),
    )


def expression_point(graph: Graph, values: Mapping[str, Array] | None, seed: int) -> DrawnPoint:
    """An expression at random inputs at which it is finite, or at those that are given."""
    given = {name: np.asarray(value, dtype=np.float64) for name, value in (values or {}).items()}
    text = with_typed_constants(graph.text, tuple(graph.inputs))
    case = _case(TargetKind.EXPR, text, graph.inputs, {})
    upstream = np.zeros(graph.shapes[graph.output])
    for tried in domains_to_try(graph):
        domains = {name: tried.get(name, ANYWHERE) for name in graph.inputs}
        found = {n: drawn(domains[n], shape, n, seed) for n, shape in graph.inputs.items()}
        single = any(step.op.float32_only for step in graph.steps)
        point = DrawnPoint(case, found | given, domains, False, seed, single)
        if np.isfinite(run_chain(graph, point.values, upstream)[graph.output]).all():
            return point
    raise UsageError("the expression is not finite at any point that was tried: give one with --at")


def _case(
    kind: TargetKind, text: str, shapes: Mapping[str, Shape], args: Mapping[str, Any]
) -> Case:
    here = Location("explain", 1, 1)
    inputs = tuple(Input(name, tuple(shape), here) for name, shape in shapes.items())
    return Case("explain", "explain", "explain", here, Target(kind, text, here), inputs, dict(args))
