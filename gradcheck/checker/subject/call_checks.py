"""Whether a call of the library makes sense, as far as that can be told before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from gradcheck.errors import UsageError, did_you_mean


def parameters_of(fn: Any) -> list[inspect.Parameter]:
    """What a call takes; nothing where it does not tell."""
    # A Keras layer takes anything when it is called, and hands it on to `call`.
    inner = getattr(fn, "call", None)
    chosen = inner if inspect.ismethod(inner) and hasattr(fn, "compute_dtype") else fn
    try:
        return list(inspect.signature(chosen).parameters.values())
    except (TypeError, ValueError):
        return []


def must_make_sense(fn: Any, call: Any, structure: Any, variables: Any) -> None:
    """Refuse options of a kind that cannot be meant."""
    if inspect.isclass(fn):
        name = fn.__name__
        raise UsageError(f"fn is the class {name}: pass an object of it, {name}(…)")
    if not callable(fn):
        raise UsageError(f"fn is a {type(fn).__name__}: it must be a function")
    for option, given in (("call", call), ("structure", structure or {})):
        if not isinstance(given, Mapping):
            raise UsageError(f"{option} is {given!r}: it maps names to values")
    if not isinstance(variables, bool):
        raise UsageError("variables is True or False; `wrt` says which of them")


def flags_apart(
    named: Mapping[str, Any], call: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs by name, and what is none: flags and texts belong to the call."""
    flags = {n: v for n, v in named.items() if v is None or isinstance(v, bool | str)}
    return {n: v for n, v in named.items() if n not in flags}, {**flags, **call}


def must_take(fn: Any, call: Mapping[str, Any]) -> None:
    """Refuse what a Keras model would ignore: it takes any keyword, and drops most."""
    inner = getattr(type(fn), "call", None)
    if not (getattr(inner, "__module__", "") or "").startswith("keras."):
        return
    known = [p.name for p in parameters_of(fn) if p.kind is p.POSITIONAL_OR_KEYWORD]
    known += ["training", "mask"]
    for name in call:
        if name not in known:
            takes = f"it takes {', '.join(dict.fromkeys(known))}{did_you_mean(name, known)}"
            raise UsageError(f"the call of {type(fn).__name__} has no {name!r}: {takes}")
