"""Gradients that somebody wrote, beside what is derived: whether they are the same, and where not.

Imports TensorFlow where it is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.gradient_functions import gradient_functions
from gradcheck.explainer.code_proof import LOW_TOLERANCE
from gradcheck.explainer.derive.chain import bar, run_chain
from gradcheck.explainer.proof import PROOF_TOLERANCE, difference_told
from gradcheck.explainer.traced.traced_proof import symbol_values, tape_of

if TYPE_CHECKING:
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.explainer.traced.ran_ops import Watched
    from gradcheck.explainer.traced.traced_graph import Traced

__all__ = ["own_gradients", "raised_by_tape", "told_of_own"]

Places = dict[str, list[str]]
"""By input: where its gradient is written."""


def own_gradients(problem: Problem, watched: Watched) -> Places:
    """Where the user wrote a gradient: it is not what is derived here."""
    upstream = [np.ones(tuple(out.shape)) for out in watched.outputs]
    found: Places = {}
    # (Explored, so that what a call leaves behind is put back: a seed that it advances.)
    with explored(problem) as whole:
        for operand in problem.operands:
            if operand.differentiate:
                functions = gradient_functions(
                    whole.function, whole.operands, upstream, operand.name
                )
                places = {f"{each.place.path}:{each.place.line}" for each in functions}
                if places:
                    found[operand.name] = sorted(places)
    return found


def raised_by_tape(problem: Problem, watched: Watched) -> str | None:
    """What the way back raises at this point, where the function does not."""
    try:
        tape_of(problem, np.ones(watched.outputs[0].shape))
    except Exception as error:  # whatever gradients raise
        return " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return None


def told_of_own(
    places: Places, problem: Problem, watched: Watched, traced: Traced | None
) -> list[str]:
    """What is said of them: that they are taken, and whether they are what is derived."""
    if not places:
        return []
    listed = " and ".join(sorted({place for found in places.values() for place in found}))
    said = [
        f"The tape takes the gradient that is written at {listed}; derived here is what the ops "
        "of the function say."
    ]
    raised = raised_by_tape(problem, watched)
    if raised is not None:
        return [*said, f"It raises {raised}"]
    if traced is None:
        return said
    upstream = np.random.default_rng(problem.seed).standard_normal(watched.outputs[0].shape)
    derived = run_chain(traced.graph, symbol_values(traced, watched), upstream)
    written = tape_of(problem, upstream)
    wrong, same = [], []
    for name, found in places.items():
        shown = traced.names[name]
        own = derived.get(bar(traced.graph, shown))
        if own is not None and name in written:
            single = watched.values[name].dtype == np.float32
            told = difference_told(
                shown,
                np.asarray(own),
                written[name],
                f"the gradient that is written at {' and '.join(found)}",
                LOW_TOLERANCE if single else PROOF_TOLERANCE,
            )
            wrong += [told] if told else []
            same += [] if told else [shown]
    # (Of a variable that is read it is `--verify` that looks.)
    of = ", ".join(f"∂L/∂{name}" for name in same)
    agree = (
        f"At this point the two are the same for {of}; `--verify` looks at all, beside differences."
    )
    return [*said, *wrong, *([agree] if same else [])]
