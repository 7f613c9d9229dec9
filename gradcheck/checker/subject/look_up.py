"""Dotted names of TensorFlow's and Keras' into what they stand for in what is installed."""

from __future__ import annotations

import importlib
from typing import Any

from gradcheck.checker.subject.ended import Ended
from gradcheck.errors import UsageError
from gradcheck.model import Verdict

_MISSING = object()


def look_up(name: str) -> Any:
    """The function or class; whoever asks has made sure that a spec may name it.

    Ends the check as skipped where this version does not have it.
    """
    root = name.partition(".")[0]
    found: Any = keras() if root == "keras" else importlib.import_module("tensorflow")
    version = f"{'Keras' if root == 'keras' else 'TensorFlow'} {found.__version__}"
    for part in name.split(".")[1:]:
        # (`tf.newaxis` is there, and is None.)
        found = getattr(found, part, _MISSING)
        if found is _MISSING and name.startswith("tf.keras."):
            # The two have not quite the same names.
            return look_up(name.removeprefix("tf."))
        if found is _MISSING:
            raise Ended(Verdict.SKIPPED, f"{version} has no `{name}`")
    return found


def keras() -> Any:
    """Keras, which must compute with TensorFlow."""
    module: Any = importlib.import_module("keras")
    backend = module.backend.backend()
    if backend != "tensorflow":
        raise UsageError(f"Keras computes with {backend} here: set KERAS_BACKEND=tensorflow")
    return module
