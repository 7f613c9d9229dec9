"""Whether a program in plain TensorFlow shows a failure too: this runs it, in a worker.

The checker is not asked. The program's own differences are taken with several steps: they tell the
derivative and how well it is known, whether the function is smooth there, and whether a matrix is
meant to be symmetric, of which a gradient says as much with the other half of its elements.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.hunter.around_point import (
    AT_LEAST,
    SMOOTH,
    as_array,
    is_smooth,
    moves_in_steps,
    value_of,
    wide,
)
from gradcheck.hunter.failures import Failure, FailureKind
from gradcheck.hunter.one_cause import NUMBERS
from gradcheck.hunter.run_script import SAME_START, run_script, shows
from gradcheck.hunter.short_script import short_texts
from gradcheck.model import Case, Mode, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import ModuleType

    from gradcheck.model import Array

CLEARLY = 10.0
"""How many times the error of the differences a gradient must be off."""
FEW_BITS = {"float16": 2.0**-11, "bfloat16": 2.0**-8}
ULPS_OFF = 16.0
"""Of few bits: how many roundings off, relative to the largest element, and"""
SHARE_OFF = 0.1
"""by which part of the element itself."""


def second_opinion(case: Case, *, allow: Collection[str], root: str) -> Result:
    """Run the program; the message says what it shows, `confirmed` whether that is the failure."""
    request = json.loads(case.reason)
    if root not in sys.path and request.get("users_own"):
        sys.path.insert(0, root)
    del allow
    kind = FailureKind(request["kind"])
    text = request["script"]
    if request.get("forward_only"):
        text = text.partition("\ngradient = ")[0]
    module, printed, raised = run_script(text)
    answer: dict[str, Any] = {"printed": printed[-4000:], "raised": raised, "confirmed": False}
    try:
        with np.errstate(all="ignore"):
            answer["confirmed"], answer["why"] = _judged(kind, module, raised, request)
    except Exception as error:  # (whatever a function under test does at another point)
        answer["why"] = f"it is not taken in a graph, or close by: {type(error).__name__}: {error}"
    if answer["confirmed"]:
        answer["short"] = _short(kind, module, raised, request)
    return Result(case.id, Verdict.PASS, message=json.dumps(answer), case=case)


def _short(kind: FailureKind, module: ModuleType, raised: str, request: dict[str, Any]) -> str:
    """A program of a dozen lines that shows it too; empty where none does."""
    failure = Failure(kind, (request["wrong"],), text=request["text"])
    try:
        place = _worst(module) if kind in NUMBERS else ()
        for text in short_texts(request["draft"], failure, place):
            if shows(kind, text, raised):
                return text
    except Exception:  # (the long one is there, whatever the function does in another form)
        return ""
    return ""


def _worst(module: ModuleType) -> tuple[int, ...]:
    """The element of the gradient that is furthest off."""
    known = module.reference if hasattr(module, "reference") else module.differences(1e-3)
    right = wide(as_array(known))
    told = module.gradient
    claimed = np.zeros(right.shape) if told is None else wide(as_array(told))
    if claimed.shape != right.shape:
        return _place(np.abs(right))
    off = np.abs(claimed - right)
    return _place(np.where(np.isnan(off), np.inf, off))


def _judged(
    kind: FailureKind, module: ModuleType, raised: str, request: dict[str, Any]
) -> tuple[bool, str]:
    """Whether the failure is there, and why it is or is not."""
    forward = "the function:" in request.get("printed", "") or hasattr(module, "gradient")
    if kind in (FailureKind.RAISES, FailureKind.MISSING):
        if not raised or hasattr(module, "gradient"):
            return False, raised or "nothing was raised"
        if not _is_that(raised, request):
            return False, f"something else is raised: {raised}"
        return _is_meant(module, request), raised
    if raised and not forward:
        return False, f"the program raises {raised}"
    if kind in (FailureKind.CRASH, FailureKind.HANG):
        return False, "it came to an end"
    _is_meant(module, request)
    if hasattr(module, "reference"):
        return _in_double(module, str(request["dtype"]))
    return _by_differences(kind, module, str(request["wrong"]))


def _is_that(raised: str, request: dict[str, Any]) -> bool:
    """Whether what the program raises is what the check has seen."""
    seen = _plain(request["text"])
    if request["about"] and request["kind"] == FailureKind.MISSING:
        return request["about"] in raised
    name, _, said = raised.partition(": ")
    # (In a graph messages begin with other names.)
    return name in seen and (request["mode"] != Mode.EAGER or _plain(said)[:SAME_START] in seen)


def _plain(text: str) -> str:
    """Without numbers, which are those of the point."""
    return re.sub(r"\d+", "#", " ".join(text.split()))


def _is_meant(module: ModuleType, request: dict[str, Any]) -> bool:
    """Whether the call is one that the function is meant for: a graph refuses what is not.

    Eagerly some kernels take shapes that their definition does not allow.
    """
    given = [getattr(module, name) for name in request["names"]]
    for mode in dict.fromkeys((Mode.GRAPH.value, request["mode"])):
        compiled = mode == Mode.XLA
        module.tf.function(module.function, autograph=False, jit_compile=compiled)(*given)
    return True


def _in_double(module: ModuleType, dtype: str) -> tuple[bool, str]:
    """Few bits against all of them, at the same point."""
    low, high = wide(as_array(module.gradient)), wide(as_array(module.reference))
    if not np.isfinite(high).all():
        return False, "in double precision it is not finite either"
    largest = float(np.max(np.abs(high), initial=0.0))
    if largest > float(2.0**15 if dtype == "float16" else 1e37) or largest == 0.0:
        return False, "it does not fit into the range of the type, or is zero"
    off = np.abs(low - high)
    off = np.where(np.isnan(off), np.inf, off)
    far = (off > ULPS_OFF * FEW_BITS[dtype] * largest) & (off > SHARE_OFF * np.abs(high))
    return bool(far.any()), f"off by {float(off.max(initial=0.0)):.3g} of {largest:.3g}"


def _by_differences(kind: FailureKind, module: ModuleType, wrong: str) -> tuple[bool, str]:
    """The gradient against differences of several steps, where the function is smooth."""
    point = getattr(module, wrong)
    fine = point.dtype.name in ("float64", "complex128")
    steps = (1e-5, 1e-4, 1e-6) if fine else (1e-2, 2e-2, 5e-3)
    tried = [wide(as_array(module.differences(step))) for step in steps]
    numeric = tried[0]
    if not np.isfinite(numeric).all():
        return False, "its differences are not finite"
    rounding = abs(value_of(module)) * (2.0**-52 if fine else 2.0**-23) / steps[0]
    bar = CLEARLY * (np.max([np.abs(numeric - each) for each in tried[1:]], axis=0) + rounding)
    seen, told = _differs(kind, module, numeric, bar, tuple(point.shape))
    if not seen:
        return False, told
    if not is_smooth(module, wrong, numeric, bar, steps):
        return False, "the function has a kink or a jump there"
    if moves_in_steps(module, wrong):
        return False, "the function moves in steps: a gradient that goes straight through is meant"
    return True, told


def _differs(
    kind: FailureKind, module: ModuleType, numeric: Array, bar: Array, shape: tuple[int, ...]
) -> tuple[bool, str]:
    """Whether the gradient is another one than the differences, beyond their error."""
    largest = float(np.max(np.abs(numeric), initial=0.0))
    if module.gradient is None or kind is FailureKind.DISCONNECTED:
        none = module.gradient is None or not np.any(as_array(module.gradient))
        moves = np.abs(numeric) > bar + AT_LEAST
        return bool(none and moves.any()), f"None, where the differences are up to {largest:.4g}"
    claimed = wide(as_array(module.gradient))
    if claimed.shape != shape:
        return True, f"it has the shape {list(claimed.shape)}, its input {list(shape)}"
    if not np.isfinite(claimed).all():
        bad = ~np.isfinite(claimed) & (bar < SMOOTH * (largest + 1.0))
        worst = _place(bad)
        return bool(
            bad.any()
        ), f"at {list(worst)}: {claimed[worst]:.6g} in place of {numeric[worst]:.6g}"
    largest = max(largest, float(np.max(np.abs(claimed), initial=0.0)))
    far = np.abs(claimed - numeric) > bar + AT_LEAST * largest
    if not far.any():
        return False, "the differences agree with it, or are too poor to tell"
    if claimed.ndim > 1 and claimed.shape[-1] == claimed.shape[-2]:
        both = [each + np.conj(np.swapaxes(each, -1, -2)) for each in (claimed, numeric)]
        bars = bar + np.swapaxes(bar, -1, -2) + AT_LEAST * largest
        if claimed.shape[-1] > 1 and (np.abs(both[0] - both[1]) <= bars).all():
            return False, "it is right for symmetric matrices, which it is meant for"
    worst = _place(np.abs(claimed - numeric))
    return True, f"at {list(worst)}: {claimed[worst]:.6g} in place of {numeric[worst]:.6g}"


def _place(size: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(size)), size.shape))
