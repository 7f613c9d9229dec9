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
AT_LEAST = 1e-3
"""And by which part of the largest element: less may be rounding."""
FEW_BITS = {"float16": 2.0**-11, "bfloat16": 2.0**-8}
ULPS_OFF = 16.0
"""Of few bits: how many roundings off, relative to the largest element, and"""
SHARE_OFF = 0.1
"""by which part of the element itself."""
SMOOTH = 0.05
"""By which part a derivative may change close by, of a function that is called smooth there."""
LOOKED_AT = 6
"""Elements along which a function is looked at for steps."""


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
    right = _wide(_numpy(known))
    told = module.gradient
    claimed = np.zeros(right.shape) if told is None else _wide(_numpy(told))
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


def _numpy(tensor: Any) -> Array:
    if hasattr(tensor, "values") and hasattr(tensor, "dense_shape"):
        dense = np.zeros(tuple(tensor.dense_shape.numpy()), tensor.values.dtype.as_numpy_dtype)
        np.add.at(dense, tensor.indices.numpy(), tensor.values.numpy())
        return dense
    return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _in_double(module: ModuleType, dtype: str) -> tuple[bool, str]:
    """Few bits against all of them, at the same point."""
    low, high = _wide(_numpy(module.gradient)), _wide(_numpy(module.reference))
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
    tried = [_wide(_numpy(module.differences(step))) for step in steps]
    numeric = tried[0]
    if not np.isfinite(numeric).all():
        return False, "its differences are not finite"
    rounding = abs(_value(module)) * (2.0**-52 if fine else 2.0**-23) / steps[0]
    bar = CLEARLY * (np.max([np.abs(numeric - each) for each in tried[1:]], axis=0) + rounding)
    seen, told = _differs(kind, module, numeric, bar, tuple(point.shape))
    if not seen:
        return False, told
    if not _is_smooth(module, wrong, numeric, bar, steps):
        return False, "the function has a kink or a jump there"
    if _moves_in_steps(module, wrong):
        return False, "the function moves in steps: a gradient that goes straight through is meant"
    return True, told


def _differs(
    kind: FailureKind, module: ModuleType, numeric: Array, bar: Array, shape: tuple[int, ...]
) -> tuple[bool, str]:
    """Whether the gradient is another one than the differences, beyond their error."""
    largest = float(np.max(np.abs(numeric), initial=0.0))
    if module.gradient is None or kind is FailureKind.DISCONNECTED:
        none = module.gradient is None or not np.any(_numpy(module.gradient))
        moves = np.abs(numeric) > bar + AT_LEAST
        return bool(none and moves.any()), f"None, where the differences are up to {largest:.4g}"
    claimed = _wide(_numpy(module.gradient))
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
        wide = bar + np.swapaxes(bar, -1, -2) + AT_LEAST * largest
        if claimed.shape[-1] > 1 and (np.abs(both[0] - both[1]) <= wide).all():
            return False, "it is right for symmetric matrices, which it is meant for"
    worst = _place(np.abs(claimed - numeric))
    return True, f"at {list(worst)}: {claimed[worst]:.6g} in place of {numeric[worst]:.6g}"


def _place(size: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(size)), size.shape))


def _is_smooth(
    module: ModuleType, wrong: str, numeric: Array, bar: Array, steps: tuple[float, ...]
) -> bool:
    """Whether the derivative is nearly the same close by: at a kink, a tie or a jump it is not."""
    point = getattr(module, wrong)
    base = np.array(point.numpy())
    rng = np.random.default_rng(0)
    largest = float(np.max(np.abs(numeric), initial=0.0))
    try:
        for _ in range(3):
            away = rng.choice([-1.0, 1.0], size=base.shape) * rng.uniform(0.5, 1.0, base.shape)
            size = np.where(base == 0, 1.0, np.abs(base)).real
            moved = (base + 3 * steps[1] * away * size).astype(base.dtype)
            setattr(module, wrong, module.tf.constant(moved))
            near = _wide(_numpy(module.differences(steps[2])))
            if not (np.abs(near - numeric) <= 2 * bar + SMOOTH * (largest + AT_LEAST)).all():
                return False
    finally:
        setattr(module, wrong, point)
    return True


def _moves_in_steps(module: ModuleType, wrong: str) -> bool:
    """Whether the function is flat along an element wherever one looks, with several levels.

    Then it rounds on purpose: what is told as its gradient is that of the function before rounding.
    """
    function, given = _function(module)
    base = np.array(given[wrong].numpy())
    rng = np.random.default_rng(0)
    for index in list(np.ndindex(*base.shape))[:LOOKED_AT]:
        levels = set()
        for _ in range(12):
            moved, near = base.copy(), base.copy()
            moved[index] += rng.uniform(-1.0, 1.0)
            near[index] = moved[index] + 1e-4
            here = _at(module, function, given, wrong, moved)
            levels.add(here)
            if here != _at(module, function, given, wrong, near):
                levels.clear()
                break
        if len(levels) > 2:
            return True
    return False


def _value(module: ModuleType) -> complex:
    function, given = _function(module)
    return complex(function(*given.values()).numpy())


def _function(module: ModuleType) -> tuple[Any, dict[str, Any]]:
    """The function that the program differentiates, and what it gives to it."""
    function = getattr(module, "slope", module.value)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return function, {name: getattr(module, name) for name in names}


def _at(
    module: ModuleType, function: Any, given: dict[str, Any], wrong: str, values: Array
) -> complex:
    tensors = {**given, wrong: module.tf.constant(values)}
    return complex(function(*tensors.values()).numpy())
