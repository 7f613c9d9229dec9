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
    if not any(module_name == a or module_name.startswith(f"{a}.") for a in allow):
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
    return found
