"""Whether a program in plain TensorFlow shows a failure too: this runs it, in a worker.

The checker is not asked. The program's own differences are taken with several steps: they tell the
derivative and how well it is known, whether the function is smooth there, and whether a matrix is
meant to be symmetric, of which a gradient says as much with the other half of its elements.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.hunter.failures import FailureKind
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
"""How far the two sides of a point may be apart, of a function that is called smooth there."""


def second_opinion(case: Case, *, allow: Collection[str], root: str) -> Result:
    """Run the program; the message says what it shows, `confirmed` whether that is the failure."""
    request = json.loads(case.reason)
    if root not in sys.path and request.get("users_own"):
        sys.path.insert(0, root)
    del allow
    kind = FailureKind(request["kind"])
    module, printed, raised = _run(request["script"], forward_only=request.get("forward_only", False))
    answer: dict[str, Any] = {"printed": printed[-4000:], "raised": raised, "confirmed": False}
    try:
        with np.errstate(all="ignore"):
            answer["confirmed"], answer["why"] = _judged(kind, module, raised, request)
    except Exception as error:  # (whatever a function under test does at another point)
        answer["why"] = f"it cannot be told: {type(error).__name__}: {error}"[:500]
    return Result(case.id, Verdict.PASS, message=json.dumps(answer), case=case)


def _run(text: str, *, forward_only: bool) -> tuple[ModuleType, str, str]:
    """The module that the program makes, what it prints, and what it raises."""
    if forward_only:
        text = text.partition("\ngradient = ")[0]
    printed, raised = io.StringIO(), ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "shows_it.py")
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("shows_it", path)
        module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                spec.loader.exec_module(module)  # type: ignore[union-attr]
            except Exception as error:
                raised = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return module, printed.getvalue(), raised


def _judged(
    kind: FailureKind, module: ModuleType, raised: str, request: dict[str, Any]
) -> tuple[bool, str]:
    """Whether the failure is there, and why it is or is not."""
    forward = "the function:" in request.get("printed", "") or hasattr(module, "gradient")
    if kind in (FailureKind.RAISES, FailureKind.MISSING):
        came = bool(raised) and not hasattr(module, "gradient")
        function_ran = _runs(module, request)
        return came and function_ran, raised or "nothing was raised"
    if raised and not forward:
        return False, f"the program raises {raised}"
    if kind in (FailureKind.CRASH, FailureKind.HANG):
        return False, "it came to an end"
    if hasattr(module, "reference"):
        return _in_double(module, str(request["dtype"]))
    return _by_differences(kind, module, str(request["wrong"]))


def _runs(module: ModuleType, request: dict[str, Any]) -> bool:
    """Whether the function itself works, eagerly and in the mode in which its gradient does not."""
    given = [getattr(module, name) for name in request["names"]]
    module.value(*given)
    if request["mode"] != Mode.EAGER:
        compiled = request["mode"] == Mode.XLA
        module.tf.function(module.value, autograph=False, jit_compile=compiled)(*given)
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
    """The gradient against differences of three steps, and of either side."""
    point = getattr(module, wrong)
    shape = tuple(point.shape)
    fine = point.dtype.name in ("float64", "complex128")
    steps = (1e-5, 1e-4, 1e-6) if fine else (1e-2, 2e-2, 5e-3)
    tried = [_wide(_numpy(module.differences(step))) for step in steps]
    numeric = tried[0]
    if not np.isfinite(numeric).all():
        return False, "its differences are not finite"
    spread = np.max([np.abs(numeric - each) for each in tried[1:]], axis=0)
    if module.gradient is None or kind is FailureKind.DISCONNECTED:
        none = module.gradient is None or not np.any(_numpy(module.gradient))
        moves = np.abs(numeric) > CLEARLY * spread + AT_LEAST
        return bool(none and moves.any()), f"differences up to {np.abs(numeric).max(initial=0):.4g}"
    claimed = _wide(_numpy(module.gradient))
    if claimed.shape != shape:
        return True, f"the gradient has the shape {claimed.shape}, its input {shape}"
    if not np.isfinite(claimed).all():
        bad = ~np.isfinite(claimed) & (spread < SMOOTH * (np.abs(numeric) + AT_LEAST))
        sides = _sides(module, wrong, steps[0])
        smooth = np.abs(sides[0] - sides[1]) < SMOOTH * (np.abs(numeric) + 1.0)
        return bool((bad & smooth).any()), "not finite where both sides agree"
    return _far_off(claimed, numeric, spread)


def _far_off(claimed: Array, numeric: Array, spread: Array) -> tuple[bool, str]:
    largest = max(float(np.max(np.abs(numeric), initial=0.0)), float(np.max(np.abs(claimed), initial=0.0)))
    far = np.abs(claimed - numeric) > CLEARLY * spread + AT_LEAST * largest
    if not far.any():
        return False, "the differences agree with it, or are too poor to tell"
    if claimed.ndim > 1 and claimed.shape[-1] == claimed.shape[-2]:
        both = [each + np.conj(np.swapaxes(each, -1, -2)) for each in (claimed, numeric)]
        bar = CLEARLY * (spread + np.swapaxes(spread, -1, -2)) + AT_LEAST * largest
        if (np.abs(both[0] - both[1]) <= bar).all():
            return False, "it is right for symmetric matrices, which it is meant for"
    worst = np.unravel_index(int(np.argmax(np.abs(claimed - numeric))), claimed.shape)
    place = [int(i) for i in worst]
    return True, f"at {place}: {claimed[worst]:.6g} in place of {numeric[worst]:.6g}"


def _sides(module: ModuleType, wrong: str, step: float) -> tuple[Array, Array]:
    """The differences to the right and to the left, of the function that the program differentiates."""
    function = getattr(module, "slope", module.value)
    names = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    given = {name: getattr(module, name) for name in names}
    base = given[wrong].numpy()
    constant = type(given[wrong])
    del constant

    def at(values: Array) -> complex:
        tensors = {**given, wrong: module.tf.constant(values)}
        return complex(function(*(tensors[name] for name in names)).numpy())

    here = at(base)
    sides = (np.zeros(base.shape, np.complex128), np.zeros(base.shape, np.complex128))
    for index in np.ndindex(*base.shape):
        for turn in (1, 1j) if base.dtype.kind == "c" else (1,):
            move = np.zeros_like(base)
            move[index] = turn * step * (abs(base[index]) or 1.0)
            width = abs(move[index])
            sides[0][index] += turn * (at(base + move) - here) / width
            sides[1][index] += turn * (here - at(base - move)) / width
    return sides
