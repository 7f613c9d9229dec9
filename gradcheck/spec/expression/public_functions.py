"""The public functions and layers that a tape can go back through, and which of them a spec names.

`tools/differentiable.py` takes the gradient of each that a spec may name, and writes the list.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.model import TargetKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gradcheck.model import Target

_MODULES = (
    *("tf.experimental.numpy", "tf.image", "tf.linalg", "tf.math", "tf.nn", "tf.quantization"),
    *("tf.random", "tf.signal", "tf.sparse", "tf.ragged", "tf.dtypes"),
    *("keras.activations", "keras.layers", "keras.losses", "keras.ops", "keras.random"),
)
"""The modules by which they are counted; what is in none of them is `tf`, or `keras`."""


def public_functions(seen: Collection[str] = ()) -> dict[str, str]:
    """By name: the module that it is counted by. A function with several names has one here.

    Args:
        seen: what was seen to have a gradient, besides what is known to have one.
    """
    marks = {group[0]: mark for mark, *group in _lines()}
    counted = [name for name, mark in marks.items() if mark == "+" or name in seen]
    return {name: _module(name) for name in counted}


def unknown_functions() -> frozenset[str]:
    """Those of which it is not known whether they have a gradient."""
    return frozenset(group[0] for mark, *group in _lines() if mark == "?")


def named_functions(target: Target) -> frozenset[str]:
    """The public functions that a case names: its op, its layer, or what its expression calls."""
    match target.kind:
        case TargetKind.OP:
            op = ops.find(target.text)
            names = {target.text, op.tf} if op is not None else {target.text}
        case TargetKind.LAYER:
            names = {target.text}
        case TargetKind.EXPR:
            names = _called(target.text)
        case _:
            names = set()
    known = _first_names()
    plain = (name.removeprefix("tf.") if name.startswith("tf.keras.") else name for name in names)
    return frozenset(known[name] for name in plain if name in known)


@cache
def _first_names() -> Mapping[str, str]:
    """By any name of a function: the one that it is counted by."""
    return {name: group[0] for _, *group in _lines() for name in group}


@cache
def _lines() -> tuple[list[str], ...]:
    """For each function: a mark, and its names."""
    text = Path(__file__).with_name("public_functions.txt").read_text(encoding="ascii")
    return tuple(line.split() for line in text.splitlines())


def _module(name: str) -> str:
    if name.startswith("tf.RaggedTensor."):
        return "tf.ragged"
    inside = [module for module in _MODULES if name.startswith(f"{module}.")]
    return max(inside, key=len) if inside else name.partition(".")[0]


@cache
def _called(expression: str) -> set[str]:
    """The dotted names that an expression calls, or hands to what calls them."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()  # (of a report from elsewhere; a spec was read before it ran)
    return {_dotted(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
