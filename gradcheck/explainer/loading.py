"""TensorFlow, loaded where an explanation needs it, without its start-up notes."""

from __future__ import annotations

import gc
import os


def load_quietly() -> None:
    """Load TensorFlow; what it prints meanwhile, which no setting keeps back, goes nowhere.

    Nothing is collected while it loads: what it makes stays, and to look for garbage among it takes
    a fifth of the whole time. Without that `test_nothing_is_collected_while_tensorflow_loads`
    fails.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    collects = gc.isenabled()
    gc.disable()
    try:
        import tensorflow as tf

        tf.zeros([])  # the first op has notes of its own
    finally:
        if collects:
            gc.enable()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
