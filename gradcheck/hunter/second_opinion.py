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
    moved,
    moves_in_steps,
    value_of,
    wide,
)
from gradcheck.hunter.described import right_as_described, right_with_classes
from gradcheck.hunter.documented import of_a_lower_rank, only_somewhere, without_gradient
from gradcheck.hunter.drafts import target_of
from gradcheck.hunter.failures import NUMBERS, UNANSWERED, Failure, FailureKind
from gradcheck.hunter.meant_call import is_meant, not_asked_for, not_promised
from gradcheck.hunter.run_script import is_that, run_script, shows
from gradcheck.hunter.short_script import short_texts
from gradcheck.model import Case, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import ModuleType

    from gradcheck.model import Array

_OF_ZERO = re.compile(r"\b(\w+)=0\.0\b")
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
    answer: dict[str, Any]
    text = request["script"]
    if request.get("forward_only"):
        text = text.partition("\ngradient = ")[0]
    dies = kind in (FailureKind.CRASH, FailureKind.HANG)
    if dies and (told := of_a_lower_rank(request["draft"])):
        answer = {"confirmed": False, "why": f"nothing is promised: {told}"}
        return Result(case.id, Verdict.PASS, message=json.dumps(answer), case=case)
    module, printed, raised = run_script(text)
    answer = {"printed": printed[-4000:], "raised": raised, "confirmed": False}
    try:
        with np.errstate(all="ignore"):
            answer["confirmed"], answer["why"] = _judged(kind, module, raised, request)
            for meant in (right_as_described, right_with_classes):
                if answer["confirmed"] and (told := meant(module, request, _is_right)):
                    answer |= {"confirmed": False, "why": told}
    except Exception as error:  # (whatever a function under test does at another point)
        answer["why"] = f"it is not taken in a graph, or close by: {type(error).__name__}: {error}"
    if answer["confirmed"]:
        answer["short"] = _short(kind, module, raised, request)
    return Result(case.id, Verdict.PASS, message=json.dumps(answer), case=case)


def _short(kind: FailureKind, module: ModuleType, raised: str, request: dict[str, Any]) -> str:
    """A program of a dozen lines that shows it too; empty where none does."""
    failure = Failure(kind, (request["wrong"],), text=request["text"])
    try:
        place = _worst(module) if kind in (*NUMBERS, *UNANSWERED) else ()
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
    told = getattr(module, "gradient", None)
    claimed = np.zeros(right.shape) if told is None else wide(as_array(told))
    if claimed.shape != right.shape:
        return _place(np.abs(right))
    off = np.abs(claimed - right)
    return _place(np.where(np.isnan(off), np.inf, off))


def _judged(
    kind: FailureKind, module: ModuleType, raised: str, request: dict[str, Any]
) -> tuple[bool, str]:
    """Whether the failure is there, and why it is or is not."""
    if kind in UNANSWERED:
        return _unanswered(kind, module, raised, request)
    forward = "the function:" in request.get("printed", "") or hasattr(module, "gradient")
    if raised and not forward:
        return False, f"the program raises {raised}"
    if kind in (FailureKind.CRASH, FailureKind.HANG):
        return False, "it came to an end"
    is_meant(module, request)
    wrong = str(request["wrong"])
    if why := not_promised(module, wrong, request):
        return False, why
    if hasattr(module, "reference"):
        return _in_double(module, str(request["dtype"]))
    seen, told = _by_differences(kind, module, wrong)
    if seen and _only_of_zero(kind, wrong, request["script"]):
        return False, "it is only where an argument is zero"
    said = only_somewhere(request["draft"]) if seen else ""
    if said and not _elsewhere_too(kind, module, wrong):
        return False, said
    return seen, told


def _unanswered(
    kind: FailureKind, module: ModuleType, raised: str, request: dict[str, Any]
) -> tuple[bool, str]:
    """The same of a gradient that raises."""
    if not raised or hasattr(module, "gradient"):
        return False, raised or "nothing was raised"
    if not is_that(raised, request):
        return False, f"something else is raised: {raised}"
    is_meant(module, request)
    why = not_asked_for(module, raised, request)
    why = why or _nothing_to_differentiate(module, str(request["wrong"]))
    if not why and kind is FailureKind.MISSING:
        why = without_gradient(request["about"] or target_of(request["draft"]))
    return not why, why or raised


def _only_of_zero(kind: FailureKind, wrong: str, text: str) -> bool:
    """Whether it fails for an argument of zero alone, by which a function may divide.

    Without it `test_an_argument_of_zero` fails.
    """
    changed = _OF_ZERO.sub(r"\1=0.05", text)
    if changed == text:
        return False
    module, _, raised = run_script(changed)
    return not raised and not _by_differences(kind, module, wrong)[0]


def _elsewhere_too(kind: FailureKind, module: ModuleType, wrong: str) -> bool:
    """Whether it fails at an ordinary point, too."""
    base = np.array(getattr(module, wrong).numpy())
    away = np.random.default_rng(1).uniform(0.5, 2.0, base.shape).astype(base.dtype)
    names = module.derivative.__code__ if hasattr(module, "derivative") else None
    if names is None:
        return True
    with moved(module, wrong, away):
        taken = names.co_varnames[: names.co_argcount]
        given = [getattr(module, name) for name in taken]
        vars(module)["gradient"] = module.derivative(*given)
        return _by_differences(kind, module, wrong)[0]


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
    numeric, bar = _numeric(module, wrong)
    if not np.isfinite(numeric).all():
        return False, "its differences are not finite"
    seen, told = _differs(kind, module, numeric, bar, tuple(getattr(module, wrong).shape))
    if not seen:
        return False, told
    why = _no_ordinary_point(module, wrong, numeric, bar)
    return not why, why or told


def _is_right(kind: FailureKind, module: ModuleType, wrong: str, dtype: str) -> bool:
    """Whether the gradient is the one that there is."""
    if hasattr(module, "reference"):
        return not _in_double(module, dtype)[0]
    numeric, bar = _numeric(module, wrong)
    shape = tuple(getattr(module, wrong).shape)
    return bool(np.isfinite(numeric).all()) and not _differs(kind, module, numeric, bar, shape)[0]


def _nothing_to_differentiate(module: ModuleType, wrong: str) -> str:
    """Why there is no derivative that could be missed; empty where there is one.

    Without it `test_a_gradient_that_nobody_misses` fails.
    """
    if not as_array(getattr(module, wrong)).size:
        return "its input has no elements"
    numeric, bar = _numeric(module, wrong)
    if not np.isfinite(numeric).all():
        return "its differences are not finite"
    if not (np.abs(numeric) > bar + AT_LEAST).any():
        return "the function does not move with it there"
    return _no_ordinary_point(module, wrong, numeric, bar)


def _steps(module: ModuleType, wrong: str) -> tuple[float, ...]:
    fine = getattr(module, wrong).dtype.name in ("float64", "complex128")
    return (1e-5, 1e-4, 1e-6) if fine else (1e-2, 2e-2, 5e-3)


def _numeric(module: ModuleType, wrong: str) -> tuple[Array, Array]:
    """The differences, and how much they may be off; NaN where the function draws its numbers."""
    steps = _steps(module, wrong)
    tried = [wide(as_array(module.differences(step))) for step in steps]
    value = value_of(module)
    if value != value_of(module) and np.isfinite(value):
        return np.full_like(tried[0], np.nan), np.zeros(tried[0].shape)
    # (Steps go with the numbers: beside a tiny one, all that a step does may be rounded away.)
    size = np.abs(wide(as_array(getattr(module, wrong))))
    width = steps[0] * np.where(size == 0, 1.0, np.minimum(size, 1.0))
    # (What is huge on its way is rounded too, though it cancels in the end.)
    largest = max(abs(value), _largest_input(module))
    rounding = largest * (2.0**-52 if steps[0] < 1e-3 else 2.0**-23) / width
    off = np.max([np.abs(tried[0] - each) for each in tried[1:]], axis=0)
    return tried[0], CLEARLY * (off + rounding)


def _largest_input(module: ModuleType) -> float:
    """The largest number that the function is called with.

    Without it `test_what_is_huge_and_cancels` fails.
    """
    names = module.value.__code__.co_varnames[: module.value.__code__.co_argcount]
    arrays = [wide(as_array(getattr(module, name))) for name in names]
    sizes = [float(np.max(np.abs(each), initial=0.0)) for each in arrays]
    return max((size for size in sizes if np.isfinite(size)), default=0.0)


def _no_ordinary_point(module: ModuleType, wrong: str, numeric: Array, bar: Array) -> str:
    """Why another derivative, or none, may be meant there; empty where it may not."""
    if not is_smooth(module, wrong, numeric, bar, _steps(module, wrong)):
        return "the function has a kink or a jump there"
    if moves_in_steps(module, wrong):
        return "the function moves in steps: a gradient that goes straight through is meant"
    return ""


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
