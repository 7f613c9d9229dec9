"""Whether a call is one that its function is meant for, and promises anything of.

A worker asks this of a program in plain TensorFlow that shows a failure.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.phases import FREE_PHASE, depends_on_the_phase, shows_a_phase
from gradcheck.hunter.around_point import as_array, moved, repeats_itself, value_of
from gradcheck.hunter.documented import out_of_range, takes_any_order
from gradcheck.hunter.drafts import target_of
from gradcheck.hunter.random_kernels import drawn_in
from gradcheck.hunter.signatures import RAW
from gradcheck.model import Mode

if TYPE_CHECKING:
    from types import ModuleType

TWICE = "an index is there twice, and nothing is promised then"
_ABOUT_SHAPES = re.compile(r"shape|size|dimension|rank|broadcast", re.IGNORECASE)
"""What raised speaks of a shape."""


def is_meant(module: ModuleType, request: dict[str, Any]) -> bool:
    """Whether the call is one that the function is meant for: a graph refuses what is not.

    Eagerly some kernels take shapes that their definition does not allow.
    """
    given = [getattr(module, name) for name in request["names"]]
    for mode in dict.fromkeys((Mode.GRAPH.value, request["mode"])):
        compiled = mode == Mode.XLA
        module.tf.function(module.function, autograph=False, jit_compile=compiled)(*given)
    return True


def not_asked_for(module: ModuleType, raised: str, request: dict[str, Any]) -> str:
    """Why nobody misses the gradient of a call that raises; empty where nothing says so."""
    if takes_any_order(request["draft"]):
        return TWICE
    drawn = _drawn(module, request)
    return drawn or takes_any_shape(module, raised, request)


def _drawn(module: ModuleType, request: dict[str, Any]) -> str:
    given = [getattr(module, name) for name in request["names"]]
    return drawn_in(lambda: module.function(*given), str(request["about"]), request)


def takes_any_shape(module: ModuleType, raised: str, request: dict[str, Any]) -> str:
    """Where a shape is complained of: which input the function takes in any, and does not read.

    Then what belongs there was never looked at, as values for a slice that is empty. Without it
    `test_an_input_that_may_have_any_shape` fails.
    """
    if not _ABOUT_SHAPES.search(raised):
        return ""
    rng = np.random.default_rng(0)
    before = value_of(module)
    for name in request["names"]:
        array = as_array(getattr(module, name))
        if name == request["wrong"] or not array.size or not array.ndim:
            continue
        other = rng.uniform(0.5, 1.5, (array.shape[0] + 1, *array.shape[1:]))
        with suppress(Exception), moved(module, name, other.astype(array.dtype)):
            if value_of(module) == before:
                return f"{name} is not read, whatever its shape"
    return ""


def not_promised(module: ModuleType, wrong: str, request: dict[str, Any]) -> str:
    """Why nothing is promised of the numbers of this call; empty where nothing says so."""
    if takes_any_order(request["draft"]):
        return TWICE
    if told := _drawn(module, request):
        return told
    told = out_of_range(request["draft"], as_array(getattr(module, wrong)))
    whole = not target_of(request["draft"]).startswith(RAW)
    if not told and whole and does_not_matter(module, wrong):
        return "the function does not depend on it, here nor close by"
    if not told and has_a_free_phase(module):
        return FREE_PHASE
    if not told and not repeats_itself(module, wrong, Mode(request["mode"])):
        return "the function is another one each time, or in its mode"
    return told


def does_not_matter(module: ModuleType, wrong: str) -> bool:
    """Whether the function gives the same wherever this input is, as the deviation of one number.

    Nobody is meant to call it so. Of a kernel it is known what it gives: a power of zero has no
    slope, and what is made of it takes it for that. Without it
    `test_an_input_that_does_not_matter` fails.
    """
    base = np.array(getattr(module, wrong).numpy())
    rng = np.random.default_rng(0)
    values = set()
    for far in (0.0, 0.1, 0.5, 1.0):
        away = base + far * rng.uniform(-1.0, 1.0, base.shape)
        with moved(module, wrong, away.astype(base.dtype)):
            values.add(value_of(module, of_itself=True))
    return len(values) == 1


def has_a_free_phase(module: ModuleType) -> bool:
    """Whether what is differentiated depends on the phase of vectors, which nothing defines.

    Without it `test_vectors_whose_phase_is_free` fails.
    """
    function = getattr(module, "slope", module.value)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = [as_array(getattr(module, name)) for name in names]
    if not any(value.dtype.kind == "c" for value in values):
        return False
    return shows_a_phase(function, values) and depends_on_the_phase(function, values)
