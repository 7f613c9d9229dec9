"""`--verify` for a function that was watched: what is printed, against tape and differences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.tensors import call
from gradcheck.errors import UsageError
from gradcheck.explainer.code_proof import LOW_TOLERANCE, CodePoint, prove_code
from gradcheck.explainer.derive.chain import adjoints, bar, closed_form, run_chain
from gradcheck.explainer.derive.passed_through import STOPPED
from gradcheck.explainer.page.known_findings import told_of_findings
from gradcheck.explainer.page.written_code import all_code
from gradcheck.explainer.proof import (
    Proof,
    beside_the_tape,
    could_not_be_asked,
    in_single,
    proof_of,
)
from gradcheck.explainer.traced.same_draws import are_held
from gradcheck.explainer.verify import printed_for_expression
from gradcheck.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.traced.ran_ops import Watched
    from gradcheck.explainer.traced.traced_graph import Traced
    from gradcheck.model import Array, Comparison

__all__ = ["symbol_values", "tape_of", "verify_traced"]

_OUTSIDE = (
    "Differences of the function move what is computed outside of TensorFlow's ops like everything "
    "else. What they say is the derivative; the tape's gradient and the formulas here lack that "
    "part."
)


def symbol_values(traced: Traced, watched: Watched) -> dict[str, Any]:
    """By name on the page: inputs, variables, constants, what is held, and the Jacobians."""
    inputs = {traced.names[name]: _wide(value) for name, value in watched.values.items()}
    symbols = {each.symbol: _wide(each.value()) for each in traced.jacobians}
    opaque = {j.of: _wide(j.gives) for j in traced.jacobians}
    constants = {name: _wide(value) for name, value in traced.constants.items()}
    return {**inputs, **constants, **traced.held, **symbols, **opaque}


def _wide(value: Array) -> Array:
    """The numbers in double precision, in which formulas are evaluated."""
    return value.astype(np.float64) if value.dtype.kind == "f" else value


def verify_traced(problem: Problem, watched: Watched, traced: Traced) -> list[Proof]:
    """Every formula of the page, at the point at which the function was watched."""
    from gradcheck.checker.check import check_problem
    from gradcheck.checker.subject.upstream import draw_upstream

    graph = traced.graph
    shape = graph.shapes[graph.output]
    upstream = tuple(draw_upstream("random", [shape], [False], problem.seed))
    result = check_problem(replace(problem, upstream=upstream), "explain")
    if not result.comparisons:
        raise UsageError(could_not_be_asked(result.message, told_of_findings(graph.ops)))
    known = run_chain(graph, symbol_values(traced, watched), upstream[0])
    structures = {traced.names[o.name]: o.structure for o in watched.operands}
    reached = {adjoint.name for adjoint in adjoints(graph)}
    proofs = []
    for found in result.comparisons:
        name = traced.names[found.name]
        if name in traced.wanted and name in reached:
            plain = structures[name] in ("", "general")
            whole = _with_whole_tape(found, problem, upstream[0]) if plain else found
            proofs += _formulas(traced, replace(whole, name=name), known, structures[name])
    formulas = {name: np.asarray(known[bar(graph, name)]) for name in reached}
    proofs += _code(problem, watched, traced, upstream, formulas)
    if watched.is_single:
        right = result.verdict in (Verdict.PASS, Verdict.KINK)
        # (Code stands beside the tape, or its formula, alone: differences say nothing of it.)
        proofs = [
            in_single(
                p,
                holds=(right or np.isnan(p.against_numeric)) and p.against_tape <= LOW_TOLERANCE,
            )
            for p in proofs
        ]
    if traced.outside:
        return [replace(proof, said=_OUTSIDE if proof.said else "") for proof in proofs]
    held = any(step.op is STOPPED for step in graph.steps)
    return [beside_the_tape(proof) for proof in proofs] if held else proofs


def _with_whole_tape(found: Comparison, problem: Problem, upstream: Array) -> Comparison:
    """What was judged along directions has no elements to show: the tape gives them all at once."""
    if found.judged >= found.elements:
        return found
    return replace(found, analytic=tape_of(problem, upstream).get(found.name, found.analytic))


def tape_of(problem: Problem, upstream: Array) -> Mapping[str, Array]:
    """By operand: what the tape gives for the first output; zeros for None."""
    import tensorflow as tf

    with explored(problem) as whole:
        given: list[Any] = [operand.hold(operand.value) for operand in whole.operands]
        with tf.GradientTape() as tape:
            named = zip(whole.operands, given, strict=True)
            watched = {o.name: each for o, each in named if o.differentiate}
            tape.watch(list(watched.values()))
            first = call(whole.function, given)[0]
        found = tape.gradient(first, watched, tf.cast(tf.constant(upstream), first.dtype))
    return {
        name: np.zeros(watched[name].shape)
        if each is None
        else _wide(np.asarray(tf.convert_to_tensor(each)))
        for name, each in found.items()
    }


def _formulas(
    traced: Traced, found: Comparison, known: Mapping[str, Any], structure: str
) -> list[Proof]:
    with np.errstate(all="ignore"):
        return [
            proof_of(found, label, np.asarray(formula(known)), structure)
            for label, formula in printed_for_expression(traced.graph, found.name)
        ]


def _code(
    problem: Problem,
    watched: Watched,
    traced: Traced,
    upstream: tuple[Array, ...],
    formulas: Mapping[str, Array],
) -> list[Proof]:
    """The code, run as it is printed; in float32 where the function computes in that.

    It is held against the tape, with tensors in the place of variables. Where these are written, or
    read by a graph, or somebody's gradient function has to be given them, it is held against its
    formula instead.
    """
    graph = traced.graph
    reached = [a.name for a in adjoints(graph) if a.name in traced.wanted]
    code = all_code(graph, {name: closed_form(graph, name) for name in reached})
    with explored(problem) as whole, np.errstate(all="ignore"):
        point = CodePoint(
            whole.function,
            {traced.names[o.name]: np.asarray(o.value) for o in whole.operands},
            upstream,
            several=False,
            free=frozenset(),
            structures={traced.names[o.name]: o.structure for o in whole.operands},
            beside=traced.constants,
            draws=are_held(problem),
            float32_only=any(o.value.dtype == np.float32 for o in problem.operands),
            float32_inside=watched.is_single,
            wanted=formulas if watched.assigns or watched.graphs else None,
        )
        try:
            return prove_code(point, code)
        except Exception:  # whatever gradient functions say that are given no variables
            return prove_code(replace(point, wanted=formulas), code)
