"""A call of what is named alone: arguments are guessed and tried, as `gradcheck new` does it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradcheck.cli.say import say
from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from gradcheck.explainer.question import Question

__all__ = ["with_guess"]

LONGEST_GUESS = 60.0
"""Seconds for which shapes are looked for before somebody is asked for them."""


def with_guess(question: Question) -> Question:
    """The question with a case that runs, where it names code and no shape; else as it is."""
    target = _target(question)
    if target is None:
        return question
    from gradcheck.run import in_a_command, warm_up

    click.get_current_context().with_resource(in_a_command())
    warm_up()
    from gradcheck.spec.settings import read_settings
    from gradcheck.start.named_target import find_named
    from gradcheck.start.trial import try_all

    say(f"note: looking for arguments with which {target} runs (--shape gives them)", err=True)
    settings = read_settings(Path.cwd(), allow=question.allow)
    named = find_named(target, allow=settings.allow, root=str(settings.root))
    (tried,) = try_all(
        [(named.found, named.key)],
        allow=named.allow,
        root=str(settings.root),
        until=time.monotonic() + LONGEST_GUESS,
    )
    if tried.result is None or tried.result.case is None:
        told = f"no arguments were found with which {target} runs ({tried.reason})"
        if question.name is not None:
            return replace(question, unguessed=told)
        raise UsageError(f"{told}: give --shape NAME=3,4 and --arg NAME=VALUE")
    return replace(question, case=tried.result.case, allow=named.allow)


def _target(question: Question) -> str | None:
    """What arguments are to be guessed for; None where there is no need to."""
    if question.shapes or question.at or question.args:
        return None
    named = question.function or question.layer
    if named is None and question.name is not None:
        from gradcheck import ops

        if ops.find(question.name) is not None:
            return None
        from gradcheck.explainer.traced.code_to_run import is_undeclared

        named = question.name
        # (Of a kernel the registered gradient is shown, which takes no call.)
        kernel = question.name.startswith("tf.raw_ops.")
        named = named if is_undeclared(named) and not kernel else None
    return None if named is None else named.removeprefix("tf.") if ".keras." in named else named
