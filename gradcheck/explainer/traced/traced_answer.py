"""A case of any kind → its page and its proofs, by watching it run: imports TensorFlow."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck import ops
from gradcheck.checker.case import problem_of
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.tensors import FunctionRaised
from gradcheck.errors import FunctionError, GradcheckError, UsageError
from gradcheck.explainer.on_demand import pictured_expression
from gradcheck.explainer.page.known_findings import told_of_findings
from gradcheck.explainer.page.worked_numbers import expression_numbers
from gradcheck.explainer.proof import Proof, proof_section
from gradcheck.explainer.tangents.along import prove_along, with_directions
from gradcheck.explainer.tangents.tangent_proof import Point
from gradcheck.explainer.traced.branches import told_of_branches
from gradcheck.explainer.traced.outside_ops import with_outside
from gradcheck.explainer.traced.own_gradients import own_gradients, raised_by_tape, told_of_own
from gradcheck.explainer.traced.ran_ops import watch
from gradcheck.explainer.traced.real_view import in_real_numbers, is_complex
from gradcheck.explainer.traced.same_draws import DRAWN, drawn_again, random_state_kept
from gradcheck.explainer.traced.structured_inputs import (
    drawn_so,
    matrices_of_a_kind,
    moved_so,
    told_of_kinds,
)
from gradcheck.explainer.traced.traced_graph import TooLarge, read_ops
from gradcheck.explainer.traced.traced_page import (
    ASSIGNED,
    explain_traced,
    list_ops,
    told_of_outside,
)
from gradcheck.explainer.traced.traced_proof import symbol_values, verify_traced
from gradcheck.explainer.traced.whole_numbers import as_it_casts, one_by_one
from gradcheck.model import Case, Input, Sample, TargetKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.document import Document
    from gradcheck.explainer.question import Directions
    from gradcheck.explainer.traced.code_to_run import Code
    from gradcheck.explainer.traced.ran_ops import Watched
    from gradcheck.explainer.traced.traced_graph import Traced
    from gradcheck.model import Array

__all__ = ["answer_traced"]

_REALS = ("float64", "float32")
_SAFER = ("positive", "unit")
"""Where to look for a point at which everything is finite, after the ordinary one."""


def answer_traced(
    case: Case,
    code: Code,
    *,
    upstream: Array | None,
    numbers: bool,
    verify: bool,
    directions: Directions,
) -> tuple[Document, list[Proof]]:
    """The page of a case, with the numbers of its point and its proofs where they are wanted.

    Args:
        case: what to explain.
        code: whose code may run.
        upstream: the gradient to begin with, where numbers are shown; ones if None.
        numbers: show every step with its value.
        verify: prove what is printed.
        directions: what to derive beside the gradient.
    """
    with random_state_kept():
        return _answered(case, code, upstream, directions, numbers=numbers, verify=verify)


def _answered(
    case: Case,
    code: Code,
    upstream: Array | None,
    directions: Directions,
    *,
    numbers: bool,
    verify: bool,
) -> tuple[Document, list[Proof]]:
    problem, watched, said = _at_a_good_point(case, code)
    if upstream is not None and np.iscomplexobj(upstream):
        upstream = np.stack([np.real(upstream), np.imag(upstream)], axis=-1)
    problem, watched, of_draws = _with_draws_held(problem, watched)
    said += of_draws
    watched = with_outside(problem, watched)
    if watched.assigns:
        said.append(ASSIGNED)
    decided = [read for read in watched.reads if read.answer is not None or not watched.outside]
    said += filter(None, [told_of_branches(decided)])
    own, title = own_gradients(problem, watched), _title(case)
    try:
        traced = read_ops(watched, title)
        said += [told_of_outside(traced)] if traced.outside else []
        lead = " ".join([_lead(watched), *said, *told_of_own(own, problem, watched, traced)])
        document = explain_traced(traced, lead)
    except TooLarge as why:
        lead = " ".join([_lead(watched), *said, *told_of_own(own, problem, watched, None)])
        if verify or numbers:
            told = "there is no formula to evaluate; without --verify and --at its ops are listed"
            raise UsageError(f"{title}: {why}, so that {told}") from None
        return list_ops(watched, title, lead, str(why)), []
    if not traced.graph.unwritten:
        known = {} if upstream is None else {"G": upstream}
        known |= symbol_values(traced, watched)
        drawn = pictured_expression(traced.graph, known, traced.wanted)
        document = replace(document, picture=drawn)
    if numbers:
        known = symbol_values(traced, watched)
        known |= {} if upstream is None else {"G": upstream}
        section = expression_numbers(traced.graph, known)
        document = replace(document, sections=(*document.sections, section))
    if directions:
        document = with_directions(document, traced.graph, traced.wanted, directions)
    if not verify:
        return document, []
    proofs = verify_traced(problem, watched, traced)
    called = (ops.find(each.name) for each in watched.calls)
    run = [*traced.graph.ops, *(op.name for op in called if op is not None)]
    section = proof_section(proofs, told_of_findings(run))
    document = replace(document, sections=(*document.sections, section))
    if not directions:
        return document, proofs
    with _there(problem, watched, traced) as point:
        document, more = prove_along(document, traced.graph, traced.wanted, directions, point)
    return document, [*proofs, *more]


@contextlib.contextmanager
def _there(problem: Problem, watched: Watched, traced: Traced) -> Iterator[Point]:
    """The point, for what is proved along a direction."""
    with explored(problem) as whole:
        operands = {traced.names[operand.name]: operand for operand in whole.operands}
        yield Point(
            whole.function,
            tuple(operands),
            symbol_values(traced, watched),
            {name: operand.structure for name, operand in operands.items()},
            # (What is written has to be read: a tensor in its place would be read for good.)
            give={n: o.hold for n, o in operands.items()} if watched.writes else {},
            tape_is_cut=watched.assigns,
        )


def _title(case: Case) -> str:
    text = case.target.text.strip()
    if case.target.kind is not TargetKind.LAYER:
        return text
    made, called = (
        ", ".join(f"{k}={v!r}" for k, v in given.items()) for given in (case.init, case.args)
    )
    made = f"{text}({made})" if made or called else text
    return f"{made}({called})" if called else made


def _lead(watched: Watched) -> str:
    kinds = len(watched.ran)
    at = ", ".join(f"{o.name}{list(o.value.shape)}" for o in watched.operands)
    return f"as it runs at {at}: {kinds} op{'s' * (kinds != 1)}."


def _at_a_good_point(case: Case, code: Code) -> tuple[Problem, Watched, list[str]]:
    """The case called at a point where it is finite, and what is to be said of that."""
    asked = case
    problem, watched, case, said = _in_its_precision(case, code)
    whole = as_it_casts(case, watched)
    if whole is not None:
        with contextlib.suppress(GradcheckError):
            problem, watched, case = _called(whole, code)
    if len(watched.outputs) > 1:
        said.append(f"It returns {len(watched.outputs)} tensors; the first is explained.")
        case = replace(case, outputs=(0,))
        problem, watched, case = _called(case, code)
    for sample in _SAFER:
        if watched.is_finite or all(i.values is not None for i in case.inputs):
            break
        inputs = [i if i.values is not None else _drawn(i, sample) for i in case.inputs]
        problem, watched, case = _called(replace(case, inputs=tuple(inputs)), code)
    if kinds := matrices_of_a_kind(watched):
        with contextlib.suppress(GradcheckError):
            problem, watched, case = _called(drawn_so(case, kinds, asked), code)
        problem = moved_so(problem, kinds)
        watched = watch(problem)
        said += told_of_kinds(problem)
    if is_complex(problem, watched.outputs):
        problem, of_parts = in_real_numbers(problem, watched.outputs)
        watched = watch(problem)
        said += of_parts
    return problem, watched, said


def _in_its_precision(case: Case, code: Code) -> tuple[Problem, Watched, Case, list[str]]:
    """Called in float64 where it takes that, forward and back, else in float32."""
    said: list[str] = []
    double, single = ("complex128", "complex64") if _asks_for_complex(case) else _REALS
    single_case = replace(case, dtype=single)
    try:
        problem, watched, case = _called(replace(case, dtype=double), code)
    except UsageError as error:
        if not isinstance(error.__cause__, FunctionRaised):
            raise
        tried = [replace(case, dtype=single), *one_by_one(replace(case, dtype=double))]
        tried += [*one_by_one(replace(case, dtype=single)), replace(case, dtype="complex128")]
        for other in tried:
            with contextlib.suppress(GradcheckError):
                problem, watched, case = _called(other, code)
                break
        else:
            raise error from None
        if case.dtype == single:
            said.append(f"It takes {single} alone, and what is proved holds to the digits of that.")
    else:
        if raised_by_tape(problem, watched) is not None:
            with contextlib.suppress(GradcheckError):
                called = _called(single_case, code)
                if raised_by_tape(*called[:2]) is None:
                    problem, watched, case = called
                    said.append("Its gradient takes float32 alone: what is proved holds to that.")
    if watched.is_single and not said:
        said.append("It computes in float32 inside: what is proved holds to the digits of that.")
    return problem, watched, case, said


def _asks_for_complex(case: Case) -> bool:
    given = (i.values for i in case.inputs if i.values is not None)
    return case.dtype.startswith("complex") or any(np.iscomplexobj(value) for value in given)


def _with_draws_held(problem: Problem, watched: Watched) -> tuple[Problem, Watched, list[str]]:
    again, seen = drawn_again(problem, watched)
    return again, seen, [DRAWN] if again is not problem else []


def _drawn(given: Input, sample: str) -> Input:
    return replace(given, sample=Sample(sample)) if given.dtype is None else given


def _called(case: Case, code: Code) -> tuple[Problem, Watched, Case]:
    """The problem, and its call.

    What a layer takes as its one input has any name; of several, and of those of a function, the
    name says which is meant.
    """
    try:
        return _watched(case, code)
    except FunctionError as error:
        one = case.target.kind is TargetKind.LAYER and len(case.inputs) == 1
        if "has no input" not in str(error) or case.by_position or not one:
            raise
        try:
            return _watched(replace(case, by_position=True), code)
        except FunctionError:
            raise error from None


def _watched(case: Case, code: Code) -> tuple[Problem, Watched, Case]:
    try:
        problem = problem_of(case, allow=code.allow, root=code.root)
    except FunctionRaised as error:
        raise UsageError(f"the function raised {error}") from error
    except (Ended, ValueError) as error:
        raise UsageError(f"{case.target.text} cannot be called so: {error}") from error
    return problem, watch(problem), case
