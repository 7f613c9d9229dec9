"""What the command line lets run: the project's settings, and whatever is named itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError
from gradcheck.model import Case, Input, Location, Target, TargetKind
from gradcheck.spec.expression import allowlist
from gradcheck.spec.format.keys import FUNCTION, package_allowed
from gradcheck.spec.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Array, Shape

__all__ = ["Code", "expression_case", "is_undeclared", "kind_of", "named_case", "settled"]


@dataclass(frozen=True, slots=True)
class Code:
    """Whose code may run, and where it is found."""

    allow: tuple[str, ...] = ()
    root: str = "."


def settled(allow: tuple[str, ...]) -> Code:
    """What the project allows, and what the command line allows besides."""
    settings = read_settings(Path.cwd(), allow=allow)
    return Code(tuple(settings.allow), str(settings.root))


def is_undeclared(name: str) -> bool:
    """Whether a name that no declaration answers to is one of TensorFlow's or Keras' that runs."""
    return name in allowlist.ALLOWED or name.removeprefix("tf.") in allowlist.LAYERS


def kind_of(name: str) -> TargetKind:
    """What a name of TensorFlow's or Keras' is: a class to make an object of, or a function."""
    is_class = name.removeprefix("tf.") in allowlist.LAYERS
    return TargetKind.LAYER if is_class else TargetKind.OP


def expression_case(text: str, shapes: Mapping[str, Shape]) -> Case:
    """A case of an expression over these inputs."""
    here = Location("the command line", 1, 1)
    inputs = tuple(Input(name, tuple(shape), here) for name, shape in shapes.items())
    return Case(text, text, text, here, Target(TargetKind.EXPR, text, here), inputs)


def named_case(
    kind: TargetKind,
    text: str,
    shapes: Mapping[str, Shape],
    args: Mapping[str, Any],
    at: Mapping[str, Array],
    allow: tuple[str, ...],
) -> tuple[Case, Code]:
    """A case of what is named; its package is allowed by its being named.

    UsageError where the name is none, or where no input has a shape.

    Args:
        kind: an op of TensorFlow's, a function or a layer.
        text: a name of TensorFlow's, `package.module:name`, or a class of Keras'.
        shapes: by input.
        args: of the function, or of the class of a layer.
        at: values of inputs.
        allow: packages that are allowed besides.
    """
    code, text = settled(allow), re.sub(r"^tf\.keras\.", "keras.", text.strip())
    if ":" in text:
        if not re.fullmatch(FUNCTION, text):
            raise UsageError(f"{text!r} is no name of a {kind}: write package.module:name")
        package = text.partition(":")[0]
        if not package_allowed(package, code.allow):
            code = Code((*code.allow, package.partition(".")[0]), code.root)
    elif kind is TargetKind.OP:
        pass  # it is on the list
    elif kind is TargetKind.FUNCTION:
        raise UsageError(f"--function {text}: one of your own is written package.module:name")
    elif text not in allowlist.LAYERS:
        near = allowlist.nearest_layer(text)
        hint = f"did you mean {near}?" if near else "one of your own is written package.module:Name"
        raise UsageError(f"--layer {text}: Keras has no such layer, loss or model here; {hint}")
    if not shapes:
        raise UsageError(f"{text}: give each of its inputs with --shape NAME=3,4")
    here = Location("the command line", 1, 1)
    inputs = tuple(
        Input(name, tuple(shape), here, values=at.get(name)) for name, shape in shapes.items()
    )
    case = Case(text, text, text, here, Target(kind, text, here), inputs)
    given = dict(args)
    made = kind is TargetKind.LAYER
    return replace(case, init=given) if made else replace(case, args=given), code
