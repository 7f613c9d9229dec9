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
_CALLED = re.compile(r"(?<![\w.])([a-z_]\w*)\(")
DEEPEST = 2
"""How far calls are followed: `tf.sparse.segment_sum` calls another function, and that the op."""


def explain_by_source(name: str, why: str) -> Document:
    """The page of a name at which nothing runs; UsageError where its source names no op either."""
    kinds = kinds_in_source(name)
    if not kinds:
        raise UsageError(f"{why}: give --shape NAME=3,4 and --arg NAME=VALUE")
    told = (
        f"{name} has no declaration here, and {why}. With --shape and --arg, each of its ops is a "
        f"step of the page. By its source it makes {', '.join(kinds)}."
    )
    sources = [
        Section(f"The gradient of {kind}", tuple(registered_blocks(kind)[0]))
        for kind in kinds[:MOST_KINDS]
    ]
    sections = (Section("Ops", (Paragraph(told),)), *sources)
    return Document(name, "", sections, {"op": name, "ops": list(kinds)})


def kinds_in_source(name: str) -> tuple[str, ...]:
    """The kinds of ops that the source of a function calls, itself or by what it calls."""
    import tensorflow as tf

    kinds = {_plain(kind): kind for kind in dir(tf.raw_ops) if kind[:1].isupper()}
    named: dict[str, None] = {}
    _collect(look_up(name), named, DEEPEST)
    return tuple(dict.fromkeys(kinds[each] for each in named if each in kinds))


def _collect(function: Any, named: dict[str, None], deepest: int) -> None:
    """Add the ops that a function calls, and those of the functions of its module that it calls."""
    function = inspect.unwrap(function)
    module = str(getattr(function, "__module__", ""))
    if module.rpartition(".")[2].startswith("gen_"):
        # (What is generated is the op of that name.)
        named[_plain(function.__name__)] = None
        return
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return
    named |= dict.fromkeys(map(_plain, _MADE.findall(source)))
    if not deepest:
        return
    around = getattr(function, "__globals__", {})
    for called in dict.fromkeys(_CALLED.findall(source)):
        other = around.get(called)
        if inspect.isfunction(other) and inspect.unwrap(other) is not function:
            _collect(other, named, deepest - 1)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
