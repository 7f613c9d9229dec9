"""`--verify`: the printed formulas at a random point, against the tape and central differences."""

from __future__ import annotations

import functools
import operator
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck import ops
from gradcheck.errors import UsageError
from gradcheck.explain import trees
from gradcheck.explain.calculus.evaluate import evaluate
from gradcheck.explain.derive.chain import bar, closed_form, run_chain
from gradcheck.explain.derive.gradient_steps import gradient_steps
from gradcheck.explain.document import Paragraph, Section, Table
from gradcheck.model import Array, Case, Input, Location, Shape, Target, TargetKind, Verdict
from gradcheck.ops.declaration import ANYWHERE, Domain, Kind
from gradcheck.ops.samples.registry import SAMPLES, draw

if TYPE_CHECKING:
    import ast

    from gradcheck.explain.calculus.einstein import Node
    from gradcheck.explain.calculus.indices import Index
    from gradcheck.explain.derive.call_graph import Graph
    from gradcheck.explain.derive.op_subject import Subject

__all__ = ["Point", "Proof", "proof_section", "verify_expression", "verify_op"]

TOLERANCE = 2.0**-36
"""Rounding granted between two exact formulas, relative to the gradient's largest element."""

Printed = Callable[[Mapping[str, Any]], Any]
"""A printed formula: from the values of all names to the gradient."""


@dataclass(frozen=True)
class Point:
    """Where the formulas are evaluated; the inputs that have no gradient are among the values."""

    values: Mapping[str, Array]
    seed: int = 0


@dataclass(frozen=True)
class Proof:
    """One printed formula against the two other oracles; errors relative to the largest element."""

    name: str
    formula: str
    against_tape: float
    against_numeric: float
    tape_against_numeric: float
    error_bar: float
    holds: bool


def _run(tree: ast.expr, known: Mapping[str, Any]) -> Any:
    return trees.run(tree, known)


def _element(node: Node, indices: tuple[Index, ...], known: Mapping[str, Any]) -> Any:
    return evaluate(node, known, indices)


def verify_op(
    subject: Subject, values: Mapping[str, Array] | None = None, seed: int = 0
) -> list[Proof]:
    """Every formula that the explanation of an op prints."""
    call = subject.call
    domains = {p.name: p for p in subject.op.inputs}
    drawn: dict[str, Array] = {}
    for name, shape in call.shapes.items():
        parameter = domains.get(name, subject.op.inputs[0])
        drawn[name] = _draw(parameter.domain, shape, name, seed)
        if parameter.kind is Kind.INTEGER:
            drawn[name] = drawn[name].astype(np.int32)
    drawn |= {name: np.asarray(value) for name, value in (values or {}).items() if name in drawn}
    case = _case(TargetKind.OP, subject.op.name, call.shapes, call.args)
    structures = {
        name: _structure(domains.get(name, subject.op.inputs[0]).domain) for name in call.shapes
    }
    printed: dict[str, list[tuple[str, Printed]]] = {}
    for name in subject.gradients:
        formulas: list[tuple[str, Printed]] = [
            ("formula", functools.partial(_run, subject.printed[name]))
        ]
        steps = gradient_steps(subject, name)
        if steps is not None and not subject.derivation:
            formulas.append(("derivation", functools.partial(_element, steps.result, steps.at)))
            if steps.matrix is not None:
                formulas.append(("without indices", functools.partial(_run, steps.matrix)))
        printed[name] = formulas
    domain_of = {n: domains.get(n, subject.op.inputs[0]).domain for n in call.shapes}
    return _prove(case, drawn, printed, call.args, domain_of, structures, seed, lambda known: known)


def verify_expression(
    graph: Graph,
    values: Mapping[str, Array] | None = None,
    seed: int = 0,
    wanted: tuple[str, ...] | None = None,
) -> list[Proof]:
    """The chain of adjoints and the closed forms of an expression."""
    case = _case(TargetKind.EXPR, graph.text, graph.inputs, {})
    names = [n for n in (wanted or graph.inputs) if graph.uses(n)]
    printed: dict[str, list[tuple[str, Printed]]] = {}
    for name in names:
        printed[name] = [("chain rule", operator.itemgetter(bar(graph, name)))]
        form = closed_form(graph, name)
        if form is not None:
            printed[name].append(
                ("closed, indices", functools.partial(_element, form.node, form.indices))
            )
            if form.formula is not None:
                printed[name].append(("closed", functools.partial(_run, form.formula)))
    failure = "the expression is not finite at any point that was tried"
    for domain in _domains(graph):
        drawn = {n: _draw(domain.get(n, ANYWHERE), s, n, seed) for n, s in graph.inputs.items()}
        drawn |= {
            name: np.asarray(value, dtype=np.float64) for name, value in (values or {}).items()
        }
        upstream = np.zeros(graph.shapes[graph.output])
        out = run_chain(graph, drawn, upstream)[graph.output]
        if np.isfinite(out).all():
            domains = {n: domain.get(n, ANYWHERE) for n in graph.inputs}
            return _prove(
                case,
                drawn,
                printed,
                {},
                domains,
                {n: _structure(d) for n, d in domains.items()},
                seed,
                lambda known: run_chain(graph, known, known["G"]),
            )
    raise UsageError(f"{failure}: give one with --at")


def _domains(graph: Graph) -> list[dict[str, Domain]]:
    """What to try: the domains of the ops that take an input, then safer and safer ones."""
    direct: dict[str, Domain] = {}
    for step in graph.steps:
        parameters = {p.name: p for p in step.op.inputs}
        for parameter, value in step.differentiable.items():
            if value in graph.inputs and parameter in parameters:
                domain = parameters[parameter].domain
                if domain != ANYWHERE:
                    direct.setdefault(value, domain)
    from gradcheck.model import Sample

    positive, unit = (Domain(sample=Sample(name)) for name in ("positive", "unit"))
    return [direct, dict.fromkeys(graph.inputs, positive), dict.fromkeys(graph.inputs, unit), {}]


def _structure(domain: Domain) -> str:
    """Whether values are matrices that only move to matrices of their kind."""
    return SAMPLES[domain.sample.name].structure


def _draw(domain: Domain, shape: Shape, name: str, seed: int) -> Array:
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    return draw(domain.sample, shape, False, rng, domain)


def _case(
    kind: TargetKind, text: str, shapes: Mapping[str, Shape], args: Mapping[str, Any]
) -> Case:
    here = Location("explain", 1, 1)
    inputs = tuple(Input(name, tuple(shape), here) for name, shape in shapes.items())
    return Case("explain", "explain", "explain", here, Target(kind, text, here), inputs, dict(args))


def _prove(
    case: Case,
    values: Mapping[str, Array],
    printed: Mapping[str, list[tuple[str, Printed]]],
    args: Mapping[str, Any],
    domains: Mapping[str, Domain],
    structures: Mapping[str, str],
    seed: int,
    complete: Callable[[dict[str, Any]], Mapping[str, Any]],
) -> list[Proof]:
    from gradcheck.checker.check import check_problem
    from gradcheck.checker.subject.build_function import build
    from gradcheck.checker.subject.problem import Operand, Problem
    from gradcheck.checker.subject.tape import draw_upstream

    function = build(case, allow=(), root=".")
    operands = tuple(
        Operand(
            name=name,
            value=values[name],
            differentiate=name in printed,
            low=domains[name].low,
            high=domains[name].high,
            structure=structures.get(name, "general"),
        )
        for name in values
    )
    outputs = _outputs(function, operands)
    upstream = draw_upstream("random", [o.shape for o in outputs], [False] * len(outputs), seed)
    result = check_problem(
        Problem(function=function, operands=operands, upstream=tuple(upstream), seed=seed),
        "explain",
    )
    if not result.comparisons:
        raise UsageError(f"TensorFlow could not be asked: {result.message}")
    op = ops.find(case.target.text) if case.target.kind is TargetKind.OP else None
    several = op is not None and bool(op.outputs)
    known = complete(
        {
            **args,
            **values,
            "G": list(upstream) if several else upstream[0],
            "out": outputs if several else outputs[0],
        }
    )
    proofs = []
    for comparison in result.comparisons:
        structure = structures.get(comparison.name, "general")
        tape, numeric = comparison.analytic, comparison.numeric
        for label, formula in printed[comparison.name]:
            with np.errstate(all="ignore"):
                value = np.asarray(formula(known))
            holds = comparison.verdict in (Verdict.PASS, Verdict.KINK)
            proofs.append(
                _proof(
                    comparison.name,
                    label,
                    value,
                    tape,
                    numeric,
                    comparison.error_bar,
                    structure,
                    holds,
                )
            )
    return proofs


def _outputs(function: Callable[..., Any], operands: Any) -> list[Array]:
    import tensorflow as tf

    from gradcheck.checker.subject.tensors import call, differentiable_outputs, to_numpy

    tensors = [tf.constant(operand.value) for operand in operands]
    return [to_numpy(output) for output in differentiable_outputs(call(function, tensors))]


def _proof(
    name: str,
    label: str,
    value: Array,
    tape: Array | None,
    numeric: Array | None,
    error_bar: float | None,
    structure: str,
    holds: bool,
) -> Proof:
    if tape is None or numeric is None:
        return Proof(name, label, np.inf, np.inf, np.inf, np.inf, holds=False)
    if value.shape != tape.shape:
        return Proof(name, label, np.inf, np.inf, np.inf, np.inf, holds=False)
    value, tape, numeric = (
        _moved(value, structure),
        _lower(tape, structure),
        _lower(numeric, structure),
    )
    scale = max(1.0, float(np.max(np.abs(tape), initial=0.0)))

    def apart(a: Array, b: Array) -> float:
        return float(np.max(np.abs(a - b), initial=0.0)) / scale

    first, second, third = apart(value, tape), apart(value, numeric), apart(tape, numeric)
    bar_ = float(error_bar or 0.0) / scale
    return Proof(name, label, first, second, third, bar_, holds and first <= TOLERANCE)


def _lower(gradient: Array, structure: str) -> Array:
    """Of matrices that are moved within a structure the check gives the lower triangle."""
    return np.tril(gradient) if structure in ("symmetric", "lower") else gradient


def _moved(gradient: Array, structure: str) -> Array:
    """The derivative along each move: of a symmetric matrix two elements move together."""
    if structure == "symmetric":
        twice = gradient + np.swapaxes(gradient, -1, -2)
        return np.tril(twice - np.eye(gradient.shape[-1]) * gradient)
    return _lower(gradient, structure)


def proof_section(proofs: list[Proof]) -> Section:
    """The errors, as a table."""
    rows = tuple(
        (
            f"∂L/∂{p.name}",
            p.formula,
            f"{p.against_tape:.1e}",
            f"{p.against_numeric:.1e}",
            f"{p.tape_against_numeric:.1e}",
            "holds" if p.holds else "FAILS",
        )
        for p in proofs
    )
    head = ("gradient", "printed as", "formula−tape", "formula−numeric", "tape−numeric", "")
    text = (
        "At a random point with a random G; errors relative to the largest element of the gradient."
    )
    return Section("Proof", (Paragraph(text), Table(head, rows)))
