"""Runs a program that shows a failure, and says what it showed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.keras_names import counted_apart
from gradcheck.checker.subject.look_up import keras
from gradcheck.checker.subject.refusals import NO_TANGENTS
from gradcheck.hunter.failures import FailureKind
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_WHERE = re.compile(r"\{\{function_node [^}]*\}\} ?| ?\[Op:\w+\]( name:)?")
"""What TensorFlow says of the device in its messages: it is another one each time."""
SAME_START = 50
"""How much of two messages must be the same: further on there may be names of nodes."""
VISIBLE = 0.01
"""By which part two numbers must differ, for a reader to see it."""


def run_script(text: str) -> tuple[ModuleType, str, str]:
    """The module that the program makes, what it prints, and what it raises."""
    printed, raised = io.StringIO(), ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "shows_it.py")
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("shows_it", path)
        module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(), _new_names(text):
            warnings.simplefilter("ignore")
            try:
                spec.loader.exec_module(module)  # type: ignore[union-attr]
            except Exception as error:
                said = _WHERE.sub("", " ".join(str(error).split()))
                raised = f"{type(error).__name__}: {said[:300]}"
    return module, printed.getvalue(), raised


@contextlib.contextmanager
def _new_names(text: str) -> Iterator[None]:
    """Within this, Keras gives names and dtypes as in a new process; behind it, as before."""
    if "import keras" not in text:
        yield
        return
    config = keras().config
    before = config.dtype_policy(), config.floatx()
    try:
        with counted_apart(defaultdict(int)):
            yield
    finally:
        config.set_dtype_policy(before[0])
        config.set_floatx(before[1])


def shows(kind: FailureKind, text: str, expected: str) -> bool:
    """Whether a short program shows this kind of failure, to whoever looks at its two numbers."""
    module, printed, raised = run_script(text)
    if kind in (FailureKind.RAISES, FailureKind.MISSING):
        if raised[:SAME_START] != expected[:SAME_START] or "the function:" not in printed:
            return False
        right = _array(getattr(module, "right", None))
        # (Of a Jacobian there is no difference to be shown.)
        return right is None or bool(np.isfinite(right).all() and np.abs(right).max() > VISIBLE)
    if raised:
        return False
    right, claimed = (_array(getattr(module, name)) for name in ("right", "claimed"))
    if right is None or not np.isfinite(right).all():
        return False
    largest = float(np.max(np.abs(right), initial=0.0))
    if kind is FailureKind.DISCONNECTED:
        return claimed is None and largest > VISIBLE
    if claimed is None or claimed.shape != right.shape:
        return False
    if not np.isfinite(claimed).all():
        return kind is FailureKind.NONFINITE
    largest = max(largest, float(np.max(np.abs(claimed), initial=0.0)))
    return float(np.max(np.abs(claimed - right), initial=0.0)) > VISIBLE * largest


def is_that(raised: str, request: dict[str, Any]) -> bool:
    """Whether what the program raises is what the check has seen."""
    seen = _plain(request["text"])
    if request["about"] and request["kind"] == FailureKind.MISSING:
        return request["about"] in raised
    if any(what in seen and pattern.search(raised) for what, pattern in NO_TANGENTS.items()):
        return True
    name, _, said = raised.partition(": ")
    # (In a graph messages begin with other names.)
    return name in seen and (request["mode"] != Mode.EAGER or _plain(said)[:SAME_START] in seen)


def _plain(text: str) -> str:
    """Without numbers, which are those of the point."""
    return re.sub(r"\d+", "#", " ".join(text.split()))


def _array(told: Any) -> Any:
    return None if told is None else np.asarray(told)
