"""What was asked for → the page that answers it, and the proofs: for the command and the library.

Messages name the options of the command; `explanation.py` puts them into Python's words.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.errors import ExplainError, ExpressionError, GradcheckError, SpecError, UsageError
from gradcheck.explainer.derive.asked_words import in_its_words, whole_inputs
from gradcheck.explainer.derive.call_text import NoRule
from gradcheck.explainer.derive.complete_call import make_call
from gradcheck.explainer.derive.op_subject import Subject
from gradcheck.explainer.derive.safe_names import renamed
from gradcheck.explainer.derive.typed_constants import with_typed_constants
from gradcheck.explainer.document import Bullets, Section
from gradcheck.explainer.loading import load_quietly
from gradcheck.explainer.on_demand import (
    along_of,
    as_graph,
    pictured_expression,
    pictured_op,
)
from gradcheck.explainer.page.known_findings import told_of_findings
from gradcheck.explainer.page.op_page import explain_op
from gradcheck.explainer.proof import proof_section
from gradcheck.explainer.question import (
    Question,
    as_named,
    checked_shape,
    checked_value,
    is_case,
    with_caret,
)
from gradcheck.explainer.time_limit import TookTooLong, limited
from gradcheck.ops.families.einsum import relettering_note
from gradcheck.spec.expression.expression import parse_tf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gradcheck.explainer.document import Document
    from gradcheck.explainer.proof import Proof
    from gradcheck.model import Array

__all__ = ["Answer", "Question", "answer", "answering", "checked_shape", "checked_value"]

LONGEST_EXPLANATION, LONGEST_PROOF = 60.0, 300.0
"""Seconds, after which nothing that is waited for will come; a proof loads TensorFlow."""

Answer = tuple["Document", list["Proof"]]


@contextlib.contextmanager
def answering(*, verify: bool = False) -> Iterator[None]:
    """Within this, whatever goes wrong is a GradcheckError with a sentence, and nothing lasts."""
    try:
        with limited(LONGEST_PROOF if verify else LONGEST_EXPLANATION):
            yield
    except GradcheckError:
        raise
    except TookTooLong:
        told = "it takes too long: explain a part of it, or give smaller shapes"
        raise ExplainError(f"this cannot be explained: {told}") from None
    except Exception as error:  # whatever people think of
        if os.environ.get("GRADCHECK_DEBUG"):
            raise
        told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ExplainError(
            f"this cannot be explained ({told}): explain a part of it; `gradcheck run` checks "
            "what cannot be explained"
        ) from error


def answer(question: Question) -> Answer:
    """The page and its proofs."""
    question = as_named(question)
    name, expr = question.name, question.expr
    shapes = dict(question.shapes)
    for key, value in question.at.items():
        if key != "G":
            shapes.setdefault(key, value.shape)
    question = replace(question, shapes=shapes)
    if expr is None and name is not None and _is_call(name) and not question.args:
        # An expression in the place of a name can be nothing else.
        name, expr = None, name
    _must_be_one(replace(question, name=name, expr=expr))
    if expr is not None:
        return _expression(question, expr, None)
    if question.case is not None:
        from gradcheck.explainer.traced.asked_code import guessed

        return guessed(question, question.case)
    if question.function is not None or question.layer is not None:
        from gradcheck.explainer.traced.asked_code import named_code

        return named_code(question)
    if name is None:
        raise UsageError("name an op, or give --expr: `gradcheck explain` lists the ops")
    if is_case(name):
        return _case(question, name)
    return _op(question, name)


def _is_call(name: str) -> bool:
    """Whether this is code rather than a name: no op and no TensorFlow name has brackets or signs.

    (A path may have a slash and a minus.)
    """
    signs = "(" in name or re.search(r"[*+@\[]", name) is not None or name.lstrip().startswith("-")
    return signs and not is_case(name)


def _undeclared(question: Question, name: str) -> Answer:
    from gradcheck.explainer.traced.code_to_run import is_undeclared

    if is_undeclared(name) and question.shapes:
        from gradcheck.explainer.traced.asked_code import named_code

        return named_code(question)
    if question.unguessed:
        from gradcheck.explainer.traced.ops_by_source import explain_by_source

        if question.verify or question.directions:
            raise UsageError(f"{question.unguessed}: give --shape NAME=3,4 and --arg NAME=VALUE")
        load_quietly()
        return explain_by_source(name, question.unguessed), []
    if re.fullmatch(r"tf\.raw_ops\.\w+", name):
        from gradcheck.explainer.page.registered import explain_registered

        load_quietly()
        return explain_registered(name), []
    from gradcheck.explainer.unknown_op import told_of_unknown

    raise UsageError(told_of_unknown(name))


def _op(question: Question, name: str) -> Answer:
    from gradcheck import ops

    op = ops.find(name)
    if op is None:
        return _undeclared(question, name)
    question = in_its_words(op, question)
    renaming = renamed(question.shapes if op.variadic else ())
    question = replace(question, shapes=renaming.of(question.shapes), at=renaming.of(question.at))
    subject = Subject(op, make_call(op, question.shapes, question.args))
    document = _with_names(explain_op(subject), (*renaming.reasons, *_other_letters(subject)))
    document = replace(document, picture=pictured_op(subject, question.at))
    if {*question.at} - whole_inputs(op):
        from gradcheck.explainer.page.worked_numbers import op_numbers

        document = _with(document, _computed(lambda: op_numbers(subject, question.at)))
    along = along_of(question.directions, lambda: as_graph(subject))
    document = along.added(document) if along else document
    if not question.verify:
        return document, []
    from gradcheck.explainer.proof_points import op_points
    from gradcheck.explainer.verify import verify_op

    load_quietly()
    values = _inputs(question.at)
    proofs = verify_op(subject, values)
    document = _with(document, proof_section(proofs, told_of_findings([op.name])))
    return (
        along.proved(document, proofs, lambda: op_points(subject, values)[0])
        if along
        else (document, proofs)
    )


def _expression(question: Question, text: str, wanted: tuple[str, ...] | None) -> Answer:
    from gradcheck.explainer.derive.read_graph import read_graph
    from gradcheck.explainer.page.expression_page import explain_expression

    renaming = renamed(question.shapes)
    try:
        parse_tf(text, question.shapes)
        graph = read_graph(renaming.text(text), renaming.of(question.shapes))
    except NoRule as error:
        if wanted is not None or not question.shapes:
            raise with_caret(question, text, error) from error
        return _run_expression(question, text, error)
    except ExpressionError as error:
        raise with_caret(question, text, error) from error
    if wanted is not None:
        wanted = tuple(renaming.names.get(name, name) for name in wanted)
    question = replace(question, at=renaming.of(question.at))
    said = (*renaming.reasons, *graph.notes)
    document = replace(_with_names(explain_expression(graph, wanted), said), title=text.strip())
    document = replace(document, picture=pictured_expression(graph, question.at, wanted))
    if question.at:
        from gradcheck.explainer.page.worked_numbers import expression_numbers

        document = _with(document, _computed(lambda: expression_numbers(graph, question.at)))
    along = along_of(question.directions, lambda: graph, wanted)
    document = along.added(document) if along else document
    if not question.verify:
        return document, []
    from gradcheck.explainer.proof_points import expression_points
    from gradcheck.explainer.verify import verify_expression

    load_quietly()
    values = _inputs(question.at)
    proofs = verify_expression(graph, values, wanted=wanted)
    document = _with(document, proof_section(proofs, told_of_findings(graph.ops)))
    return (
        along.proved(document, proofs, lambda: expression_points(graph, values)[0])
        if along
        else (document, proofs)
    )


def _run_expression(question: Question, text: str, error: NoRule) -> Answer:
    """An expression with a part that no declaration describes: it is run, and its ops are read."""
    from gradcheck.explainer.traced.asked_code import run_case
    from gradcheck.explainer.traced.code_to_run import expression_case, settled

    case = expression_case(with_typed_constants(text, tuple(question.shapes)), question.shapes)
    try:
        document, proofs = run_case(question, case, settled(question.allow))
    except UsageError as why:
        raise UsageError(
            f"{with_caret(question, text, error)}\n  = and run as it is: {why}"
        ) from why
    return replace(document, title=text.strip()), proofs


def _must_be_one(question: Question) -> None:
    given = (question.name, question.expr, question.function, question.layer)
    several = sum(each is not None for each in given) > 1
    if question.expr is not None and (several or question.args):
        raise UsageError("--expr stands by itself: no NAME and no --arg beside it")
    if several:
        raise UsageError("explain one thing at a time: a NAME, --expr, --function or --layer")


def _case(question: Question, name: str) -> Answer:
    from gradcheck import ops
    from gradcheck.explainer.traced.code_to_run import settled
    from gradcheck.model import TargetKind
    from gradcheck.spec import load

    code = settled(question.allow)
    loaded = load([name], allow=code.allow)
    if not loaded.cases:  # (what is wrong with other cases is no matter here)
        raise SpecError(loaded.problems)
    case = loaded.cases[0]
    shapes = {given.name: tuple(given.shape) for given in case.inputs}
    asked = replace(question, shapes=shapes, args=case.args)
    values = {g.name: g.values for g in case.inputs if g.values is not None}
    shown = {**values, **question.at} if question.at or len(values) == len(shapes) else {}
    if case.target.kind is TargetKind.OP and ops.find(case.target.text) is not None:
        return _op(replace(asked, at=shown), case.target.text)
    if case.target.kind is TargetKind.EXPR:
        wanted = tuple(given.name for given in case.inputs if given.grad)
        try:
            return _expression(replace(asked, at=shown), case.target.text, wanted)
        except UsageError as error:
            if not isinstance(error.__cause__, ExpressionError):
                raise
    from gradcheck.explainer.traced.asked_code import run_case

    return run_case(question, case, code)


def _other_letters(subject: Subject) -> tuple[str, ...]:
    """What is said of an equation whose letters are names of inputs."""
    equation = subject.call.args.get("equation") if subject.op.name == "einsum" else None
    return () if equation is None else relettering_note(str(equation), subject.call.shapes)


def _with_names(document: Document, said: tuple[str, ...]) -> Document:
    if not said:
        return document
    section = Section("Names", (Bullets(said),))
    return replace(document, sections=(section, *document.sections))


def _inputs(at: Mapping[str, Array]) -> dict[str, Array]:
    return {name: value for name, value in at.items() if name != "G"}


def _computed(numbers: Callable[[], Section]) -> Section:
    """The section with the numbers; UsageError where the values do not allow it."""
    try:
        return numbers()
    except GradcheckError:
        raise
    except Exception as error:  # a matrix without an inverse, an index out of bounds
        raise UsageError(f"--at: nothing can be computed of these values: {error}") from error


def _with(document: Document, section: Section) -> Document:
    return replace(document, sections=(*document.sections, section))
