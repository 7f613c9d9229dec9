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
from typing import TYPE_CHECKING, Any, NamedTuple

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


PLAIN = (str, bytes, int, float, complex, type, types.ModuleType)
"""What holds nothing that a call could change."""

PLAIN_TYPES = frozenset((*PLAIN, bool, type(None)))
"""Most of what an object holds is of these very types: they are passed over at once."""

_CONTAINERS = (list, tuple, set, frozenset, Mapping)


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
        kind = _kind_of(thing)
        if kind.is_plain or is_of_a_library(thing):
            continue
        if _keeps_attributes(thing):
            # (Those of Keras have attributes, too: `test_whether_a_weight_is_trained`.)
            found.objects.append(thing)
        if kind.is_variable:
            key = id(handle_of(thing))
            found.names.setdefault(key, _name(thing, path))
            found.paths.setdefault(key, path)
            found.variables.setdefault(key, thing)
            continue
        waiting += _held(thing, path)
    return found


def is_variable(thing: Any) -> bool:
    """Whether this is a variable, of TensorFlow's or of Keras'."""
    return _kind_of(thing).is_variable


def handle_of(variable: Any) -> Any:
    """What ops are given in place of a variable: one for each, whoever wraps it."""
    value = getattr(variable, "_value", variable)
    return getattr(value, "handle", value)


def is_of_a_library(thing: Any) -> bool:
    """Whether this is a function of a library as that has it, which holds nothing of the user's."""
    if not isinstance(thing, types.FunctionType):
        return False
    module = str(thing.__module__)
    if _root(module) not in (*_LIBRARIES, "keras"):
        return False
    return getattr(sys.modules.get(module), thing.__name__, None) is thing


def names_nothing(thing: Any) -> bool:
    """Whether this is a function of signs and numbers alone, as `lambda x: 2 * x * x`.

    What has no name for anything but its arguments calls nothing: it cannot look at a value, but
    for asking whether it is true, which of many values raises.
    """
    if type(thing) is not types.FunctionType or thing.__defaults__ or thing.__kwdefaults__:
        return False
    code = thing.__code__
    inside = any(type(constant) is types.CodeType for constant in code.co_consts)
    return not (code.co_names or code.co_freevars or inside)


class _Kind(NamedTuple):
    """What is to be known of a class; asked of the class alone, for an object may make it up."""

    is_plain: bool
    """Whether its objects hold nothing that a call could change."""
    is_variable: bool
    is_library: bool
    is_function: bool
    has_attributes: bool
    """Whether its objects have attributes of their own."""
    wraps: tuple[str, ...]
    """The attributes of all its objects that lead to what they wrap."""


_WRAPPED = ("__wrapped__", "python_function")


def _kind_of(thing: Any) -> _Kind:
    kind = type(thing)
    known = _KINDS.get(id(kind))
    if known is None:
        known = _KINDS[id(kind)] = kind, _kind(kind)
    return known[1]


_KINDS: dict[int, tuple[type, _Kind]] = {}
"""By identity, for classes may be equal or have no hash; each with its class, lest that goes."""


def _kind(kind: type) -> _Kind:
    import tensorflow as tf

    root = _root(kind.__module__)
    tracked = any(base.__name__ in ("Module", "AutoTrackable") for base in kind.__mro__)
    declared = {name for base in kind.__mro__ for name in vars(base)}
    # (Keras is imported already if this is one of its variables.)
    is_of_keras = root == "keras" and hasattr(kind, "assign")
    return _Kind(
        is_plain=kind in PLAIN_TYPES or issubclass(kind, PLAIN),
        is_variable=is_of_keras or issubclass(kind, tf.Variable),
        is_library=root in _LIBRARIES and not tracked,
        is_function=issubclass(kind, types.FunctionType | types.MethodType | functools.partial),
        has_attributes="__dict__" in declared,
        wraps=tuple(name for name in _WRAPPED if name in declared),
    )


def _attributes(thing: Any) -> dict[str, Any]:
    """The attributes of its own that an object has."""
    own = vars(thing) if _kind_of(thing).has_attributes else None
    return own if type(own) is dict else {}


def _root(module: Any) -> str:
    """The package of a module; what stands in its place may be anything."""
    return str(module).partition(".")[0]


def _keeps_attributes(thing: Any) -> bool:
    kind = _kind_of(thing)
    if kind.is_function or kind.is_library or not kind.has_attributes:
        return False
    return type(vars(thing)) is dict


def _held(thing: Any, path: str) -> Iterator[tuple[Any, str]]:
    """What one object holds, each with the path that leads to it."""
    if isinstance(thing, types.FunctionType):
        yield from _held_by_function(thing, path)
        return
    own = _attributes(thing)
    for inner in {*_kind_of(thing).wraps, *(name for name in _WRAPPED if name in own)}:
        yield getattr(thing, inner, None), path
    if isinstance(thing, functools.partial):
        yield thing.func, path
        yield from ((value, path) for value in (*thing.args, *thing.keywords.values()))
    elif isinstance(thing, types.MethodType):
        yield thing.__self__, path
        yield thing.__func__, path
    elif isinstance(thing, _CONTAINERS):
        if len(thing) <= limits.REACHED_ITEMS:
            items = thing.items() if isinstance(thing, Mapping) else enumerate(thing)
            told = ((item, key) for key, item in list(items) if type(item) not in PLAIN_TYPES)
            yield from ((item, f"{path}[{key!r}]") for item, key in told)
    elif _keeps_attributes(thing):
        before = f"{path}." if path else ""
        own = vars(thing)
        kept = [(v, before + name) for name, v in own.items() if type(v) not in PLAIN_TYPES]
        yield from kept
    elif not _kind_of(thing).is_library:
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
    root = _root(function.__module__)
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
