"""The library's way in: `check` a function at a point, or assert that its gradients are right."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.check import check_problem
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.tensors import is_differentiable
from gradcheck.errors import UsageError
from gradcheck.model import (
    Array,
    CheckKind,
    Comparison,
    Mode,
    Result,
    Scalar,
    Tolerance,
    Upstream,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


def check(
    fn: Callable[..., Any],
    *inputs: Any,
    wrt: int | str | Collection[int | str] | None = None,
    upstream: Any = None,
    seed: int = 0,
    tolerance: Tolerance | tuple[float, float] | None = None,
    mode: str = "eager",
    checks: str | Sequence[str] = ("reverse",),
    structure: Mapping[str, str] | None = None,
) -> Result:
    """Check the gradients of `fn` at `inputs`.

    Args:
        fn: takes the inputs by position and returns a tensor or any structure of them.
        *inputs: numpy arrays, numbers, tensors or variables of any dtype.
        wrt: the positions or names of the inputs to differentiate; by default all that are
            floating-point or complex.
        upstream: the cotangent: None or "random" draws a signed one, "ones" is all ones; or one
            array, or a list with one array per output.
        seed: for everything that is drawn.
        tolerance: `(rtol, atol)` or a Tolerance, in place of the error bars.
        mode: "eager", "graph" or "xla".
        checks: any of "reverse", "forward" and "second".
        structure: by name of an input, "symmetric" (or Hermitian) or "lower" (triangular): it is
            then only moved to matrices of the same kind, as cholesky and eigh take for granted.

    Returns:
        A Result. What the function does (raise, return NaN, be random) is a verdict, never an
        exception; only a call that makes no sense raises UsageError.
    """
    if not callable(fn):
        raise UsageError(f"fn is a {type(fn).__name__}: it must be a function")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed is {seed!r}: it must be a whole number, 0 or more")
    kinds = [checks] if isinstance(checks, str) else list(checks)
    if not kinds:
        raise UsageError("checks is empty: there is nothing to check")
    problem = Problem(
        function=fn,
        operands=_operands(fn, inputs, wrt, structure),
        upstream=_upstream(upstream),
        mode=_member(Mode, mode, "mode"),
        checks=tuple(_member(CheckKind, kind, "check") for kind in kinds),
        seed=seed,
        tolerance=_tolerance(tolerance),
    )
    return check_problem(problem, getattr(fn, "__name__", type(fn).__name__))


def assert_gradients(fn: Callable[..., Any], *inputs: Any, **options: Any) -> Result:
    """Raise AssertionError, saying which element is wrong and by how much, unless all is right.

    Takes what `check` takes, and returns its Result.
    """
    result = check(fn, *inputs, **options)
    if not result.verdict.acceptable:
        raise AssertionError(describe(result))
    return result


def describe(result: Result) -> str:
    """What a failed check has to say, as plain text."""
    lines = [f"{result.id}: {result.verdict}. {result.verdict.meaning}"]
    if result.message:
        lines.append(result.message)
    for comparison in result.comparisons:
        if not comparison.verdict.acceptable:
            lines += _describe_input(comparison)
    return "\n".join(lines)


def _describe_input(comparison: Comparison) -> list[str]:
    shape = "×".join(map(str, comparison.shape)) or "scalar"
    head = f"  {comparison.name} ({shape}, {comparison.dtype}): {comparison.verdict}"
    if comparison.failing:
        head += f", {comparison.failing} of {comparison.elements} elements"
    lines = [head]
    lines += [
        f"    at {list(e.index)} where {comparison.name} = {_number(e.value)}: "
        f"analytic {_number(e.analytic)}, numeric {_number(e.numeric)} ± {e.bound:.1e}"
        for e in comparison.worst
    ]
    if comparison.note:
        lines.append(f"    {comparison.note}")
    if comparison.diagnosis:
        lines.append(f"    likely cause: {comparison.diagnosis.text}")
    if comparison.places:
        lines.append(f"    in your code: {'; '.join(map(str, comparison.places))}")
    return lines


def _number(value: Scalar) -> str:
    return f"{value:.12g}"


def _operands(
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    wrt: int | str | Collection[int | str] | None,
    structure: Mapping[str, str] | None,
) -> tuple[Operand, ...]:
    """The inputs with their names, and whether each is differentiated."""
    names = _names(fn, len(inputs))
    chosen = _chosen(wrt, names)
    operands = []
    for position, (name, given) in enumerate(zip(names, inputs, strict=True)):
        value, variable = _value(given, name)
        differentiable = is_differentiable(value.dtype)
        if chosen is not None and position in chosen and not differentiable:
            raise UsageError(f"input {name!r} is {value.dtype.name}: it has no gradient")
        operands.append(
            Operand(
                name=name,
                value=value,
                differentiate=differentiable and (chosen is None or position in chosen),
                variable=variable,
                structure=_structure(structure, name, value),
            )
        )
    return tuple(operands)


def _names(fn: Callable[..., Any], count: int) -> list[str]:
    """The function's own parameter names, or input0, input1, … where it does not tell."""
    if type(fn) is FunctionType and fn.__code__.co_argcount == count and not fn.__dict__:
        # The usual case, for a tenth of the cost.
        return list(fn.__code__.co_varnames[:count])
    try:
        parameters = [
            p.name
            for p in inspect.signature(fn).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        parameters = []
    return [parameters[i] if i < len(parameters) else f"input{i}" for i in range(count)]


def _chosen(
    wrt: int | str | Collection[int | str] | None, names: list[str]
) -> frozenset[int] | None:
    if wrt is None:
        return None
    if isinstance(wrt, int | str):
        wanted: list[Any] = [wrt]
    elif isinstance(wrt, Collection):
        wanted = list(wrt)
    else:
        raise UsageError(f"wrt is {wrt!r}: it names inputs by position or name")
    positions = set()
    for item in wanted:
        if isinstance(item, str):
            if item not in names:
                raise UsageError(
                    f"wrt names {item!r}, but the inputs are {', '.join(names)}"
                    f"{_nearest(item, names)}"
                )
            positions.add(names.index(item))
        elif isinstance(item, bool) or not isinstance(item, int):
            raise UsageError(f"wrt holds {item!r}: inputs are named by position or name")
        elif -len(names) <= item < len(names):
            positions.add(item % len(names))
        else:
            raise UsageError(f"wrt names input {item}, but there are {len(names)}")
    if not positions:
        raise UsageError("wrt is empty: there is nothing to differentiate")
    return frozenset(positions)


def _nearest(text: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(text, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _structure(structure: Mapping[str, str] | None, name: str, value: Array) -> str:
    kind = (structure or {}).get(name, "general")
    known = ("general", "symmetric", "lower")
    if kind not in known:
        raise UsageError(f"there is no structure {kind!r}{_nearest(kind, known)}")
    if kind != "general" and (value.ndim < 2 or value.shape[-1] != value.shape[-2]):
        raise UsageError(f"input {name!r} is said to be {kind}, but it has no square matrices")
    return kind


def _value(given: Any, name: str) -> tuple[Array, bool]:
    """An input as an array, and whether it is a variable."""
    import tensorflow as tf

    if isinstance(given, tf.Variable):
        return np.asarray(given.numpy()), True
    if isinstance(given, tf.Tensor):
        return np.asarray(given.numpy()), False
    try:
        value = np.asarray(given)
        if value.dtype.kind not in "fciubV":
            raise TypeError(f"it is a {type(given).__name__}")
        tf.as_dtype(value.dtype)
    except (TypeError, ValueError) as error:
        raise UsageError(f"input {name!r} is no tensor: {error}") from error
    return value, False


def _upstream(given: Any) -> Upstream:
    if given is None or (isinstance(given, str) and given == "random"):
        return "random"
    if isinstance(given, str):
        if given == "ones":
            return "ones"
        raise UsageError(f"upstream is {given!r}: it is 'random', 'ones' or values")
    several = isinstance(given, list | tuple) and any(hasattr(item, "shape") for item in given)
    arrays = tuple(np.asarray(item) for item in (given if several else [given]))
    for array in arrays:
        if array.dtype.kind not in "fciub" or not np.isfinite(array).all():
            raise UsageError("upstream must be finite numbers")
    if not any(array.any() for array in arrays):
        raise UsageError("an upstream of zeros weighs nothing: there is nothing to check")
    return arrays


def _tolerance(given: Tolerance | tuple[float, float] | None) -> Tolerance | None:
    if given is None:
        return None
    if isinstance(given, tuple | list) and len(given) == 2:
        given = Tolerance(*given)
    if not isinstance(given, Tolerance):
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
        message = f"there is no {what} {text!r}; there are {known}{_nearest(str(text), kind)}"
        raise UsageError(message) from None


__all__ = ["assert_gradients", "check", "describe"]
