"""A user's function or class, by the text of a spec: from packages that are allowed alone.

To allow a package is to run its import, and to let specs call what it offers by a public name and
has defined itself. `foreign_home` tells what it has not: without it
`test_what_a_package_merely_holds_is_not_its_own` fails.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
import sys
from typing import TYPE_CHECKING, Any

from gradcheck.checker import limits
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.tensors import explain_exception
from gradcheck.errors import FunctionError, nearest
from gradcheck.spec.expression import allowlist
from gradcheck.spec.format.keys import FUNCTION, package_allowed

if TYPE_CHECKING:
    from collections.abc import Collection

_FRAMEWORKS = ("keras", "tensorflow")
"""A layer or a traced function of theirs that a package keeps in a variable is the package's."""


def import_object(text: str, allow: Collection[str], root: str) -> Any:
    """What `package.module:name` stands for; FunctionError where it cannot be reached."""
    module_name = text.partition(":")[0]
    # The spec reader has said all this already; a case that comes another way is held to it too.
    if not package_allowed(module_name, allow):
        raise FunctionError(f"`{module_name}` is not among the allowed packages")
    for part in re.split(r"[.:]", text):
        if part.startswith("_"):
            # Behind `__loader__`, `__globals__` and the like lies code that nobody allowed.
            raise FunctionError(f"`{part}` in `{text}` is private: name what the module offers")
    if not re.fullmatch(FUNCTION, text):
        raise FunctionError(f"`{text}` is no name of a function: write package.module:name")
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's module does when it is imported
        raise FunctionError(
            f"`{module_name}` cannot be imported: {explain_exception(error)}{near_module(error)}"
        ) from error
    found = _attribute(found, text)
    if not callable(found):
        raise FunctionError(f"`{text}` is not callable: it is a {type(found).__name__}")
    home = foreign_home(found, allow)
    if home:
        # `from os import system` does not make it part of the package.
        raise FunctionError(
            f"`{text}` is defined in `{home}`, which is not among the allowed packages: "
            "write a function of your own that calls it"
        )
    return found


def near_module(error: BaseException) -> str:
    """The end of a message about a module that is not there: which of its package may be meant."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    package, dot, last = (missing or "").rpartition(".")
    folders = getattr(sys.modules.get(package), "__path__", None)
    if not dot or folders is None:
        return ""
    names = [module.name for module in pkgutil.iter_modules(folders)]
    near = nearest(last, names)
    return f"; did you mean `{package}.{near}`?" if near else ""


def _attribute(module: Any, text: str) -> Any:
    """What stands behind the colon, name by name; no way leads through other modules."""
    found = module
    module_name, _, attribute = text.partition(":")
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            near = nearest(part, [n for n in dir(found) if n[0] != "_"])
            hint = f"; did you mean `{near}`?" if near else ""
            raise FunctionError(f"`{module_name}` has no `{attribute}`{hint}") from None
        except Exception as error:  # a property may do anything
            raise FunctionError(
                f"`{part}` in `{text}` cannot be had: {explain_exception(error)}"
            ) from error
        if inspect.ismodule(found):
            # `mypkg.layers:os.system` would reach code that nobody allowed.
            raise FunctionError(f"`{part}` in `{text}` is a module, not a function")
    return found


def foreign_home(found: Any, allow: Collection[str]) -> str:
    """The module that defines what runs when this is called; empty where that is allowed.

    Decorators and partial calls are looked through. What an object says of itself counts only
    where nothing better is known: `__module__` can be written to.
    """
    for _ in range(limits.MOST_WRAPPERS):
        if isinstance(found, functools.partial):
            found = found.func
            if _is_pure(found):
                return ""
        elif inspect.ismethod(found):
            found = found.__func__
        elif inspect.isroutine(found) and (inner := getattr(found, "__wrapped__", None)):
            found = inner
        else:
            break
    if inspect.isclass(found):
        home = _class_home(found, allow)
    elif inspect.isroutine(found) or isinstance(found, functools.partial):
        home = _routine_home(found)
    else:
        home = _class_home(type(found), allow)
        if home.partition(".")[0] in _FRAMEWORKS:
            return ""
    return "" if package_allowed(home, allow) else home


def _is_pure(function: Any) -> bool:
    """Whether it is one of those functions of TensorFlow and Keras that any spec may call."""
    name = getattr(function, "__name__", None)
    listed = [n for n in allowlist.ALLOWED if n.rpartition(".")[2] == name]
    return any(_found(n) is function for n in listed)


def _found(name: str) -> Any:
    try:
        return look_up(name)
    except Ended:  # this version does not have it
        return None


def _class_home(kind: type, allow: Collection[str]) -> str:
    """The module of a class; that of its methods, where they are all of another one.

    (What dataclasses and their like make has no file.)
    """
    functions = [f for f in vars(kind).values() if inspect.isfunction(f)]
    homes = [_routine_home(f) for f in functions if not f.__code__.co_filename.startswith("<")]
    if homes and not any(package_allowed(home, allow) for home in homes):
        return homes[0]
    return str(kind.__module__)


def _routine_home(found: Any) -> str:
    """The module of a function, of a method, of what is written in C."""
    if inspect.isfunction(found):
        return str(found.__globals__.get("__name__", "?"))
    told = getattr(found, "__module__", None)
    if isinstance(told, str):
        return told
    holder = getattr(found, "__objclass__", None) or getattr(found, "__self__", None)
    if inspect.ismodule(holder):
        return holder.__name__
    kind = holder if isinstance(holder, type) else type(holder)
    name = getattr(found, "__name__", "")
    return str(next((k for k in kind.__mro__ if name in vars(k)), object).__module__)
