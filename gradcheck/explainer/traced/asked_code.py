"""What is asked of code: a function or a layer that was named, or a call that was guessed."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.build_layer import layer_class
from gradcheck.explainer.loading import load_quietly
from gradcheck.explainer.traced.code_to_run import kind_of, named_case, settled
from gradcheck.explainer.traced.traced_answer import answer_traced
from gradcheck.model import TargetKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.explainer.document import Document
    from gradcheck.explainer.proof import Proof
    from gradcheck.explainer.question import Question
    from gradcheck.explainer.traced.code_to_run import Code
    from gradcheck.model import Case


def named_code(question: Question) -> tuple[Document, list[Proof]]:
    """What `--function` or `--layer` names: to name it is to let its code run."""
    text = question.function or question.layer or question.name or ""
    kind = TargetKind.FUNCTION if question.function is not None else TargetKind.LAYER
    kind = kind_of(text) if question.name is not None else kind
    case, code = named_case(kind, text, question.shapes, question.args, question.at, question.allow)
    load_quietly()
    return run_case(question, with_call_arguments(case, code), code)


def with_call_arguments(case: Case, code: Code) -> Case:
    """Of a layer: what its class does not take and its call does, as `training`, is for the call.

    Without it `test_a_layer_in_training` fails.
    """
    if case.target.kind is not TargetKind.LAYER:
        return case
    kind = layer_class(case.target.text, code.allow, code.root)
    called = {"training", *_names(getattr(kind, "call", kind.__call__))}
    for_call = (called - _names(kind.__init__)) & case.init.keys()
    init = {k: v for k, v in case.init.items() if k not in for_call}
    return replace(case, init=init, args={k: case.init[k] for k in for_call})


def _names(function: Callable[..., Any]) -> set[str]:
    """What it takes by name; nothing where nobody can tell."""
    try:
        return {*inspect.signature(function).parameters}
    except (TypeError, ValueError):
        return set()


def guessed(question: Question, case: Case) -> tuple[Document, list[Proof]]:
    """What is named alone, at arguments with which it was seen to run."""
    return run_case(question, case, settled(question.allow))


def run_case(question: Question, case: Case, code: Code) -> tuple[Document, list[Proof]]:
    """A case, at the values that are asked for."""
    load_quietly()
    inputs = tuple(replace(i, values=question.at.get(i.name, i.values)) for i in case.inputs)
    return answer_traced(
        replace(case, inputs=inputs),
        code,
        upstream=question.at.get("G"),
        numbers=bool(question.at),
        verify=question.verify,
        directions=question.directions,
    )
