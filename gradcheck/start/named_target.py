"""What `gradcheck new` is asked for, by the name that a user types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.errors import UsageError, nearest
from gradcheck.model.findings import Found, FoundKind, Taken
from gradcheck.spec.expression import allowlist
from gradcheck.spec.format.keys import DOTTED, FUNCTION, PLAIN_LETTERS, package_allowed
from gradcheck.start.sightings import look_at_modules
from gradcheck.start.source_scan import public_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.ops.declaration import Op
    from gradcheck.spec.expression.parameters import Parameters


@dataclass(frozen=True, slots=True)
class Named:
    """A thing to write a spec for."""

    found: Found
    key: str
    """What names it in a spec: `function`, `layer` or `op`."""
    allow: tuple[str, ...] = ()
    """The packages whose code runs for it."""


def is_user_code(name: str) -> bool:
    """Whether to look at it is to run somebody's code."""
    return ":" in name


def find_named(name: str, *, allow: Sequence[str], root: str) -> Named:
    """What the name stands for; UsageError, with what may be meant, where it is nothing.

    Args:
        name: `package.module:name`, a name of TensorFlow's or Keras', or an op of ours.
        allow: the packages that the project allows; that of the name is allowed by its being named.
        root: the folder of the project, from which its packages are imported.
    """
    if is_user_code(name):
        return _of_the_user(name, allow, root)
    op = ops.find(name)
    if op is not None:
        return Named(Found(FoundKind.FUNCTION, name, _declared(op)), "op")
    if name in allowlist.ALLOWED:
        taken = _listed(allowlist.parameters(name))
        return Named(Found(FoundKind.FUNCTION, name, taken), "op")
    if name in allowlist.LAYERS:
        told = allowlist.layer_parameters(name)
        kind = FoundKind.LOSS if ".losses." in name else FoundKind.LAYER
        return Named(Found(kind, name, _listed(told.call), _listed(told.init)), "layer")
    _must_be_no_module(name, root)
    raise UsageError(f"there is no function {name!r}{_meant(name)}")


def _must_be_no_module(name: str, root: str) -> None:
    """UsageError, with what it defines, where the name is that of a file of the project's.

    The file is read and not run: who names a module has not asked for its code.
    """
    if not re.fullmatch(DOTTED, name):
        return
    place = Path(root, *name.split("."))
    path = next((p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()), None)
    if path is None:
        return
    defined = public_names(path)
    if not defined:
        raise UsageError(
            f"{name} is a module, and defines no function or class itself: name what is to be "
            "checked, as in mypackage.module:function"
        )
    listed = ", ".join(defined[:10]) + (", …" if len(defined) > 10 else "")
    raise UsageError(
        f"{name} is a module: name what is to be checked in it, as in {name}:{defined[0]}; "
        f"it defines {listed}"
    )


def _meant(name: str) -> str:
    """The end of the message about a name that is not known."""
    if name in allowlist.CALLABLE:
        return " that takes plain data alone: call it in a spec of your own, under `expr:`"
    if reason := allowlist.why_refused(name):
        return f" that a spec may call: {reason}"
    if name.startswith(("tf.", "keras.")):
        near = allowlist.nearest(name) or allowlist.nearest_layer(name)
        return f"; did you mean {near}?" if near else " on the lists of TensorFlow and Keras"
    guess = nearest(name, ops.names())
    guess = guess or allowlist.nearest(name) or allowlist.nearest_layer(name) or ""
    module, dot, last = name.rpartition(".")
    if dot and re.fullmatch(FUNCTION, f"{module}:{last}"):
        return f"; one of your own is written {module}:{last}"
    hint = "one of your own is written mypackage.module:function"
    return f"; did you mean {guess}? Else {hint}" if guess else f"; {hint}"


def _of_the_user(name: str, allow: Sequence[str], root: str) -> Named:
    if not re.fullmatch(FUNCTION, name):
        why = "write package.module:function" if name.isascii() else PLAIN_LETTERS
        raise UsageError(f"{name!r} is no name that a spec may have: {why}")
    module = name.partition(":")[0]
    package = module.partition(".")[0]
    allowed = tuple(allow) if package_allowed(module, allow) else (*allow, package)
    (seen,) = look_at_modules([module], allow=allowed, root=root, jobs=1)
    for found in seen.found:
        if found.target == name:
            return Named(found, "layer" if found.kind.is_class else "function", allowed)
    if seen.message:
        raise UsageError(f"{module}: {seen.message}")
    known = [found.target for found in seen.found]
    if near := nearest(name, known):
        raise UsageError(f"there is no {name} that has a gradient; did you mean {near}?")
    listed = f"there are {', '.join(known[:10])}" if known else "there is nothing of that kind"
    raise UsageError(
        f"there is no {name}: of the functions and layers that {module} has defined, {listed}"
    )


def _declared(op: Op) -> tuple[Taken, ...]:
    inputs = [Taken(parameter.name, annotation="Tensor") for parameter in op.inputs]
    return (*inputs, *(Taken(name, annotation="Any") for name in op.required))


def _listed(parameters: Parameters) -> tuple[Taken, ...]:
    """What the lists tell of a function: its names, and which may be left out."""
    by_name = set(parameters.by_name)
    return tuple(
        Taken(name, name in parameters.required, by_position=name not in by_name)
        for name in parameters.names
    )
