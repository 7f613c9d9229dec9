"""`--verify`: the printed formulas at a random point, against the tape and central differences."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import UsageError
from gradcheck.explainer import trees
from gradcheck.explainer.both_sides import worst_of
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.code_proof import LOW_TOLERANCE, CodePoint, prove_code
from gradcheck.explainer.derive.chain import adjoints, bar, closed_form, run_chain
from gradcheck.explainer.derive.gradient_steps import gradient_steps
from gradcheck.explainer.derive.named_form import in_lines, run_named
from gradcheck.explainer.derive.passed_through import STOPPED
from gradcheck.explainer.derive.whole_op import as_one_op
from gradcheck.explainer.page.known_findings import told_of_findings
from gradcheck.explainer.page.written_code import all_code
from gradcheck.explainer.proof import (
    Proof,
    beside_the_tape,
    could_not_be_asked,
    in_single,
    proof_of,
)
from gradcheck.explainer.proof_points import DrawnPoint, expression_points, op_points
from gradcheck.ops.declaration import ANYWHERE

if TYPE_CHECKING:
    import ast

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.explainer.calculus.einstein import Node
    from gradcheck.explainer.calculus.indices import Index
    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.model import Array

__all__ = ["printed_for_expression", "verify_expression", "verify_op"]

Values = Mapping[str, Any]
Printed = Callable[[Values], Any]
"""A printed formula: from the values of all names to the gradient."""
Formulas = Mapping[str, list[tuple[str, Printed]]]
"""By input: what its gradient is printed as, each with a label."""


def verify_op(
    subject: Subject, values: Mapping[str, Array] | None = None, seed: int = 0
) -> list[Proof]:
    """Every formula that the explanation of an op prints."""
    formulas = {name: _printed_for_op(subject, name) for name in subject.gradients}
    code = dict.fromkeys(formulas, subject.code())
    points = op_points(subject, values, seed)
    known = told_of_findings([subject.op.name])
    return worst_of([_prove(point, formulas, lambda x: x, code, known) for point in points])


def _printed_for_op(subject: Subject, name: str) -> list[tuple[str, Printed]]:
    formulas = [("formula", _formula(subject.printed[name]))]
    steps = gradient_steps(subject, name)
    if steps is not None and not subject.derivation:
        formulas.append(("derivation", _elements(steps.result, steps.at)))
        if steps.matrix is not None:
            formulas.append(("without indices", _formula(steps.matrix)))
    return formulas


def verify_expression(
    graph: Graph,
    values: Mapping[str, Array] | None = None,
    seed: int = 0,
    wanted: tuple[str, ...] | None = None,
) -> list[Proof]:
    """The chain of adjoints and the closed forms of an expression."""
    reached = {adjoint.name for adjoint in adjoints(graph)}
    names = [n for n in (wanted or graph.inputs) if n in reached]
    formulas = {name: printed_for_expression(graph, name) for name in names}
    code = all_code(graph, {name: closed_form(graph, name) for name in names})

    def complete(known: Values) -> Values:
        return run_chain(graph, known, known["G"])

    points = expression_points(graph, values, seed)
    known = told_of_findings(graph.ops)
    proofs = worst_of([_prove(point, formulas, complete, code, known) for point in points])
    held = any(step.op is STOPPED for step in graph.steps)
    return [beside_the_tape(proof) for proof in proofs] if held else proofs


def printed_for_expression(graph: Graph, name: str) -> list[tuple[str, Printed]]:
    """What the page of a graph prints for one gradient, each with a label."""
    formulas: list[tuple[str, Printed]] = [("chain rule", operator.itemgetter(bar(graph, name)))]
    whole, form = as_one_op(graph), closed_form(graph, name)
    if whole is not None and (own := whole.whole_formula(name)) is not None:
        formulas.append((f"as {whole.subject.op.name}", _formula(own)))
    elif (lines := in_lines(graph, name, form)) is not None:
        formulas.append(("closed, in lines", functools.partial(run_named, graph, lines)))
    elif form is not None:
        formulas.append(("closed, indices", _elements(form.node, form.indices)))
        if form.formula is not None:
            formulas.append(("closed", _formula(form.formula)))
    return formulas


def _formula(tree: ast.expr) -> Printed:
    return functools.partial(trees.run, tree)


def _elements(node: Node, indices: tuple[Index, ...]) -> Printed:
    return functools.partial(evaluate, node, indices=indices)


def _prove(
    point: DrawnPoint,
    formulas: Formulas,
    complete: Callable[[dict[str, Any]], Values],
    code: Mapping[str, list[str]],
    wrong: str,
) -> list[Proof]:
    """Check the gradients at the point, and hold every printed formula against what is found.

    `complete` adds the values that formulas name beside the inputs, the output and G; `wrong` is
    what is known to be wrong in TensorFlow.
    """
    from gradcheck.checker.check import check_problem
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tensors import FunctionRaised
    from gradcheck.checker.subject.upstream import draw_upstream
    from gradcheck.explainer.page_code import in_float32

    whole = point.function()
    function = in_float32(whole) if point.float32_only else whole
    operands = _operands(point, formulas)
    try:
        outputs = _outputs(function, operands)
    except FunctionRaised:
        if point.float32_only:
            raise
        return _prove(replace(point, float32_only=True), formulas, complete, code, wrong)
    shapes = [output.shape for output in outputs]
    upstream = tuple(draw_upstream("random", shapes, [*map(np.iscomplexobj, outputs)], point.seed))
    problem = Problem(function=function, operands=operands, upstream=upstream, seed=point.seed)
    result = check_problem(problem, "explain")
    if not result.comparisons:
        raise UsageError(could_not_be_asked(result.message, wrong))
    known = complete(
        {
            **point.case.args,
            **point.values,
            "G": list(upstream) if point.several else upstream[0],
            "out": outputs if point.several else outputs[0],
        }
    )
    with np.errstate(all="ignore"):
        proofs = [
            proof_of(found, label, np.asarray(formula(known)), point.structure(found.name))
            for found in result.comparisons
            for label, formula in formulas[found.name]
        ]
        run = CodePoint(
            whole,
            point.values,
            upstream,
            point.several,
            frozenset(name for name, domain in point.domains.items() if domain == ANYWHERE),
            {name: point.structure(name) for name in formulas},
            float32_only=point.float32_only,
        )
        if point.float32_only:
            proofs = [in_single(p, holds=p.against_tape <= LOW_TOLERANCE) for p in proofs]
        return proofs + prove_code(run, code)


def _operands(point: DrawnPoint, formulas: Formulas) -> tuple[Operand, ...]:
    from gradcheck.checker.subject.operand import Operand

    return tuple(
        Operand(
            name=name,
            value=value,
            differentiate=name in formulas,
            low=point.domains[name].low,
            high=point.domains[name].high,
            structure=point.structure(name),
        )
        for name, value in point.values.items()
    )


def _outputs(function: Callable[..., Any], operands: tuple[Operand, ...]) -> list[Array]:
    import tensorflow as tf

    from gradcheck.checker.subject.tensors import call, to_numpy

    tensors = [tf.constant(operand.value) for operand in operands]
    return [to_numpy(output) for output in call(function, tensors)]
