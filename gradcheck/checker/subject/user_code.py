"""A user's function or class, by the text of a spec: from packages that are allowed alone."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.tensors import explain_exception
from gradcheck.errors import FunctionError

if TYPE_CHECKING:
    from collections.abc import Collection


def import_object(text: str, allow: Collection[str], root: str) -> Any:
    """What `package.module:name` stands for; FunctionError where it cannot be reached."""
    module_name, _, attribute = text.partition(":")
    # The spec reader has said this already; a case that comes another way is held to it too.
    if not _is_allowed(module_name, allow):
        raise FunctionError(f"`{module_name}` is not among the allowed packages")
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's module does when it is imported
        raise FunctionError(
            f"`{module_name}` cannot be imported: {explain_exception(error)}"
        ) from error
    for part in attribute.split("."):
        if part.startswith("_"):
            # Behind `__loader__`, `__globals__` and the like lies code that nobody allowed.
            raise FunctionError(f"`{part}` in `{text}` is private: name what the module offers")
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, dir(found), n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise FunctionError(f"`{module_name}` has no `{attribute}`{hint}")
        found = getattr(found, part)
        if inspect.ismodule(found):
            # `mypkg.layers:os.system` would reach code that nobody allowed.
            raise FunctionError(f"`{part}` in `{text}` is a module, not a function")
    if not callable(found):
        raise FunctionError(f"`{text}` is not callable: it is a {type(found).__name__}")
    home = _home(found)
    if home is not None and not _is_allowed(home, allow):
        # `from os import system` does not make it part of the package.
        raise FunctionError(
            f"`{text}` is defined in `{home}`, which is not among the allowed packages"
        )
    return found


def _is_allowed(module: str, allow: Collection[str]) -> bool:
    return any(module == a or module.startswith(f"{a}.") for a in allow)


def _home(found: Any) -> str | None:
    """The module that defines a function or a class; None of an object, which the package made."""
    if not (inspect.isroutine(found) or inspect.isclass(found)):
        return None
    inner = inspect.unwrap(found) if inspect.isfunction(found) else found
    module = getattr(inner, "__module__", None)
    return module if isinstance(module, str) else None
