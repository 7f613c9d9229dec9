"""`--verify` along a direction: against nested tapes, forward accumulators and differences."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.derive.chain import bar
from gradcheck.explainer.derive.passed_through import STOPPED
from gradcheck.explainer.document import Paragraph, Section, Table
from gradcheck.explainer.page_code import run_code
from gradcheck.explainer.proof import Proof, moved_within, visible_within
from gradcheck.explainer.tangents.asked_along import Asked, Point
from gradcheck.explainer.tangents.second_form import (
    changed_output,
    hessian_block,
    hessian_product,
)
from gradcheck.explainer.tangents.tangent_chain import (
    Changes,
    adjoint_changes,
    dot,
    run_changes,
    step_changes,
)
from gradcheck.explainer.tangents.tangent_page import forward_code, moving_inputs, second_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.chain import Closed
    from gradcheck.model import Array

__all__ = ["Point", "along_section", "prove_forward", "prove_second"]

AGREES = 2.0**-30
"""Granted between a formula and nested tapes, relative to the largest element."""
NUMERIC_AGREES = 2.0**-18
"""Granted against differences of gradients, which lose some digits."""
_DIFFERS = "TensorFlow DIFFERS"


def prove_second(
    graph: Graph, point: Point, wanted: Sequence[str] | None
) -> list[tuple[str, Proof]]:
    """The Hessian times a direction, by the lines, the closed forms and the code; the Hessian."""
    moving = moving_inputs(graph, wanted)
    asked = Asked(graph, point, moving)
    forward, back = step_changes(graph, moving), adjoint_changes(graph, moving)
    known = run_changes((*forward.lines, *back.lines), asked.known())
    tape = _given(asked.nested) or {}
    held = any(step.op is STOPPED for step in graph.steps)
    found = []
    for name in moving:
        if bar(graph, name) in back.lost:
            continue
        numeric = asked.difference(partial(asked.slope, name=name))
        wanted_ = tape.get(name), None if held else numeric
        structure = point.structures.get(name, "")
        own = known.get(dot(bar(graph, name)), np.zeros(graph.inputs[name]))
        label = f"(∂L/∂{name})˙"
        found.append((label, _proof(name, "by the lines", own, *wanted_, structure)))
        form = hessian_product(graph, name, moving)
        code = second_code(graph, name, form)
        for how, value in _of_form(form, code, f"hv_{name}", known, asked):
            found.append((label, _proof(name, how, value, *wanted_, structure)))
    for row, column in combinations_with_replacement(moving, 2):
        block = hessian_block(graph, row, column)
        if block is not None and not {point.structures.get(n, "") for n in (row, column)} & {
            "symmetric",
            "lower",
        }:
            value = evaluate(block.node, known, (*block.at, *block.other))
            tape_gives = _given(lambda row=row, column=column: asked.hessian(row, column))  # type: ignore[misc]
            if tape_gives is not None:
                by_steps = None if held else asked.hessian_by_differences(row, column)
                proof = _proof(row, "the Hessian", value, tape_gives, by_steps, "")
                found.append((f"∂²L/∂{row}∂{column}", proof))
    return found


def prove_forward(
    graph: Graph, point: Point, wanted: Sequence[str] | None
) -> list[tuple[str, Proof]]:
    """The change of the output, by the lines, the closed form and the code."""
    moving = moving_inputs(graph, wanted)
    asked = Asked(graph, point, moving)
    changes = step_changes(graph, moving)
    known = run_changes(changes.lines, asked.known())
    held = any(step.op is STOPPED for step in graph.steps)
    if graph.output in changes.lost:
        return [] if held else _prove_parts(asked, changes, known)
    wanted_ = _given(asked.accumulated), None if held else asked.difference(asked.out)
    own = known.get(dot(graph.output), np.zeros(graph.shapes[graph.output]))
    label = f"{graph.output}˙"
    found = [(label, _proof(graph.output, "by the lines", own, *wanted_, ""))]
    form = changed_output(graph, moving)
    for how, value in _of_form(form, forward_code(graph, form), "jvp", known, asked):
        found.append((label, _proof(graph.output, how, value, *wanted_, "")))
    return found


def _prove_parts(
    asked: Asked, changes: Changes, known: Mapping[str, Any]
) -> list[tuple[str, Proof]]:
    """Those lines that no other is made of, where none leads to the output.

    TensorFlow tells of the output alone: they stand beside differences of the page's own steps.
    """
    used = set().union(*(trees.names_in(line.tree) for line in changes.lines))
    found = []
    for line in changes.lines:
        if dot(line.of) not in used:
            numeric = asked.difference(lambda given, of=line.of: asked.known(given)[of])  # type: ignore[misc]
            proof = _proof(line.of, "by the lines", known[dot(line.of)], None, numeric, "")
            found.append((f"{line.of}˙", proof))
    return found


def _of_form(
    form: Closed | None, code: list[str], assigned: str, known: Mapping[str, Any], asked: Asked
) -> list[tuple[str, Any]]:
    """What a closed form gives, each way that it is printed."""
    import tensorflow as tf

    if form is None:
        return []
    found = [("closed, indices", evaluate(form.node, known, form.indices))]
    if form.formula is not None:
        found.append(("closed", trees.run(form.formula, known)))
    if code:
        given = {n: tf.constant(np.asarray(v)) for n, v in asked.known().items()}
        found.append(("code, float64", run_code(code, given)[assigned]))
    return found


def _given(ask: Callable[[], Any]) -> Any:
    """What TensorFlow gives; None where it has no such derivative, of which there are some."""
    try:
        return ask()
    except Exception:  # no gradient of a gradient is registered, or it does not run
        return None


def _proof(
    name: str, how: str, value: Any, tape: Array | None, numeric: Array | None, structure: str
) -> Proof:
    """One value beside what TensorFlow gives; NaN where there is nothing to compare with."""
    value = np.asarray(value, dtype=np.float64)
    right = tape if numeric is None else numeric
    if right is None:
        return Proof(name, f"{how}: nothing to compare", np.nan, np.nan, np.nan, holds=False)
    scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
    seen = visible_within(np.ones_like(value), structure) != 0

    def apart(one: Array | None, other: Array | None) -> float:
        if one is None or other is None:
            return math.nan
        if one.shape != other.shape:
            return math.inf
        with np.errstate(all="ignore"):
            off = np.abs(moved_within(one, structure) - moved_within(other, structure))
        worst = np.max(off, initial=0.0, where=seen)
        return math.inf if np.isnan(worst) else float(worst) / scale

    from_tape, from_numeric = apart(value, tape), apart(value, numeric)
    # (A comparison with NaN is false: there is nothing to disagree with.)
    wrong = from_tape > AGREES or from_numeric > NUMERIC_AGREES
    return Proof(name, how, from_tape, from_numeric, apart(tape, numeric), holds=not wrong)


def along_section(
    heading: str,
    found: Sequence[tuple[str, Proof]],
    against: str,
    known: str = "",
    differences_of: str = "what TensorFlow gives",
) -> Section:
    """The errors, as a table.

    Args:
        heading: of the section.
        found: the proofs, each with the name of what it is of.
        against: what stands beside the formulas.
        known: what TensorFlow is known to get wrong, which is said where something fails.
        differences_of: what is differenced.
    """
    shown = [
        (label, p.formula, *map(_error, (p.against_tape, p.against_numeric)), _verdict(p))
        for label, p in found
    ]
    text = (
        f"At a random point, along a random direction, with a random G: against {against}, and "
        f"against differences of {differences_of}; errors relative to the largest element."
    )
    head = ("", "printed as", "formula−TensorFlow", "formula−numeric", "")
    if not found:
        return Section(heading, (Paragraph("None of it is derived: there is nothing to prove."),))
    said = [Paragraph(known)] if known and not all(p.holds for _, p in found) else []
    return Section(heading, (Paragraph(text), Table(head, tuple(shown)), *said))


def _error(error: float) -> str:
    return "–" if math.isnan(error) else f"{error:.1e}"


def _verdict(proof: Proof) -> str:
    if not proof.holds and proof.against_numeric <= NUMERIC_AGREES:
        return _DIFFERS
    return "holds" if proof.holds else "FAILS"
