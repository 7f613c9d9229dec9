"""The library's way in: `check` a function at a point."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gradcheck.checker.check import check_problem
from gradcheck.checker.subject.arguments import take_apart
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.select_outputs import select
from gradcheck.errors import UsageError, did_you_mean
from gradcheck.model import (
    CheckKind,
    Mode,
    Result,
    Tolerance,
    Upstream,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.checker.subject.callee import Callee


def check(
    fn: Callable[..., Any],
    *inputs: Any,
    wrt: Any = None,
    upstream: Any = None,
    seed: int = 0,
    tolerance: Tolerance | tuple[float, float] | dict[str, float] | None = None,
    mode: str = "eager",
    checks: str | Sequence[str] = ("reverse",),
    structure: Mapping[str, str] | None = None,
    call: Mapping[str, Any] | None = None,
    variables: bool = True,
    outputs: int | str | Sequence[int | str] = (),
    cdf: Callable[..., Any] | None = None,
    budget: float | None = None,
    **named: Any,
) -> Result:
    """Check the gradients of `fn` at its inputs and variables; all is left as it was found.

    Args:
        fn: a function, a Keras layer, model or loss, a tf.Module; it may return any structure.
        *inputs: arrays, numbers, tensors or variables of any dtype, or structures of them:
            dictionaries, lists, tuples, data classes, ragged and sparse tensors.
        wrt: what to differentiate, inputs by position or name, variables by name or themselves; by
            default every real or complex input and every trainable variable that `fn` reads.
        upstream: the cotangent: "random" (signed), "ones", an array, or a list with one per output.
        seed: for everything that is drawn.
        tolerance: `(rtol, atol)` or a Tolerance, in place of the error bars.
        mode: "eager", "graph" or "xla".
        checks: any of "reverse", "forward", "second" and "jacobian".
        structure: by name of an input, "symmetric" (or Hermitian) or "lower" (triangular): it is
            then only moved to matrices of the same kind, as cholesky and eigh take for granted.
        call: keyword arguments of `fn` that are no inputs, such as {"training": True}.
        variables: False leaves the variables that `fn` reads unchecked.
        outputs: which outputs are differentiated, by position or name; by default all.
        cdf: of a function that draws a sample by rejection: its distribution function, of the
            sample and the inputs; then the gradient is compared with −∂F/∂θ / f.
        budget: seconds of processor time; 10 by default. Then the verdict is on what is known.
        **named: inputs by name.

    Returns:
        A Result. What the function does (raise, return NaN, be random) is a verdict, never an
        exception; only a call that makes no sense raises UsageError.
    """
    _must_be_inputs(fn, named)
    given = take_apart(fn, inputs, named, call or {}, wrt, structure, variables=variables)
    problem = Problem(
        function=_selecting(given.callee, outputs),
        operands=given.operands,
        wanted=given.wanted,
        upstream=_upstream(upstream),
        mode=_member(Mode, mode, "mode"),
        checks=_kinds(checks),
        seed=_seed(seed),
        tolerance=_tolerance(tolerance),
        cdf=given.distribution(_cdf(cdf, checks)),
        budget=_budget(budget),
    )
    return check_problem(problem, getattr(fn, "__name__", type(fn).__name__))


def _must_be_inputs(fn: Callable[..., Any], named: Mapping[str, Any]) -> None:
    """UsageError for an argument of ours that is mistyped, and so was taken for an input."""
    if not named:
        return
    try:
        taken = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        return
    own = [p.name for p in inspect.signature(check).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in named:
        hint = did_you_mean(name, own) if name not in taken else ""
        if hint:
            who = getattr(fn, "__name__", type(fn).__name__)
            raise UsageError(f"{name} is no argument of check, and no input of {who}{hint}")


def describe(result: Result) -> str:
    """What a check has to say, as plain text."""
    return str(result)


def _kinds(checks: str | Sequence[str]) -> tuple[CheckKind, ...]:
    kinds = [checks] if isinstance(checks, str) else list(checks)
    if not kinds:
        raise UsageError("checks is empty: there is nothing to check")
    return tuple(_member(CheckKind, kind, "check") for kind in kinds)


def _cdf(given: Any, checks: str | Sequence[str]) -> Callable[..., Any] | None:
    if given is not None and (not callable(given) or _kinds(checks) != (CheckKind.REVERSE,)):
        raise UsageError("cdf is a function of the sample and the inputs, for a reverse check")
    return cast("Callable[..., Any] | None", given)


def _seed(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 0:
        raise UsageError(f"seed is {given!r}: it must be a whole number, 0 or more")
    return int(given)


def _budget(given: Any) -> float | None:
    if given is None:
        return None
    known = isinstance(given, int | float) and not isinstance(given, bool)
    if not known or not 0 < given < float("inf"):
        raise UsageError(f"budget is {given!r}: it must be a number of seconds above 0")
    return float(given)


def _selecting(callee: Callee, outputs: int | str | Sequence[int | str]) -> Callee:
    """What is called, of which only these outputs count."""
    wanted = (outputs,) if isinstance(outputs, int | str) else tuple(outputs)
    return replace(callee, select=partial(select, wanted=wanted)) if wanted else callee


def _upstream(given: Any) -> Upstream:
    if given is None or (isinstance(given, str) and given == "random"):
        return "random"
    if isinstance(given, str):
        if given == "ones":
            return "ones"
        raise UsageError(f"upstream is {given!r}: it is 'random', 'ones' or values")
    several = isinstance(given, list | tuple) and any(hasattr(item, "shape") for item in given)
    try:
        arrays = tuple(np.asarray(item) for item in (given if several else [given]))
    except ValueError as error:
        raise UsageError(f"upstream is no array: {error}") from error
    for array in arrays:
        if array.dtype.kind not in "fciub" or not np.isfinite(array).all():
            raise UsageError("upstream must be finite numbers")
    if not any(array.any() for array in arrays):
        raise UsageError("an upstream of zeros weighs nothing: there is nothing to check")
    return arrays


def _tolerance(given: Any) -> Tolerance | None:
    if given is None:
        return None
    if isinstance(given, tuple | list) and len(given) == 2:
        given = Tolerance(*given)
    if isinstance(given, dict) and given.keys() <= {"rtol", "atol"}:
        given = Tolerance(**given)
    numbers = (int, float, np.integer, np.floating)
    if not isinstance(given, Tolerance) or not all(
        isinstance(each, numbers) for each in (given.rtol, given.atol)
    ):
        raise UsageError(f"tolerance is {given!r}: it is (rtol, atol) or a Tolerance")
    if not (0 <= given.rtol < 1 and 0 <= given.atol < np.inf):
        raise UsageError("a tolerance needs 0 ≤ rtol < 1 and 0 ≤ atol < ∞, or it cannot fail")
    if given.rtol == given.atol == 0:
        raise UsageError("a tolerance of zero cannot pass: leave it out, or give one")
    return given


def _member(kind: Any, text: str, what: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        known = ", ".join(kind)
        hint = did_you_mean(str(text), map(str, kind))
        message = f"there is no {what} {text!r}; there are {known}{hint}"
        raise UsageError(message) from None


__all__ = ["check", "describe"]
