"""What a module offers, seen by importing it: this runs in a worker, where a crash costs little."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.tensors import explain_exception
from gradcheck.checker.subject.user_code import foreign_home, near_module
from gradcheck.model import Case, Location, Target, TargetKind, Verdict
from gradcheck.model.findings import Found, FoundKind, Sighting, Taken
from gradcheck.spec.format.keys import FUNCTION, package_allowed
from gradcheck.start.source_scan import scan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_LONGEST_ANNOTATION = 80
"""Characters of an annotation that are looked at."""
MOST_FOUND = 500
"""Things of one module that are told."""
_TENSOR = re.compile(r"Tensor|Variable|KerasTensor")
_KINDS = {
    ("keras", "Model"): FoundKind.MODEL,
    ("keras", "Layer"): FoundKind.LAYER,
    ("keras", "Loss"): FoundKind.LOSS,
    ("keras", "Regularizer"): FoundKind.REGULARIZER,
    ("tensorflow", "Module"): FoundKind.MODULE,
}
"""By the package and the name of the class that it inherits from; the first that fits counts."""


def module_case(module: str) -> Case:
    """The task to look at a module, as workers take tasks."""
    here = Location(module, 1, 1)
    return Case(module, module, module, here, Target(TargetKind.FUNCTION, f"{module}:", here), ())


def look_at_module(case: Case, *, allow: Collection[str], root: str) -> Sighting:
    """Import the module that the case names, and tell what in it has a gradient."""
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        module = importlib.import_module(case.name)
    except BaseException as error:  # whatever a module does when it is imported, sys.exit too
        told = f"importing it raises {explain_exception(error)}{near_module(error)}"
        return Sighting(case.id, Verdict.ERROR, message=told, case=case)
    named: list[Found] = []
    unnamed: list[Found] = []
    for name, value in sorted(vars(module).items()):
        text = f"{case.name}:{name}"
        seen = _seen(text, value, allow)
        if seen is not None:
            (named if re.fullmatch(FUNCTION, text) else unnamed).append(seen)
    told = "" if len(named) <= MOST_FOUND else _cut(named)
    return Sighting(
        case.id,
        Verdict.PASS,
        message=told,
        case=case,
        found=tuple(named[:MOST_FOUND]),
        unnamed=tuple(thing for thing in unnamed if thing.kind is not FoundKind.FUNCTION),
    )


def _cut(found: list[Found]) -> str:
    name = found[MOST_FOUND].target.partition(":")[2]
    return (
        f"of the {len(found):,} functions and classes in it the first {MOST_FOUND:,} by name were "
        f"looked at, from {name} on none; write specs for the others by hand"
    )


def _seen(text: str, value: Any, allow: Collection[str]) -> Found | None:
    """What stands behind a name, if it is the package's own and can have a gradient."""
    try:
        if not callable(value) or inspect.ismodule(value) or foreign_home(value, allow):
            return None
        if isinstance(value, type):
            return _class(text, value, allow)
        return _function(text, value)
    except Exception:  # an object may do anything when it is looked at
        return None


def _class(text: str, kind: type, allow: Collection[str]) -> Found | None:
    if inspect.isabstract(kind) or not package_allowed(str(kind.__module__), allow):
        return None
    what = _kind_of(kind)
    called: Any = getattr(kind, "call", None) or _method(kind, "__call__")
    if what is None or called is None or _is_of_keras(called):
        # (A class that is there to be inherited from has nothing of its own to call.)
        return None
    init = tuple(_taken(_method(kind, "__init__"), skip_first=True))
    return Found(what, text, tuple(_taken(called, skip_first=True)), init, *_place(kind))


def _method(kind: type, name: str) -> Any:
    """A method as it is defined; not that of the class of the class, which `getattr` finds too."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _kind_of(kind: type) -> FoundKind | None:
    bases = {(str(base.__module__).partition(".")[0], base.__name__) for base in kind.__mro__[1:]}
    bases |= {("keras", name) for package, name in bases if package == "tf_keras"}
    return next((what for base, what in _KINDS.items() if base in bases), None)


def _is_of_keras(method: Any) -> bool:
    """Whether `call` is that of Keras' own base classes, which only raises."""
    home = str(getattr(method, "__module__", ""))
    bases = ("keras.src.layers.layer", "keras.src.losses.loss", "keras.src.models.model")
    return home in bases or (home.startswith("keras.") and home.endswith("regularizers"))


def _function(text: str, value: Any) -> Found | None:
    inner = _unwrapped(value)
    if not inspect.isfunction(inner):
        return None
    taken = tuple(_taken(inner))
    place, home = _place(inner)
    names = {parameter.name for parameter in taken}
    if _is_hand_written(inner) or _is_hand_written(value):
        kind = FoundKind.CUSTOM_GRADIENT
    elif {"y_true", "y_pred"} <= names:
        kind = FoundKind.LOSS_FUNCTION
    elif any(_TENSOR.search(parameter.annotation) for parameter in taken):
        kind = FoundKind.TENSOR_FUNCTION
    else:
        kind = FoundKind.FUNCTION
    return Found(kind, text, taken, (), place, home)


def _unwrapped(value: Any) -> Any:
    """The function that somebody wrote: without decorators, tracing and partial calls."""
    for _ in range(20):
        if isinstance(value, functools.partial):
            value = value.func
        elif hasattr(value, "python_function"):
            value = value.python_function
        elif hasattr(value, "__wrapped__"):
            value = value.__wrapped__
        else:
            break
    return value


def _is_hand_written(function: Any) -> bool:
    """Whether its source gives it a gradient of its own, or one to something inside of it."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    name = str(getattr(function, "__qualname__", ""))
    return any(
        written.first_line == code.co_firstlineno or written.name.startswith(f"{name}.")
        for written in _scanned(code.co_filename)
    )


@functools.cache
def _scanned(path: str) -> tuple[Any, ...]:
    return scan(Path(path)).hand_written


def _taken(function: Any, *, skip_first: bool = False) -> Iterator[Taken]:
    """The parameters, but those that take any number; none where there is no signature."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    for parameter in parameters[1:] if skip_first else parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        yield Taken(
            parameter.name,
            parameter.default is parameter.empty,
            _annotation(parameter),
            parameter.kind is parameter.POSITIONAL_ONLY,
        )


def _annotation(parameter: inspect.Parameter) -> str:
    written = parameter.annotation
    if written is parameter.empty:
        return ""
    text = written if isinstance(written, str) else inspect.formatannotation(written)
    return text[:_LONGEST_ANNOTATION]


def _place(value: Any) -> tuple[str, str]:
    """The file and the line, from the current folder if it lies below; and the module."""
    home = str(getattr(value, "__module__", ""))
    try:
        path = inspect.getsourcefile(value) or ""
        line = inspect.getsourcelines(value)[1]
    except (OSError, TypeError):
        return "", home
    shown = os.path.relpath(path)
    return f"{path if shown.startswith(os.pardir) else shown}:{line}", home
