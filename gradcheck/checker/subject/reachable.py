"""What a function under test can reach: its closure, its globals, its object and what that holds.

Variables are found by watching a call; here they get the names by which their owner knows them, and
the Python attributes of their owners are listed, so that they can be put back.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradcheck.checker import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARIES = (
    "builtins",
    "gradcheck",
    "numpy",
    "tensorflow",
    "typing",
    "collections",
    "functools",
    "re",
    "abc",
)
"""The objects of whose classes hold nothing of the user's; Keras' layers and TensorFlow's modules
do."""


@dataclass(slots=True, eq=False)
class Reachable:
    """The variables and the objects with attributes that were found."""

    names: dict[int, str] = field(default_factory=dict)
    """By the identity of a variable's handle: its name."""
    paths: dict[int, str] = field(default_factory=dict)
    """By the same: the attributes that lead to it."""
    variables: dict[int, Any] = field(default_factory=dict)
    """By the identity of its handle: a variable."""
    objects: list[Any] = field(default_factory=list)
    """Everything that has attributes of its own."""


def reachable(target: Any) -> Reachable:
    """Look through what the target holds, breadth first, as far as `limits.REACHED_OBJECTS`."""
    found = Reachable()
    seen: set[int] = set()
    waiting: list[tuple[Any, str]] = [(target, "")]
    for thing, path in waiting:
        if id(thing) in seen or len(seen) > limits.REACHED_OBJECTS:
            continue
        seen.add(id(thing))
        if _is_plain(thing) or _is_of_a_library(thing):
            continue
        if is_variable(thing):
            key = id(handle_of(thing))
            found.names.setdefault(key, _name(thing, path))
            found.paths.setdefault(key, path)
            found.variables.setdefault(key, thing)
            continue
        if _keeps_attributes(thing):
            found.objects.append(thing)
        waiting += _held(thing, path)
    return found


def is_variable(thing: Any) -> bool:
    """Whether this is a variable, of TensorFlow's or of Keras'."""
    import tensorflow as tf

    if isinstance(thing, tf.Variable):
        return True
    # (Keras is imported already if this is one of its variables.)
    return type(thing).__module__.startswith("keras.") and hasattr(type(thing), "assign")


def handle_of(variable: Any) -> Any:
    """What ops are given in place of a variable: one for each, whoever wraps it."""
    value = getattr(variable, "_value", variable)
    return getattr(value, "handle", value)


def _is_plain(thing: Any) -> bool:
    return thing is None or isinstance(
        thing, str | bytes | int | float | complex | type | types.ModuleType
    )


def _is_of_a_library(thing: Any) -> bool:
    """Whether this is a function of a library as that has it, which holds nothing of the user's."""
    if not isinstance(thing, types.FunctionType):
        return False
    module = thing.__module__ or ""
    if module.partition(".")[0] not in (*_LIBRARIES, "keras"):
        return False
    return getattr(sys.modules.get(module), thing.__name__, None) is thing


def _keeps_attributes(thing: Any) -> bool:
    if isinstance(thing, types.FunctionType | types.MethodType | functools.partial):
        return False
    own = inspect.getattr_static(thing, "__dict__", None)
    return own is not None and not _is_library(type(thing)) and type(vars(thing)) is dict


def _is_library(kind: type) -> bool:
    root = (kind.__module__ or "").partition(".")[0]
    if root not in _LIBRARIES:
        return False
    return not any(base.__name__ in ("Module", "AutoTrackable") for base in kind.__mro__)


def _held(thing: Any, path: str) -> Iterator[tuple[Any, str]]:
    """What one object holds, each with the path that leads to it."""
    if isinstance(thing, types.FunctionType):
        yield from _held_by_function(thing, path)
        return
    for inner in ("__wrapped__", "python_function"):
        # (What makes up its attributes as it is asked for them is not asked.)
        if inspect.getattr_static(thing, inner, None) is not None:
            yield getattr(thing, inner, None), path
    if isinstance(thing, functools.partial):
        yield thing.func, path
        yield from ((value, path) for value in (*thing.args, *thing.keywords.values()))
    elif isinstance(thing, types.MethodType):
        yield thing.__self__, path
        yield thing.__func__, path
    elif isinstance(thing, Mapping | list | tuple | set | frozenset):
        if len(thing) <= limits.REACHED_ITEMS:
            items = thing.items() if isinstance(thing, Mapping) else enumerate(thing)
            yield from ((item, f"{path}[{key!r}]") for key, item in list(items))
    elif _keeps_attributes(thing):
        before = f"{path}." if path else ""
        yield from ((value, before + name) for name, value in list(vars(thing).items()))
    elif not _is_library(type(thing)):
        before = f"{path}." if path else ""
        yield from ((value, before + name) for name, value in _in_slots(thing))


def _in_slots(thing: Any) -> Iterator[tuple[str, Any]]:
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            value = vars(kind).get(name)
            if isinstance(value, types.MemberDescriptorType):
                with suppress(AttributeError):  # it has no value yet
                    yield name, value.__get__(thing)


def _held_by_function(function: types.FunctionType, path: str) -> Iterator[tuple[Any, str]]:
    code = function.__code__
    yield getattr(function, "__wrapped__", None), path
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield cell.cell_contents, name
        except ValueError:  # a name that has no value yet
            continue
    root = (function.__module__ or "").partition(".")[0]
    if root in (*_LIBRARIES, "keras"):
        return
    for name in _names_in(code):
        if name in function.__globals__:
            yield function.__globals__[name], name
    yield from ((value, "") for value in function.__defaults__ or ())
    yield from ((value, name) for name, value in (function.__kwdefaults__ or {}).items())


def _names_in(code: types.CodeType) -> Iterator[str]:
    """The global names that the code, and the functions inside it, may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _names_in(constant)


def _name(variable: Any, path: str) -> str:
    """What its owner calls a variable: Keras' path, its own name, or where it was found."""
    keras_path = getattr(variable, "path", None)
    if isinstance(keras_path, str):
        return keras_path
    name = str(variable.name).partition(":")[0]
    return path if name == _UNNAMED and path else name


_UNNAMED = "Variable"
"""What TensorFlow calls a variable without a name."""
