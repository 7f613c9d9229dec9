"""Functions of ours as they run in a mode."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradcheck.model import Mode


def as_graph(function: Any, mode: Mode) -> Any:
    """The function as a graph for each signature that it is called with, compiled for XLA.

    TensorFlow counts how often the code of a function is traced, and warns its user; a partial has
    no code, so that each check counts for itself. Without it `test_no_warning_of_our_own_graphs`
    fails.
    """
    import tensorflow as tf

    made = tf.function(partial(function), jit_compile=mode is Mode.XLA, autograph=False)
    made.made_of = function
    return made


def made_of(function: Any) -> Any:
    """The function that a graph of ours was made of; any other function as it is.

    Forward mode inside of a graph does not see what a graph within it reads from variables.
    Without it `test_variables_of_a_function_that_is_another_one_in_its_mode` fails.
    """
    return getattr(function, "made_of", function)
