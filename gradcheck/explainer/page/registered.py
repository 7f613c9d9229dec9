"""What TensorFlow registers for an op that has no declaration here: imports TensorFlow."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.errors import UsageError, nearest
from gradcheck.explainer.document import Block, Code, Document, Paragraph, Section

__all__ = ["explain_registered", "registered_blocks"]


def explain_registered(name: str) -> Document:
    """The gradient function of `tf.raw_ops.…`: its name, file and source."""
    import tensorflow as tf

    kind = name.rpartition(".")[2]
    if not hasattr(tf.raw_ops, kind):
        near = nearest(kind, dir(tf.raw_ops))
        hint = f": did you mean 'tf.raw_ops.{near}'?" if near else ""
        raise UsageError(f"TensorFlow {tf.__version__} has no op {name!r}{hint}")
    undeclared = Paragraph(f"{name} has no declaration here: no formula of it has been proved.")
    blocks, data = registered_blocks(kind)
    section = Section("Registered gradient", (undeclared, *blocks))
    return Document(name, "", (section,), {"op": name, **data} if data else {})


def registered_blocks(kind: str) -> tuple[list[Block], dict[str, str]]:
    """What TensorFlow registers as the gradient of an op: sentences and source, and as data."""
    import tensorflow as tf

    try:
        function: Any = private(Private.REGISTRY).lookup(kind)
    except Absent:
        told = f"TensorFlow {tf.__version__} does not tell which gradient it registers."
        return [Paragraph(told)], {}
    except LookupError:
        told = f"TensorFlow {tf.__version__} registers no gradient for it either: the tape raises."
        return [Paragraph(told)], {}
    if function is None:
        told = "TensorFlow registers it as not differentiable: the tape gives None."
        return [Paragraph(told)], {}
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    place, source = _source(function)
    told = f"TensorFlow {tf.__version__} registers {function.__name__} ({place}):"
    data = {"registered": function.__name__, "file": place, "source": "\n".join(source)}
    return [Paragraph(told), Code(tuple(source))], data


def _source(function: Any) -> tuple[str, list[str]]:
    try:
        lines, start = inspect.getsourcelines(function)
        path = Path(inspect.getsourcefile(function) or "?")
    except (OSError, TypeError):
        return "no source", []
    parts = path.parts
    inside = parts[parts.index("tensorflow") :] if "tensorflow" in parts else parts[-1:]
    return f"{'/'.join(inside)}:{start}", [line.rstrip("\n") for line in lines]
