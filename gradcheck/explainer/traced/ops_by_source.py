"""A function of TensorFlow's that could not be called: the ops that its source names."""

from __future__ import annotations

import inspect
import re
from typing import Any

from gradcheck.checker.subject.look_up import look_up
from gradcheck.errors import UsageError
from gradcheck.explainer.document import Document, Paragraph, Section
from gradcheck.explainer.page.registered import registered_blocks

__all__ = ["explain_by_source", "kinds_in_source"]

MOST_KINDS = 6
"""Ops of which the registered gradient is shown."""
_MADE = re.compile(r"gen_\w+\.(\w+)\(")
"""How TensorFlow's own Python calls an op."""


def explain_by_source(name: str, why: str) -> Document:
    """The page of a name at which nothing runs; UsageError where its source names no op either."""
    kinds = kinds_in_source(name)
    if not kinds:
        raise UsageError(f"{why}: give --shape NAME=3,4 and --arg NAME=VALUE")
    told = (
        f"{name} has no declaration here, and {why}. With --shape and --arg, each of its ops is a "
        f"step of the page. By its source and its name it makes {', '.join(kinds)}."
    )
    sources = [
        Section(f"The gradient of {kind}", tuple(registered_blocks(kind)[0]))
        for kind in kinds[:MOST_KINDS]
    ]
    sections = (Section("Ops", (Paragraph(told),)), *sources)
    return Document(name, "", sections, {"op": name, "ops": list(kinds)})


def kinds_in_source(name: str) -> tuple[str, ...]:
    """The kinds of ops that the source of a function calls, and the one that has its name."""
    import tensorflow as tf

    kinds = {_plain(kind): kind for kind in dir(tf.raw_ops) if kind[:1].isupper()}
    function: Any = look_up(name)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ""
    named = [_plain(found) for found in [name.rpartition(".")[2], *_MADE.findall(source)]]
    return tuple(dict.fromkeys(kinds[each] for each in named if each in kinds))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
